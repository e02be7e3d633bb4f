"""The owner's key of this machine: made into a file by whoever starts the platform, known here by its hash."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

from libs import ids
from libs.changes import Cause, Changeset
from libs.identity import ApiKey
from libs.identity.keys import authenticate, id_of
from libs.runtime.platform import Platform
from services.gateway.domain.projection import SCHEMA
from services.gateway.store import GROUP

TENANT, OWNER = "local", "owner"


async def ensure_local_key(platform: Platform, text: str) -> None:
    """Let this key in, with every scope, as the only one of the machine's owner; safe to repeat.

    An earlier key of the owner is revoked: whoever deletes the file and starts again has changed the lock. A key that
    was revoked stays so. Needs a running writer. Raises BadKey when the text is no API key.
    """
    key = _stored(text)
    row = {"key_id": key.id, "hash": key.hash, "principal": key.principal, "scopes": sorted(key.scopes)}
    cause = Cause.request(GROUP, id=ids.new(), tenant=TENANT, key=f"{TENANT}:{OWNER}")
    await platform.writer.apply(Changeset(cause).change(SCHEMA, "key.only", **row))


def _stored(text: str) -> ApiKey:
    secret = text.rsplit("_", 1)[-1]
    key = ApiKey(id_of(text), TENANT, OWNER, frozenset({"*"}), sha256(secret.encode()).hexdigest())
    authenticate(text, key, now=datetime.now(UTC))
    return key
