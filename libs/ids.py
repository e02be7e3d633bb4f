"""Identifiers: one NewType per kind of id, and the only place that makes new ones (UUIDv7, RFC 9562)."""

from __future__ import annotations

import os
import time
import uuid
from typing import NewType

TenantId = NewType("TenantId", str)
SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)
PlanId = NewType("PlanId", str)
StepId = NewType("StepId", str)
CallId = NewType("CallId", str)
ApprovalId = NewType("ApprovalId", str)
EventId = NewType("EventId", str)
LeaseId = NewType("LeaseId", str)


def new() -> str:
    """Return a new UUIDv7: 48 bits of Unix milliseconds, then random bits, so that ids sort roughly by time."""
    stamp = time.time_ns() // 1_000_000
    noise = int.from_bytes(os.urandom(10), "big")
    value = (stamp & (1 << 48) - 1) << 80 | 0x7 << 76 | (noise >> 68 & 0xFFF) << 64 | 0b10 << 62 | noise & (1 << 62) - 1
    return str(uuid.UUID(int=value))


def made_at(id: str) -> float | None:
    """Return when an id of `new` was made, in Unix seconds; None for any other."""
    try:
        known = uuid.UUID(id)
    except ValueError:
        return None
    return (known.int >> 80) / 1000 if known.version == 7 else None


def derived(*parts: str) -> str:
    """Return the same id for the same parts, for things that a repeated handling must name alike."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\x1f".join(parts)))
