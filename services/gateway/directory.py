"""The writes of tenants, principals, keys and sign-ins, as the schema's owner.

The role that serves requests may read these tables, not write them: nothing that a request reaches in SQL can make a
credential. Such writes are rare, so each opens a connection of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql

from libs.database import Database, answering, tenant_set
from libs.errors import NotFound
from libs.identity import ApiKey, BadKey

queries: Any = aiosql.from_path(Path(__file__).parent / "directory.sql", "asyncpg")


class NoSuchTenant(NotFound):
    """There is no such tenant; list the tenants."""


class Directory:
    """Each call is one transaction. All raise DatabaseDown if Postgres does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def register_file_key(self, key: ApiKey) -> None:
        """Store the key of a key file, and revoke those of earlier files. Safe to repeat; a revoked key stays so."""
        async with self._owning(key.tenant) as connection:
            await queries.put_tenant(connection, tenant=key.tenant, name="")
            await queries.revoke_other_files(connection, tenant=key.tenant, principal=key.principal, id=key.id)
            await _put(connection, key, name="key file", origin="file", by="")

    async def put_tenant(self, tenant: str, *, name: str = "") -> bool:
        """Create a tenant; return whether it is new."""
        async with self._owning(tenant) as connection:
            return await queries.put_tenant(connection, tenant=tenant, name=name) is not None

    async def put_key(self, key: ApiKey, *, name: str, by: str) -> None:
        """Store a new key, and its principal if that is new.

        Raises:
            NoSuchTenant: its tenant does not exist.
        """
        async with self._owning(key.tenant) as connection:
            if await queries.tenant_exists(connection, tenant=key.tenant) is None:
                raise NoSuchTenant
            await _put(connection, key, name=name, origin="admin", by=by)

    async def open_code(self, tenant: str, key_id: str, hash: str, *, seconds: float) -> datetime:
        """Store a one-time sign-in code of a key; return when it expires."""
        async with self._owning(tenant) as connection:
            about = {"tenant": tenant, "key": key_id, "hash": hash, "seconds": seconds}
            expires: datetime = await queries.put_code(connection, **about)
            return expires

    async def sign_in(self, tenant: str, key_id: str, hash: str, *, code: str | None, seconds: float) -> datetime:
        """Store a browser's session of a key, and use up the code (its hash) that it came with; return when it expires.

        Raises:
            BadKey: another request used the code first.
        """
        async with self._owning(tenant) as connection:
            if code is not None and await queries.use_code(connection, tenant=tenant, hash=code) is None:
                raise BadKey("this sign-in code was used; request another code")
            await queries.forget_ended(connection, tenant=tenant)
            about = {"tenant": tenant, "key": key_id, "hash": hash, "seconds": seconds}
            expires: datetime = await queries.put_web_session(connection, **about)
            return expires

    async def sign_out(self, tenant: str, hash: str) -> None:
        """End a browser's session. Safe to repeat."""
        async with self._owning(tenant) as connection:
            await queries.end_web_session(connection, tenant=tenant, hash=hash)

    @asynccontextmanager
    async def _owning(self, *tenants: str) -> AsyncIterator[Any]:
        """Open a transaction of the owner's role that sees these tenants' rows."""
        connection = await self._database.pinned(self._database.dsns.owner)
        try:
            async with answering(), connection.transaction():
                await queries.work_for(connection, tenants=tenant_set(tenants))
                yield connection
        finally:
            await connection.close()


async def _put(connection: Any, key: ApiKey, *, name: str, origin: str, by: str) -> None:
    await queries.put_principal(connection, tenant=key.tenant, principal=key.principal)
    await queries.put_key(
        connection,
        tenant=key.tenant,
        id=key.id,
        hash=key.hash,
        principal=key.principal,
        scopes=sorted(key.scopes),
        roles=sorted(key.roles),
        expires=key.expires,
        name=name,
        origin=origin,
        by=by,
    )
