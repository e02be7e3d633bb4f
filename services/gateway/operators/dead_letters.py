"""Reads of dead letters: the gateway's projection of dlq.events, of one tenant at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql

from libs.events import Body
from services.gateway.operators.dead_letter_states import DeadLetter
from services.gateway.schema import Reads

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


class DeadLetters(Reads):
    async def search(self, tenant: str, wanted: Search, *, most: int) -> Sequence[DeadLetter]:
        """Return the matching dead letters, newest first."""
        asked = {name: getattr(wanted, name) for name in Search.__slots__}
        return await self._rows(DeadLetter, queries.letters_before, tenant, most=most, **asked)

    async def codes(self, tenant: str, wanted: Search) -> Mapping[str, int]:
        """Return how many dead letters match by code, on all pages, the most frequent first."""
        asked = {name: getattr(wanted, name) for name in Search.__slots__ if name != "before"}
        return dict(await self._rows(_counted, queries.letters_by_code, tenant, **asked))

    async def find(self, tenant: str, letter_id: str) -> DeadLetter | None:
        return await self._row(DeadLetter, queries.letter_by_id, tenant, letter=letter_id)

    async def original(self, tenant: str, letter_id: str) -> Original:
        row = await self._one(queries.original, tenant, letter=letter_id)
        return Original(Body.model_validate_json(row["event"]), row["principal"])


def _counted(code: str, letters: int) -> tuple[str, int]:
    return code, letters
