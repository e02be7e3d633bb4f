"""Reads of the memory service, of one tenant and within one scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiosql
import numpy as np

from libs.database import Database, Schema
from libs.search import Vector
from services.memory_service.domain.facts import Fact
from services.memory_service.domain.ranking import Found

GROUP = "memory_service"
HERE = Path(__file__).parent
APPLY = (HERE / "facts.sql", HERE / "mind" / "apply.sql", HERE / "knowledge" / "apply.sql", HERE / "apply.sql")
SCHEMA = Schema("memory", HERE / "migrations", APPLY, users=(GROUP,))
FACTS_MOST = 500
"""Facts of a person that are read at once."""
SESSION = "session"
"""The universe of memories that belong to one session."""

queries: Any = aiosql.from_path(HERE / "queries.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class Scope:
    """The owner and extent of memories: `within` is a session for the universe `session`, else the person."""

    tenant: str
    universe: str
    within: str
    person: str


class Store:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def ranked(self, scope: Scope, query: Vector, *, words: str, embedder: str, pool: int) -> Sequence[Found]:
        """Return at most `pool` memories of each ranking."""
        rows = await self._database.rows(
            GROUP,
            scope.tenant,
            queries.ranked,
            universe=scope.universe,
            scope=scope.within,
            person=scope.person,
            # Vectors of different embedders cannot be compared.
            embedder=embedder,
            query=literal(query),
            words=words,
            pool=pool,
        )
        return [Found(*row.values()) for row in rows]

    async def facts(self, tenant: str, person: str, *, history: bool = False, most: int = FACTS_MOST) -> Sequence[Fact]:
        """Return the person's facts that are true, latest first; with `history`, also all others."""
        rows = await self._database.rows(GROUP, tenant, queries.facts_of, person=person, history=history, most=most)
        return [Fact(**row) for row in rows]


def literal(vector: Vector) -> str:
    """Return a vector in pgvector's sparse text format: hashed vectors are mostly zeros, and this is sent as JSON."""
    places = np.flatnonzero(vector)
    return "{" + ",".join(f"{place + 1}:{vector[place]:.7g}" for place in places) + f"}}/{len(vector)}"
