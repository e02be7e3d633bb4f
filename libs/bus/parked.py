"""Parked events: a failed event and all later ones of its key and topic wait in order while others pass (bus.md 15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from libs.bus.log import recorded
from libs.bus.ports import Record
from libs.database import BUS, Database


@dataclass(frozen=True, slots=True)
class Due:
    """The first parked event of its key, due for a retry. `age` is in seconds."""

    record: Record
    seq: int
    attempts: int
    age: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """A parked event as operators see it. `due_at` is the time of its next retry."""

    grp: str
    topic: str
    key: str
    event_id: str
    type: str
    headers: Mapping[str, str]
    attempts: int
    since: datetime
    due_at: datetime
    error: str


@dataclass(frozen=True, slots=True)
class ParkedCount:
    """The number of `parked` or `dead` events of a group and topic, and the oldest one's time."""

    group: str
    topic: str
    state: str
    events: int
    since: datetime


@dataclass(frozen=True, slots=True)
class Backlog:
    """The parked events of a group and topic over all tenants. `age` is the oldest one's, in seconds."""

    group: str
    topic: str
    events: int
    age: float


class ParkedEvents:
    """Access to `bus.parked`, shared by both buses."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def retries(self, group: str, *, most: int) -> Sequence[Due]:
        """Claim due events. Their next retry is set at once, so a crash only delays them."""
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch("select * from bus.retries($1, $2)", group, most)
        return [Due(recorded(row, part=-1, position=-1), row["seq"], row["attempts"], row["age"]) for row in rows]

    async def attempt(self, group: str, event_id: str, *, alone: bool) -> int | None:
        """Record that an event's first handling begins: how often it began before without an end; None if it was
        handled. Only an attempt made alone counts again."""
        async with self._database.connection(BUS) as connection:
            times: int | None = await connection.fetchval("select bus.attempt($1, $2, $3)", group, event_id, alone)
        return times

    async def postpone(self, group: str, seq: int, *, delay: float, error: str) -> None:
        """Record another failure and set the next retry."""
        async with self._database.connection(BUS) as connection:
            await connection.execute("select bus.postpone($1, $2, $3, $4)", group, seq, delay, error[:2000])

    async def waiting(self, tenant: str, code: str, *, event_id: str | None = None, most: int) -> Sequence[Waiting]:
        """Return a tenant's events parked by an error with this code, oldest first; or one of them by id."""
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch("select * from bus.waiting($1, $2, $3, $4)", tenant, code, event_id, most)
        return [Waiting(**{**row, "headers": orjson.loads(row["headers"])}) for row in rows]

    async def backlog(self, groups: Sequence[str]) -> Sequence[Backlog]:
        """Return the parked events by group and topic; topics without any are left out."""
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch("select * from bus.parked_backlog($1)", list(groups))
        return [Backlog(*row) for row in rows]

    async def counts(self, tenant: str) -> Sequence[ParkedCount]:
        """Return how many of a tenant's events are parked or dead."""
        async with self._database.connection(BUS) as connection:
            rows = await connection.fetch("select * from bus.parked_counts($1)", tenant)
        return [ParkedCount(*row) for row in rows]
