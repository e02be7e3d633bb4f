"""Reads of a person's mind."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql
import orjson

from libs.database import Database
from services.memory_service.domain.adaptation import HALF_LIFE_DAYS, Mind
from services.memory_service.domain.consolidation import Pair
from services.memory_service.domain.modulators import Modulators
from services.memory_service.domain.ranking import Linked
from services.memory_service.recent import Recent
from services.memory_service.store import GROUP

COUNTED_MOST = 1_000
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


class MindStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def mind(self, tenant: str, person: str) -> Mind:
        """Return the person's state, with dopamine as it has decayed."""
        row = await self._database.row(
            GROUP, tenant, queries.mind, person=person, half_life=HALF_LIFE_DAYS, counted=COUNTED_MOST
        )
        points, personas = (orjson.loads(row[name] or "{}") for name in ("points", "personas"))
        if row["minutes"] is None:
            return Mind(points=points, personas=personas, awake=row["awake"])
        return Mind(
            _modulators(row),
            points,
            row["faded_to"],
            slept=row["slept_to"] is not None,
            awake=row["awake"],
            personas=personas,
        )

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


def _modulators(row: Mapping[str, Any]) -> Modulators:
    levels = (row[name] for name in ("dopamine", "serotonin", "noradrenaline", "acetylcholine"))
    return Modulators(*levels).after(float(row["minutes"]))


class RecentMinds:
    """Minds as they were read a few seconds ago."""

    def __init__(self, store: MindStore, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self.store = store
        self.mind = Recent(store.mind, seconds, now).of

    async def manner(self, tenant: str, *, user: str, agent: str) -> str:
        """Return how to write an agent's answers to a person; empty if nothing is asked for."""
        return (await self.mind(tenant, user)).manner(agent)
