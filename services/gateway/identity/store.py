"""Reads of keys and principals. `directory` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiosql
import orjson

from libs.identity import ApiKey
from libs.identity.keys import Kind
from services.gateway.identity.models import KeyShown, PrincipalShown
from services.gateway.schema import GROUP, Reads

queries: Any = aiosql.from_path(Path(__file__).parent / "queries.sql", "asyncpg")


class Keys(Reads):
    async def key(self, kind: Kind, value: str) -> ApiKey | None:
        """Return the key behind a credential: `key` by its id, `web` and `code` by the digest of their text."""
        async with self._database.read(GROUP) as connection:
            row = await queries.credential(connection, kind=kind, value=value)
        if row is None:
            return None
        return ApiKey(
            row["key_id"],
            row["tenant_id"],
            row["principal"],
            frozenset(row["scopes"]),
            row["hash"],
            row["expires_at"],
            row["revoked_at"],
            roles=frozenset(row["roles"]),
            disabled=row["disabled"],
            origin=row["origin"],
            signing_key=orjson.loads(row["signing_key"]) if row["signing_key"] else None,
            used=row["used_at"],
        )

    async def disabled(self, tenant: str, principal: str) -> bool | None:
        """Return whether a principal or its tenant is disabled; None if there is no such tenant."""
        found: bool | None = await self._one(queries.account, tenant, principal=principal)
        return found

    async def page(
        self, tenant: str, *, principal: str | None, ended: bool, before: str | None, most: int
    ) -> Sequence[KeyShown]:
        """Return a tenant's keys, newest first; without `ended`, only valid ones."""
        about = {"id": None, "principal": principal, "ended": ended, "before": before, "most": most}
        return await self._rows(KeyShown, queries.keys_of, tenant, **about)

    async def find(self, tenant: str, key_id: str) -> KeyShown | None:
        about = {"id": key_id, "principal": None, "ended": True, "before": None, "most": 1}
        return next(iter(await self._rows(KeyShown, queries.keys_of, tenant, **about)), None)

    async def principals(self, tenant: str, *, after: str | None, most: int) -> Sequence[PrincipalShown]:
        return await self._rows(PrincipalShown, queries.principals_of, tenant, after=after, most=most)
