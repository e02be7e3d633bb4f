"""Identifiers: the only place that makes new ones (UUIDv7, RFC 9562)."""

from __future__ import annotations

import hashlib
import os
import time
import uuid

NAMESPACE = uuid.NAMESPACE_OID.bytes
VARIANT = "89ab"
"""The digits whose first two bits are the variant of RFC 9562."""


def new() -> str:
    """Return a new UUIDv7: 48 bits of Unix milliseconds, then random bits, so that ids sort roughly by time."""
    # Formatted by hand: a turn needs about a hundred ids, and `uuid.UUID` takes five times as long.
    noise = os.urandom(10)
    stamp, digits = f"{time.time_ns() // 1_000_000:012x}", noise.hex()
    return f"{stamp[:8]}-{stamp[8:]}-7{digits[:3]}-{VARIANT[noise[9] & 3]}{digits[3:6]}-{digits[6:18]}"


def made_at(id: str) -> float | None:
    """Return when an id of `new` was made, in Unix seconds; None for any other."""
    try:
        known = uuid.UUID(id)
    except ValueError:
        return None
    return (known.int >> 80) / 1000 if known.version == 7 else None


def derived(*parts: str) -> str:
    """Return the same id for the same parts, for things that a repeated handling must name alike: a UUIDv5 (RFC 9562,
    5.5).
    """
    digits = hashlib.sha1(NAMESPACE + "\x1f".join(parts).encode(), usedforsecurity=False).hexdigest()
    variant = VARIANT[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"
