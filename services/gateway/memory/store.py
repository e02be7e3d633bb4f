"""Reads of what the gateway keeps of a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql
import orjson

from services.gateway.schema import Reads

queries: Any = aiosql.from_path(Path(__file__).parent / "queries.sql", "asyncpg")

OWN = frozenset(("session_envelopes", "uploads", "attachments", "push_configs", "idempotency"))
"""Tables whose `principal` is the one to whom the row belongs. Others name one who decided or administers."""
SECRETS = frozenset(("token", "credentials", "credential"))


@dataclass(frozen=True, slots=True)
class Held:
    """A row that is kept of a person."""

    table: str
    content: Mapping[str, Any]


class PersonStore(Reads):
    async def own(self, tenant: str, principal: str) -> Sequence[Held]:
        """Return a principal's own rows, of which some head a session."""
        found = await self._rows(_held, queries.held, tenant, named="principal", given=[principal])
        return [one for one in found if one.table.removeprefix("gateway.") in OWN]

    async def of_session(self, tenant: str, session: str) -> Sequence[Held]:
        return await self._rows(_held, queries.held, tenant, named="session_id", given=[session])

    async def sessions(
        self, tenant: str, principal: str, *, before: datetime, most: int, open: bool = False
    ) -> Sequence[str]:
        """Return a principal's sessions from before a time; `open`: only those with an open turn."""
        about = {"principal": principal, "before": before, "open": open, "most": most}
        return await self._rows(_id, queries.sessions_of, tenant, **about)

    async def uploads(self, tenant: str, principal: str) -> Sequence[str]:
        return await self._rows(_id, queries.uploads_of, tenant, principal=principal)


def _held(*, name: str, content: str) -> Held:
    row = orjson.loads(content)
    return Held(name, {column: value for column, value in row.items() if column not in SECRETS})


def _id(*, id: str) -> str:
    return id
