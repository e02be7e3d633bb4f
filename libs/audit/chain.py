"""The chain: each record's link covers the record and, through the previous link, all earlier records.

    genesis = SHA-256("suma.audit.v1:" + tenant)        the link before the first record
    leaf    = SHA-256(canonical JSON of the record)
    link    = SHA-256(previous link + leaf)             both as 32 raw bytes

A record does not contain its position. The event's handler computes the leaf; SQL assigns the position and computes the
link by the same formula, under a lock on the tenant's head row.
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
"""One audited action as JSON; `record_of` defines its members."""

GENESIS_PREFIX = "suma.audit.v1:"


def record_of(envelope: Envelope[ActionRecorded]) -> Record:
    """Return the record to chain: the event's id, time (UTC), tenant and origin, and its payload under `data`. No
    nulls.
    """
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
    # Without nulls, as SQL builds the same record from a logged event, equal to the byte (decision 0068).
    return {name: value for name, value in origin.items() if value is not None}


def genesis(tenant: str) -> bytes:
    """Return the link before a tenant's first record. It includes the tenant, so chains cannot be swapped."""
    return hashlib.sha256((GENESIS_PREFIX + tenant).encode()).digest()


def leaf(record: Record) -> bytes:
    return hashlib.sha256(canonical(record)).digest()


def link(before: bytes, leaf: bytes) -> bytes:
    # Both have 32 bytes, so the border between them is certain.
    return hashlib.sha256(before + leaf).digest()
