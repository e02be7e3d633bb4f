"""Reads of dead letters: the gateway's projection of dlq.events, of one tenant at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql

from libs.database import Database
from libs.events import Body
from services.gateway.operators.dead_letter_states import DeadLetter
from services.gateway.sessions.store import GROUP

queries: Any = aiosql.from_path(Path(__file__).parent / "dead_letters.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class Search:
    """Search conditions; None matches everything. `since` and `until` (exclusive) bound the time of death."""

    state: str | None = None
    grp: str | None = None
    topic: str | None = None
    types: Sequence[str] | None = None
    code: str | None = None
    session: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: str | None = None
    """The dead letter after which the page starts, in list order."""


@dataclass(frozen=True, slots=True)
class Original:
    """The original event, and the principal of its session."""

    event: Body
    principal: str | None


class DeadLetters:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(self, tenant: str, wanted: Search, *, most: int) -> Sequence[DeadLetter]:
        """Return the matching dead letters, newest first."""
        asked = {name: getattr(wanted, name) for name in Search.__slots__}
        async with self._database.read(GROUP, tenant) as connection:
            rows = queries.letters_before(connection, tenant=tenant, most=most, **asked)
            return [DeadLetter(**row) async for row in rows]

    async def codes(self, tenant: str, wanted: Search) -> Mapping[str, int]:
        """Return how many dead letters match by code, on all pages, the most frequent first."""
        asked = {name: getattr(wanted, name) for name in Search.__slots__ if name != "before"}
        async with self._database.read(GROUP, tenant) as connection:
            rows = queries.letters_by_code(connection, tenant=tenant, **asked)
            return {row["code"]: row["letters"] async for row in rows}

    async def find(self, tenant: str, letter_id: str) -> DeadLetter | None:
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.letter_by_id(connection, tenant=tenant, letter=letter_id)
        return DeadLetter(**row) if row else None

    async def original(self, tenant: str, letter_id: str) -> Original:
        async with self._database.read(GROUP, tenant) as connection:
            row = await queries.original(connection, tenant=tenant, letter=letter_id)
        return Original(Body.model_validate_json(row["event"]), row["principal"])
