"""The chain: each record's link covers the record and, through the link before, all records before it.

    genesis = SHA-256("suma.audit.v1:" + tenant)        the link before the first record
    leaf    = SHA-256(canonical JSON of the record)
    link    = SHA-256(link before + leaf)               both as 32 raw bytes

The record does not hold its position: whoever handles the event computes the leaf, and the position is given later,
under the tenant's head row, where the links are made in SQL by the same formula.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from libs.events.audit import ActionRecorded
from libs.events.envelope import Envelope
from libs.keys.canonical import canonical

Record = Mapping[str, Any]
"""One accountable thing as JSON; `record_of` says which members it has."""

GENESIS_PREFIX = "suma.audit.v1:"


def record_of(envelope: Envelope[ActionRecorded]) -> Record:
    """What is chained: the event's id, time (UTC), tenant and origin, and under `data` what it says. No nulls."""
    origin = {
        "id": envelope.id,
        "time": envelope.time.astimezone(UTC).isoformat(),
        "source": envelope.source,
        "tenant": envelope.tenant,
        "session": envelope.session,
        "correlation": envelope.correlation,
        "causation": envelope.causation,
        "data": envelope.data.model_dump(mode="json", exclude_none=True),
    }
    return {name: value for name, value in origin.items() if value is not None}


def genesis(tenant: str) -> bytes:
    """The link before a tenant's first record. It names the tenant, so that no chain passes for another's."""
    return hashlib.sha256((GENESIS_PREFIX + tenant).encode()).digest()


def leaf(record: Record) -> bytes:
    return hashlib.sha256(canonical(record)).digest()


def link(before: bytes, leaf: bytes) -> bytes:
    return hashlib.sha256(before + leaf).digest()
