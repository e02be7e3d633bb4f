"""What the gateway reads of dead letters: its projection of dlq.events, of one tenant at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql

from libs.database import Database
from libs.events.values import Body
from services.gateway.domain.letters import Letter
from services.gateway.store import GROUP

queries: Any = aiosql.from_path(Path(__file__).parent / "letters.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class Search:
    """Which letters are meant; None is any. Times are of their deaths, `until` exclusive."""

    state: str | None = None
    grp: str | None = None
    topic: str | None = None
    types: Sequence[str] | None = None
    code: str | None = None
    session: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: str | None = None
    """Behind this letter, in the order of the list."""


@dataclass(frozen=True, slots=True)
class Original:
    """The event that died, and who speaks in its session."""

    event: Body
    principal: str | None


class Letters:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(self, tenant: str, wanted: Search, *, most: int) -> Sequence[Letter]:
        """Newest first."""
        asked = {name: getattr(wanted, name) for name in Search.__slots__}
        async with self._database.read(GROUP, tenant) as connection:
            rows = queries.letters_before(connection, tenant=tenant, most=most, **asked)
            return [Letter(**row) async for row in rows]

    async def letter(self, tenant: str, letter: str) -> Letter | None:
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.letter_by_id(connection, tenant=tenant, letter=letter)
        return Letter(**row) if row else None

    async def original(self, tenant: str, letter: str) -> Original:
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.original(connection, tenant=tenant, letter=letter)
        return Original(Body.model_validate_json(row["event"]), row["principal"])
