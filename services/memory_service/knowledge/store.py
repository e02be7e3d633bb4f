"""Reads of knowledge bases, of one tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql

from libs import ids
from libs.database import Database
from libs.search import Vector
from services.memory_service.store import GROUP, literal

EVERYONE = "*"
"""The owner of a base that everyone in its tenant can search. No person has this name."""
GAPS_MOST = 20

queries: Any = aiosql.from_path(Path(__file__).parent / "queries.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class Base:
    """A base as a person sees it: of `files`, `done` are up to date."""

    base_id: str
    name: str
    shared: bool
    source: str
    strategy: str
    chunk_size: int
    state: str
    detail: str
    files: int
    done: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Held:
    """The contents of a base. `unread` counts files that were not read whole; `gaps` has some, and why."""

    chunks: int
    unread: int
    gaps: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """The parts of a base that its reading needs."""

    base_id: str
    source: str
    strategy: str
    chunk_size: int
    job: str
    files: int
    done: int


@dataclass(frozen=True, slots=True)
class Known:
    """A file as it was read last."""

    stamp: str = ""
    digest: str = ""
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk with its rank by vector distance and its rank by shared words; None: not ranked."""

    base_id: str
    path: str
    place: int
    unit: str
    first: int
    last: int
    text: str
    near: int | None
    worded: int | None
    similarity: float | None

    @property
    def id(self) -> str:
        return f"{self.base_id}\0{self.path}\0{self.place:06}"


def base_id(tenant: str, owner: str, name: str) -> str:
    """Return the id of a person's base of this name, so that adding it again is the same base."""
    return ids.derived("knowledge", tenant, owner, name)


class Store:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def bases(self, tenant: str, person: str) -> Sequence[Base]:
        rows = await self._database.rows(GROUP, tenant, queries.bases, person=person, everyone=EVERYONE)
        return [Base(**row) for row in rows]

    async def base(self, tenant: str, base: str) -> Reading | None:
        row = await self._database.row(GROUP, tenant, queries.base, base=base)
        return Reading(**row) if row else None

    async def files(self, tenant: str, base: str) -> Mapping[str, Known]:
        rows = await self._database.rows(GROUP, tenant, queries.files, base=base)
        return {row["path"]: Known(row["stamp"], row["digest"], row["chunks"]) for row in rows}

    async def held(self, tenant: str, base: str) -> Held:
        row = await self._database.row(GROUP, tenant, queries.held, base=base)
        gaps = await self._database.rows(GROUP, tenant, queries.gaps, base=base, most=GAPS_MOST)
        return Held(**row, gaps={gap["path"]: gap["gap"] for gap in gaps})

    async def ranked(
        self, tenant: str, bases: Sequence[str], query: Vector, *, words: str, embedder: str, pool: int
    ) -> Sequence[Found]:
        """Return at most `pool` chunks of each ranking."""
        rows = await self._database.rows(
            GROUP,
            tenant,
            queries.ranked,
            bases=list(bases),
            # Vectors of different embedders cannot be compared.
            embedder=embedder,
            query=literal(query),
            words=words,
            pool=pool,
        )
        return [Found(**row) for row in rows]
