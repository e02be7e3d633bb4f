"""Projections: SQL functions over records of the log, each with a cursor for every partition of its topic (bus.md 20).

`bus.commit` runs them on the records that it has just appended. The rest is projected from here, on both buses: the log
holds every event that Suma publishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from libs.bus.ports import Partition, Record
from libs.database import BUS, Database

MOST = 200
"""Records that one transaction projects: it may lock their tenants' rows."""


class Cursor(NamedTuple):
    """How far a group has projected a partition, where this ends, and whether any other process lives."""

    group: str
    topic: str
    part: int
    position: int
    last: int
    accompanied: bool

    @property
    def partition(self) -> Partition:
        return Partition(self.topic, self.part)


class Subject(NamedTuple):
    """The subject of a projected event."""

    type: str
    tenant: str
    session: str | None
    turn: str | None

    @classmethod
    def of(cls, record: Record) -> Subject:
        return cls(record.type, record.tenant, record.header("sessionid"), record.header("turnid"))


class Step(NamedTuple):
    """A partition's cursor after a step, and the error at which it stopped."""

    position: int
    error: str | None


class Projections:
    """The cursors, as SQL knows them. All methods raise `Unavailable` when Postgres does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def cursors(self, groups: Sequence[str], member: str) -> Sequence[Cursor]:
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch("select * from bus.cursors($1, $2)", groups, member)
        return [Cursor(*row) for row in rows]

    async def step(self, cursor: Cursor) -> Step | None:
        """Project the next records after a cursor; None while another process does."""
        about = cursor.group, cursor.topic, cursor.part
        async with self._database.connection(BUS) as connection:
            row = await connection.fetchrow("select * from bus.project_next($1, $2, $3, $4)", *about, MOST)
        return Step(*row) if row is not None else None

    async def subjects(self, topic: str, moved: Sequence[tuple[int, int, int]]) -> Sequence[Subject]:
        """Return the subjects of a topic's records, by (partition, after this position, up to this one)."""
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch(
                "select * from bus.subjects($1, $2, $3, $4)", topic, *map(list, zip(*moved, strict=True))
            )
        return [Subject(*row) for row in rows]
