"""Reads of a person's mind."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql
import orjson

from libs.database import Database
from services.memory_service.domain.adaptation import MIND_READ, Mind
from services.memory_service.domain.consolidation import Pair
from services.memory_service.domain.ranking import Linked
from services.memory_service.recent import Recent
from services.memory_service.store import GROUP

NEAR = 4
"""Earlier memories that each one is compared with."""

queries: Any = aiosql.from_path(Path(__file__).parent / "queries.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class Sleep:
    """The report of a sleep: memories looked at, merged into a later one, links made; what is older than
    `faded_before` fades.
    """

    id: str
    nrem: bool
    rem: bool
    state: str
    scanned: int
    merged: int
    linked: int
    faded_before: datetime | None
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Rating:
    """Feedback on a subject, and when it was given."""

    id: str
    subject: str
    score: float
    comment: str
    at: datetime


class MindStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def mind(self, tenant: str, person: str) -> Mind:
        """Return the person's state, with dopamine as it has decayed."""
        return Mind.of(orjson.loads(await self._database.row(GROUP, tenant, queries.mind, person=person, **MIND_READ)))

    async def persona(self, tenant: str, person: str, persona: str) -> str | None:
        text: str | None = await self._database.row(GROUP, tenant, queries.persona, person=person, persona=persona)
        return text

    async def linked(self, tenant: str, person: str, ids: Sequence[str], most: int) -> Sequence[Linked]:
        rows = await self._database.rows(GROUP, tenant, queries.linked, person=person, ids=list(ids), most=most)
        return [Linked(*row.values()) for row in rows]

    async def slept_to(self, tenant: str, person: str) -> datetime | None:
        """Return up to when the person's memories are consolidated."""
        at: datetime | None = await self._database.row(GROUP, tenant, queries.slept_to, person=person)
        return at

    async def neighbours(self, tenant: str, person: str, at: datetime, id: str, most: int) -> Sequence[Pair]:
        """Return the next memories to consolidate after this time and id, each with its nearest earlier ones."""
        rows = await self._database.rows(
            GROUP, tenant, queries.neighbours, person=person, at=at, id=id, most=most, near=NEAR
        )
        return [Pair(**row) for row in rows]

    async def sleeps(self, tenant: str, person: str, *, most: int) -> Sequence[Sleep]:
        """Return reports, the latest first."""
        return [
            Sleep(**row) for row in await self._database.rows(GROUP, tenant, queries.sleeps, person=person, most=most)
        ]

    async def ratings(self, tenant: str, person: str, *, most: int) -> Sequence[Rating]:
        """Return feedback, the latest first."""
        rows = await self._database.rows(GROUP, tenant, queries.ratings, person=person, most=most)
        return [Rating(**row) for row in rows]


class RecentMinds(Recent[Mind]):
    """Minds as they were read a few seconds ago."""

    def __init__(self, store: MindStore, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self.store = store
        super().__init__(store.mind, seconds, now)

    async def manner(self, tenant: str, *, user: str, agent: str) -> str:
        """Return how to write an agent's answers to a person; empty if nothing is asked for."""
        return (await self.of(tenant, user)).manner(agent)
