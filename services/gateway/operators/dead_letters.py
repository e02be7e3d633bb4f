"""Reads of dead letters: the gateway's projection of dlq.events, of one tenant at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql

from libs.events import Body
from services.gateway.operators.dead_letter_states import is_stale
from services.gateway.operators.models import LetterShown
from services.gateway.schema import Reads

queries: Any = aiosql.from_path(Path(__file__).parent / "dead_letters.sql", "asyncpg")


@dataclass(frozen=True, slots=True)
class Original:
    """The original event, and the principal of its session."""

    event: Body
    principal: str | None


class DeadLetters(Reads):
    async def search(self, tenant: str, wanted: Mapping[str, Any], *, most: int) -> Sequence[LetterShown]:
        """Return the dead letters that match a filter's conditions, newest first."""
        return await self._rows(_shown, queries.letters_before, tenant, most=most, **wanted)

    async def codes(self, tenant: str, wanted: Mapping[str, Any]) -> Mapping[str, int]:
        """Return how many dead letters match by code, on all pages, the most frequent first."""
        asked = {name: value for name, value in wanted.items() if name != "before"}
        return dict(await self._rows(_counted, queries.letters_by_code, tenant, **asked))

    async def find(self, tenant: str, letter_id: str) -> LetterShown | None:
        return await self._row(_shown, queries.letter_by_id, tenant, letter=letter_id)

    async def original(self, tenant: str, letter_id: str) -> Original:
        row = await self._one(queries.original, tenant, letter=letter_id)
        return Original(Body.model_validate_json(row["event"]), row["principal"])


def _counted(code: str, letters: int) -> tuple[str, int]:
    return code, letters


def _shown(*, turn_ended_at: datetime | None, **row: Any) -> LetterShown:
    return LetterShown(**row, stale=is_stale(row["topic"], row["state"], turn_ended_at))
