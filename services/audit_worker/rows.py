"""The rows that the audit worker writes: one class for each paragraph of `apply.sql`."""

from __future__ import annotations

from libs.changes import Row, row

SCHEMA = "audit"


@row(SCHEMA, "seal")
class Sealed(Row):
    """A signed checkpoint of a committed head."""

    count: int
    head: str
    time: str
    key_id: str
    signature: str
