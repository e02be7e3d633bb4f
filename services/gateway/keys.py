"""The machine owner's key: created as a file by the process that starts the platform, stored here as a hash."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

from libs.database import answering, tenant_set
from libs.identity import ApiKey
from libs.identity.keys import authenticate, id_of
from libs.runtime.platform import Platform
from services.gateway.store import queries

TENANT, OWNER = "local", "owner"


async def ensure_local_key(platform: Platform, text: str) -> None:
    """Register this key, with every scope, as the machine owner's only key. Safe to repeat.

    An earlier key of the owner is revoked, so a new key file locks the old key out. A revoked key stays revoked. Only
    the owner's database role may write keys; the role that serves requests reads them.

    Raises:
        BadKey: the text is not an API key.
        DatabaseDown: Postgres does not answer.
    """
    key = _api_key(text)
    connection = await platform.database.pinned(platform.database.dsns.owner)
    try:
        async with answering(), connection.transaction():
            await queries.work_for(connection, tenants=tenant_set([key.tenant]))
            about = {"tenant": key.tenant, "id": key.id, "principal": key.principal}
            await queries.revoke_others(connection, **about)
            await queries.keep_key(connection, **about, hash=key.hash, scopes=sorted(key.scopes))
    finally:
        await connection.close()


def _api_key(text: str) -> ApiKey:
    secret = text.rsplit("_", 1)[-1]
    key = ApiKey(id_of(text), TENANT, OWNER, frozenset({"*"}), sha256(secret.encode()).hexdigest())
    authenticate(text, key, now=datetime.now(UTC))
    return key
