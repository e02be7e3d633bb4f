"""The machine owner's key: created as a file by the process that starts the platform, stored here as a hash."""

from __future__ import annotations

from datetime import UTC, datetime

from libs.identity import ApiKey, Role
from libs.identity.keys import authenticate, digest, id_of, one_time
from libs.runtime import Platform
from services.gateway.identity.directory import Directory

TENANT, OWNER = "local", "owner"


async def ensure_local_key(platform: Platform, text: str) -> None:
    """Register this key, with every scope, as the machine owner's only key from a file. Safe to repeat.

    The key of an earlier file is revoked, so a new key file locks the old key out. A revoked key stays revoked.

    Raises:
        BadKey: the text is not an API key.
        DatabaseDown: Postgres does not answer.
    """
    await Directory(platform.database).register_file_key(local_key(text))


async def local_code(platform: Platform, text: str, *, seconds: float) -> str:
    """Register this key as `ensure_local_key` does, and return a one-time code that signs its owner in."""
    directory, key, code = Directory(platform.database), local_key(text), one_time("code")
    await directory.register_file_key(key)
    await directory.open_code(TENANT, key.id, digest(code), seconds=seconds)
    return code


def local_key(text: str) -> ApiKey:
    """Return what is stored of the machine owner's key. Raises BadKey."""
    hash = digest(text.rsplit("_", 1)[-1])
    key = ApiKey(id_of(text), TENANT, OWNER, frozenset({"*"}), hash, roles=frozenset({Role.ADMIN}))
    authenticate(text, key, now=datetime.now(UTC))
    return key
