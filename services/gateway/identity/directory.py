"""The writes of tenants, principals, keys and sign-ins, as the schema's owner, or as suma_directory where the gateway
runs alone.

The role that serves requests may read these tables, not write them: nothing that a request reaches in SQL can make a
credential. Such writes are rare, so each opens a connection of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import aiosql
import orjson

from libs.database import Database, answering, hang_up, tenant_set
from libs.errors import NotFound, Rejected
from libs.identity import ApiKey, BadKey
from services.gateway.identity.models import TenantShown
from services.gateway.schema import Query

KEYS_MOST = 10_000
"""Valid keys of a tenant."""

queries: Any = aiosql.from_path(Path(__file__).parent / "directory.sql", "asyncpg")


class NoSuchTenant(NotFound):
    """There is no such tenant; list the tenants."""


class NoSuchPrincipal(NotFound):
    """There is no such principal; list the principals."""


class KeyEnded(Rejected):
    """This key was revoked, rotated or has expired; create another one."""

    code = "KEY_ENDED"


class TooManyKeys(Rejected):
    """This tenant has 10,000 valid keys; revoke some first."""

    code = "TOO_MANY_KEYS"


class Directory:
    """Each call is one transaction, then a call of `changed`. All raise DatabaseDown if Postgres does not answer."""

    def __init__(self, database: Database, *, changed: Callable[[], None] = lambda: None) -> None:
        self._database, self._changed = database, changed

    async def register_file_key(self, key: ApiKey) -> None:
        """Store the key of a key file, and revoke those of other files. Safe to repeat.

        A revoked key stays revoked, and revokes no other: a process that still has the old file cannot lock out the
        new one.
        """
        async with self._owning(key.tenant) as connection:
            await queries.put_tenant(connection, tenant=key.tenant, name="")
            await _put(connection, key, name="key file", origin="file", by="")
            # The owner of the machine cannot be locked out for longer than until the next start. The row that this
            # locks lets registrations of one principal revoke one after another.
            await queries.enable_principal(connection, tenant=key.tenant, principal=key.principal)
            await queries.revoke_other_files(connection, tenant=key.tenant, principal=key.principal, id=key.id)

    async def tenants(self, *, after: str | None, most: int) -> Sequence[TenantShown]:
        """Return the tenants in the order of their ids."""
        async with self._owning() as connection:
            return [TenantShown(**row) async for row in queries.all_tenants(connection, after=after, most=most)]

    async def put_tenant(self, tenant: str, *, name: str = "") -> TenantShown | None:
        """Create a tenant and return it; None if it exists."""
        row = await self._once(queries.put_tenant, tenant, name=name)
        return TenantShown(**row) if row else None

    async def put_key(self, key: ApiKey, *, name: str, by: str) -> None:
        """Store a new key, and its principal if that is new.

        Raises:
            NoSuchTenant: its tenant does not exist.
            TooManyKeys: the tenant has 10,000 valid keys.
        """
        async with self._owning(key.tenant) as connection:
            if await queries.tenant_exists(connection, tenant=key.tenant) is None:
                raise NoSuchTenant
            if await queries.live_keys(connection, tenant=key.tenant) >= KEYS_MOST:
                raise TooManyKeys
            await _put(connection, key, name=name, origin="admin", by=by)

    async def rotate_key(self, old: ApiKey, new: ApiKey, *, name: str, by: str, overlap: float) -> None:
        """Store a key's successor, and let the key expire after `overlap` seconds.

        Raises:
            KeyEnded: it is no longer valid, or has a successor already.
            TooManyKeys: the tenant has 10,000 valid keys.
        """
        async with self._owning(old.tenant) as connection:
            if await queries.take_rotation(connection, tenant=old.tenant, id=old.id) is None:
                raise KeyEnded
            if await queries.live_keys(connection, tenant=old.tenant) >= KEYS_MOST:
                raise TooManyKeys
            await _put(connection, new, name=name, origin="admin", by=by, successor_of=old.id)
            await queries.end_key(connection, tenant=old.tenant, id=old.id, seconds=overlap)

    async def revoke_key(self, tenant: str, key_id: str) -> None:
        """Revoke a key, and with it the browsers that it signed in. Safe to repeat."""
        await self._once(queries.revoke_key, tenant, id=key_id)

    async def disable_tenant(self, tenant: str) -> None:
        """Refuse every credential of a tenant until it is enabled. Safe to repeat. Raises NoSuchTenant."""
        if await self._once(queries.disable_tenant, tenant) is None:
            raise NoSuchTenant

    async def enable_tenant(self, tenant: str) -> None:
        """Accept a tenant's credentials again. Safe to repeat. Raises NoSuchTenant."""
        if await self._once(queries.enable_tenant, tenant) is None:
            raise NoSuchTenant

    async def disable_principal(self, tenant: str, principal: str) -> None:
        """Refuse every credential of a principal until it is enabled, also of one that is not known yet: an outside
        issuer may name it. Safe to repeat. Raises NoSuchTenant.
        """
        async with self._owning(tenant) as connection:
            if await queries.tenant_exists(connection, tenant=tenant) is None:
                raise NoSuchTenant
            await queries.disable_principal(connection, tenant=tenant, principal=principal)

    async def enable_principal(self, tenant: str, principal: str) -> None:
        """Accept a principal's credentials again. Safe to repeat. Raises NoSuchPrincipal."""
        if await self._once(queries.enable_principal, tenant, principal=principal) is None:
            raise NoSuchPrincipal

    async def open_code(self, tenant: str, key_id: str, hash: str, *, seconds: float) -> datetime:
        """Store a one-time sign-in code of a key; return when it expires."""
        expires: datetime = await self._once(queries.put_code, tenant, key=key_id, hash=hash, seconds=seconds)
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
        await self._once(queries.end_web_session, tenant, hash=hash)

    async def _once(self, query: Query, tenant: str, **about: Any) -> Any:
        """Return the row or value of one query, in a transaction of its own."""
        async with self._owning(tenant) as connection:
            return await query(connection, tenant=tenant, **about)

    @asynccontextmanager
    async def _owning(self, *tenants: str) -> AsyncIterator[Any]:
        """Open a transaction of a role that may write here, and that sees these tenants' rows."""
        owner = self._database.dsns.owner
        connection = await self._database.pinned(owner)
        try:
            async with answering(), connection.transaction():
                if not owner:
                    await queries.become_writer(connection)
                await queries.work_for(connection, tenants=tenant_set(tenants))
                yield connection
        finally:
            # After an error too: if only its answer was lost, the transaction has committed.
            self._changed()
            await hang_up(connection)


async def _put(
    connection: Any, key: ApiKey, *, name: str, origin: str, by: str, successor_of: str | None = None
) -> None:
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
        signing_key=orjson.dumps(key.signing_key).decode() if key.signing_key is not None else None,
        successor_of=successor_of,
    )
