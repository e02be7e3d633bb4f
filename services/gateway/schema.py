"""The gateway's schema, whose SQL lies in the rooms, and how a room reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from libs.database import Database, Schema

GROUP = "gateway"
HERE = Path(__file__).parent
ROOMS = ("http", "identity", "files", "sessions", "operators", "surfaces/a2a", "memory")
PROJECTING = ("sessions", "operators")
SCHEMA = Schema(
    GROUP,
    HERE / "migrations",
    [
        *(HERE / room / "projection.sql" for room in PROJECTING),
        *(HERE / room / "apply.sql" for room in ROOMS),
        HERE / "apply.sql",
    ],
    users=(GROUP,),
    roles=HERE / "roles.sql",
    squashed={"0001_tables.sql": "0016_clarifications.sql"},
)

Query = Any
"""A query that aiosql made of a room's `queries.sql`."""
T = TypeVar("T")


class Reads:
    """The reads of a room. Each is a transaction that sees only its tenant's rows."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _one(self, query: Query, tenant: str, **about: Any) -> Any:
        """Return the query's row, or its value; None if there is none."""
        return await self._database.row(GROUP, tenant, query, **about)

    async def _row(self, make: Callable[..., T], query: Query, tenant: str, **about: Any) -> T | None:
        row = await self._one(query, tenant, **about)
        return make(**row) if row else None

    async def _rows(self, make: Callable[..., T], query: Query, tenant: str, **about: Any) -> Sequence[T]:
        return [make(**row) for row in await self._database.rows(GROUP, tenant, query, **about)]
