"""The rows that the audit worker writes: one class for each paragraph of `apply.sql`. Leaves are hex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from libs.audit import Record
from libs.changes import Row, row

SCHEMA = "audit"


@row(SCHEMA, "chain.logged")
class ChainLogged(Row):
    """The records of an event, named by its place in the log, with the form in which they are chained."""

    event_id: str
    part: int
    position: int
    form: str
    leaves: Sequence[str]


@row(SCHEMA, "chain")
class Chained(Row):
    """One record, in full."""

    record: Record
    leaf: str


@row(SCHEMA, "chain.together")
class ChainedTogether(Row):
    """The records of one changeset: what they share, and each with its leaf and what it does not share."""

    origin: Mapping[str, Any]
    entries: Sequence[Mapping[str, Any]]


@row(SCHEMA, "seal")
class Sealed(Row):
    """A signed checkpoint of a committed head."""

    count: int
    head: str
    time: str
    key_id: str
    signature: str
