"""The rows that the audit worker writes: one class for each paragraph of `apply.sql`. Leaves are hex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from libs.audit import Record
from libs.changes import Row

SCHEMA = "audit"


@dataclass(frozen=True, slots=True)
class ChainLogged(Row):
    """The records of an event, named by its place in the log, with the form in which they are chained."""

    into: ClassVar = (SCHEMA, "chain.logged")

    event_id: str
    part: int
    position: int
    form: str
    leaves: Sequence[str]


@dataclass(frozen=True, slots=True)
class Chained(Row):
    """One record, in full."""

    into: ClassVar = (SCHEMA, "chain")

    record: Record
    leaf: str


@dataclass(frozen=True, slots=True)
class ChainedTogether(Row):
    """The records of one changeset: what they share, and each with its leaf and what it does not share."""

    into: ClassVar = (SCHEMA, "chain.together")

    origin: Mapping[str, Any]
    entries: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Sealed(Row):
    """A signed checkpoint of a committed head."""

    into: ClassVar = (SCHEMA, "seal")

    count: int
    head: str
    time: str
    key_id: str
    signature: str
