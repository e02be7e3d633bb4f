"""Reads of the memory service, of one tenant and within one scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiosql
import numpy as np
import orjson

from libs.database import Database, Schema
from libs.search import Matrix, Vector
from libs.search.lists import codes, halves
from services.memory_service.domain.adaptation import MIND_READ, Mind
from services.memory_service.domain.facts import Fact
from services.memory_service.domain.ranking import Found

GROUP = "memory_service"
HERE = Path(__file__).parent
APPLY_FILES = ("facts.sql", "mind/apply.sql", "knowledge/apply.sql", "indexing.sql", "apply.sql")
SCHEMA = Schema("memory", HERE / "migrations", [HERE / file for file in APPLY_FILES], users=(GROUP,))
FACTS_MOST = 500
"""Facts of a person that are read at once."""
SESSION = "session"
"""The universe of memories that belong to one session."""

DEEP = 200
"""Candidates of an index that are compared exactly. In a trial they held 97 % of the ten nearest in the lists."""

queries: Any = aiosql.from_path(HERE / "queries.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class Scope:
    """The owner and extent of memories: `within` is a session for the universe `session`, else the person."""

    tenant: str
    universe: str
    within: str
    person: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """The memories of each ranking, and what was searched for them."""

    found: Sequence[Found]
    embedders: Sequence[str]
    """The embedders of the scope's vectors."""
    read: int
    """Memories that were read because no index has them."""
    mind: Mind | None = None
    """The person's, if it was asked for."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of memories, as rows in the order of their ids and numbers."""

    ids: Sequence[str]
    numbers: Sequence[int]
    rows: Matrix


@dataclass(frozen=True, slots=True)
class Sample:
    """Numbers, vectors and words of some memories of a scope."""

    numbers: Sequence[int]
    rows: Matrix
    words: Sequence[Sequence[str]]


class Store:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def outcomes(self, tenant: str, *, step_type: str) -> list[dict[str, Any]]:
        """Return the sums of a tenant's attempts at one step type, by capability."""
        return [dict(row) for row in await self._database.rows(GROUP, tenant, queries.outcomes, step_type=step_type)]

    async def ranked(
        self, scope: Scope, queries_by: Mapping[str, Vector], *, words: str, pool: int, mind: bool = False
    ) -> Ranked:
        """Return at most `pool` memories of each ranking, for a query's vectors by embedder, and perhaps the `mind`.

        Vectors of different embedders cannot be compared, so each embedder's memories have a ranking of their own.
        """
        vectors = list(queries_by.values())
        rows = await self._scoped(
            queries.ranked,
            scope,
            embedders=list(queries_by),
            queries=[literal(vector) for vector in vectors],
            codes=codes(np.stack(vectors)) if vectors else [],
            words=words,
            pool=pool,
            deep=max(DEEP, pool),
            minded=scope.person if mind else None,
            **MIND_READ,
        )
        first, found = rows[0], [Found(*[*row.values()][3:]) for row in rows if row["memory_id"] is not None]
        known = Mind.of(orjson.loads(first["mind"])) if mind else None
        return Ranked(found, first["embedders"] or (), first["read"], known)

    async def numbered(self, scope: Scope, embedder: str, *, after: int, most: int) -> Vectors:
        """Return the next memories of a scope, by number."""
        return _vectors(await self._scoped(queries.numbered, scope, embedder=embedder, after=after, most=most))

    async def missed(self, scope: Scope, embedder: str, *, most: int) -> Vectors:
        """Return memories that the index of a scope lacks."""
        return _vectors(await self._scoped(queries.missed, scope, embedder=embedder, most=most))

    async def sampled(self, scope: Scope, embedder: str, *, step: int, most: int) -> Sample:
        """Return one memory in `step`."""
        rows = await self._scoped(queries.sampled, scope, embedder=embedder, step=step, most=most)
        vectors = halves([row["embedding"] for row in rows])
        return Sample([row["number"] for row in rows], vectors, [row["lexemes"] for row in rows])

    async def number(self, scope: Scope, embedder: str) -> int | None:
        """Return the number of a scope with an embedder."""
        where = {"universe": scope.universe, "scope": scope.within, "person": scope.person, "embedder": embedder}
        number: int | None = await self._database.row(GROUP, scope.tenant, queries.scope_of, **where)
        return number

    async def centroids(self, tenant: str, number: int) -> Matrix:
        """Return the centroids of a scope's index; none if there is none."""
        rows = await self._database.rows(GROUP, tenant, queries.centroids_of, number=number)
        return halves([row["centroid"] for row in rows])

    async def outdated(self, tenant: str, embedder: str, *, after: str, most: int) -> Sequence[Mapping[str, str]]:
        """Return memories that another embedder embedded: id, embedder and text."""
        found: Sequence[Mapping[str, str]] = await self._database.rows(
            GROUP, tenant, queries.outdated, embedder=embedder, after=after, most=most
        )
        return found

    async def _scoped(self, query: Any, scope: Scope, **given: Any) -> list[Any]:
        where = {"universe": scope.universe, "scope": scope.within, "person": scope.person}
        return await self._database.rows(GROUP, scope.tenant, query, **where, **given)

    async def message(self, tenant: str, person: str, memory: str) -> Mapping[str, Any] | None:
        """Return the text of a message, and for how long its session is `silent`; None if it is gone."""
        found: Mapping[str, Any] | None = await self._database.row(
            GROUP, tenant, queries.message, person=person, memory=memory
        )
        return found

    async def facts(self, tenant: str, person: str, *, history: bool = False, most: int = FACTS_MOST) -> Sequence[Fact]:
        """Return the person's facts that are true, latest first; with `history`, also all others."""
        rows = await self._database.rows(GROUP, tenant, queries.facts_of, person=person, history=history, most=most)
        return [Fact(**row) for row in rows]


def literal(vector: Vector) -> str:
    """Return a vector in pgvector's sparse text format, since hashed vectors are mostly zeros and this is sent as JSON.
    It has the digits of half a float, which is what is stored.
    """
    places = np.flatnonzero(vector)
    numbers = zip((places + 1).tolist(), vector[places].tolist(), strict=True)
    return "{" + ",".join([f"{place}:{number:.5g}" for place, number in numbers]) + f"}}/{len(vector)}"


def dense(vector: Vector) -> str:
    """Return a vector in pgvector's text format."""
    return "[" + ",".join(f"{number:.5g}" for number in vector) + "]"


def _vectors(rows: Sequence[Any]) -> Vectors:
    ids, numbers = [row["memory_id"] for row in rows], [row["number"] for row in rows]
    return Vectors(ids, numbers, halves([row["embedding"] for row in rows]))
