"""Reads of the audit worker: heads, checkpoints and chain of one tenant at a time; due heads of all tenants."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql
import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from libs.audit import Checkpoint, Entry
from libs.audit.chain import genesis
from libs.database import Database, Schema

GROUP = "audit_worker"
HERE = Path(__file__).parent
SCHEMA = Schema("audit", HERE / "migrations", [HERE / "projection.sql", HERE / "apply.sql"], users=(GROUP,))
PAGE = 200
"""Entries per page. Parsing and writing a page blocks the event loop and must stay under 10 ms."""

queries: Any = aiosql.from_path(HERE / "queries.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a tenant's chain. Checkpoints cover the first `sealed` records; the last one was made at `since`."""

    tenant: str
    count: int
    link: bytes
    sealed: int
    since: datetime


class Search(BaseModel):
    """Search conditions; None matches everything. `since` is inclusive, `until` exclusive."""

    model_config = ConfigDict(frozen=True)

    action: str | None = None
    verdict: str | None = None
    principal: str | None = None
    session: str | None = None
    turn: str | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    looks: bool = True
    """Whether records match that only permit reading."""
    before: int | None = Field(default=None, ge=1)
    """Only records below this position, such as the `next` of the page before."""
    limit: int = Field(default=50, ge=1, le=500)


class Store:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def unsealed(self) -> Sequence[Head]:
        """Return the heads of all tenants with records that no checkpoint covers, longest waiting first."""
        async with self._database.read(GROUP) as connection:
            return [_head(row) async for row in queries.unsealed(connection)]

    async def head(self, tenant: str) -> Head | None:
        """Return the tenant's head; None if nothing is chained yet."""
        row = await self._database.row(GROUP, tenant, queries.head_of)
        return _head(row) if row else None

    async def checkpoints(self, tenant: str) -> Sequence[Checkpoint]:
        rows = await self._database.rows(GROUP, tenant, queries.checkpoints_of)
        return [Checkpoint.model_validate(dict(row)) for row in rows]

    async def entries(self, tenant: str, *, last: int) -> AsyncIterator[Entry]:
        """Yield the chain up to a position. Pages keep a slow reader from holding a connection; rows never change."""
        after = 0
        while page := await self._page(tenant, after, last):
            for entry in page:
                yield entry
            after = page[-1].position

    async def link(self, tenant: str, position: int) -> bytes | None:
        """Return the link at a position; None if there is no record."""
        found: bytes | None = await self._database.row(GROUP, tenant, queries.link_at, position=position)
        return found

    async def search(self, tenant: str, search: Search) -> Sequence[Entry]:
        """Return the matching entries, newest first."""
        rows = await self._database.rows(GROUP, tenant, queries.entries_found, **search.model_dump())
        return [_entry(row) for row in rows]

    async def _page(self, tenant: str, after: int, last: int) -> Sequence[Entry]:
        rows = await self._database.rows(GROUP, tenant, queries.entries_after, after=after, last=last, most=PAGE)
        return [_entry(row) for row in rows]


def empty_head(tenant: str, now: datetime) -> Head:
    """Return the head of a chain without records."""
    return Head(tenant, 0, genesis(tenant), 0, now)


def _head(row: Mapping[str, Any]) -> Head:
    return Head(row["tenant_id"], row["count"], row["link"], row["sealed"], row["since"])


def _entry(row: Mapping[str, Any]) -> Entry:
    return Entry(row["position"], row["link"], orjson.loads(row["record"]))
