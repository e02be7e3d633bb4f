"""Parked events: one that failed, and all later ones of its key in its topic, wait in order while others pass (bus.md
15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from libs.bus.log import recorded
from libs.bus.ports import Record
from libs.database import Database, answering

BACKLOG = """
    select grp, topic, count(*), extract(epoch from bus.now() - min(since))::float8
    from bus.parked where state = 'parked' and grp = any($1) group by grp, topic
"""


@dataclass(frozen=True, slots=True)
class Due:
    """The first parked event of its key, due for another try. `age` is in seconds."""

    record: Record
    seq: int
    attempts: int
    age: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """A parked event, as people are shown it. `due_at` is when it is tried next."""

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
class Standing:
    """How many events of a group and topic are `parked` or `dead`, and since when."""

    group: str
    topic: str
    state: str
    events: int
    since: datetime


@dataclass(frozen=True, slots=True)
class Backlog:
    """What a group has parked of a topic, whoever's it is. `age` is the oldest one's, in seconds."""

    group: str
    topic: str
    events: int
    age: float


class ParkedEvents:
    """`bus.parked`, for both buses."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def retries(self, group: str, *, most: int) -> Sequence[Due]:
        """Claim what is due: pushed back at once, so that a crash only tries it later."""
        pool = await self._database.bus()
        async with answering():
            rows = await pool.fetch("select * from bus.retries($1, $2)", group, most)
        return [Due(recorded(row, part=-1, position=-1), row["seq"], row["attempts"], row["age"]) for row in rows]

    async def postpone(self, group: str, seq: int, *, delay: float, error: str) -> None:
        """It failed again."""
        pool = await self._database.bus()
        async with answering():
            await pool.execute("select bus.postpone($1, $2, $3, $4)", group, seq, delay, error[:2000])

    async def waiting(self, tenant: str, code: str, *, event_id: str | None = None, most: int) -> Sequence[Waiting]:
        """A tenant's events that wait because of an error with this code, the longest waiting first; or one of them."""
        pool = await self._database.bus()
        async with answering():
            rows = await pool.fetch("select * from bus.waiting($1, $2, $3, $4)", tenant, code, event_id, most)
        return [Waiting(**{**row, "headers": orjson.loads(row["headers"])}) for row in rows]

    async def backlog(self, groups: Sequence[str]) -> Sequence[Backlog]:
        """What waits for another try; a topic of which nothing waits is not in it."""
        pool = await self._database.bus()
        async with answering():
            return [Backlog(*row) for row in await pool.fetch(BACKLOG, list(groups))]

    async def standing(self, tenant: str) -> Sequence[Standing]:
        """How many of a tenant's events are parked or dead."""
        pool = await self._database.bus()
        async with answering():
            rows = await pool.fetch("select * from bus.standing($1)", tenant)
        return [Standing(*row) for row in rows]
