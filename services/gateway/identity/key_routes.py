"""Administration of API keys: create, list, rotate, revoke (docs/identity.md).

The secret appears only in the answer that creates it, so these routes take no Idempotency-Key: the receipt would have
to keep it. After a lost answer, list the keys and revoke the unknown one.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from libs.errors import Denied, NotFound, Rejected
from libs.identity import ApiKey, Principal
from libs.identity.keys import mint
from libs.identity.roles import SESSIONS_READ, SESSIONS_WRITE, scopes_of
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.errors import raises
from services.gateway.http.models import Id
from services.gateway.identity.access import grants
from services.gateway.identity.context import Here, Identity
from services.gateway.identity.directory import KeyEnded, NoSuchTenant, TooManyKeys
from services.gateway.identity.models import KeyCreated, KeyList, KeyShown, NewKey, PrincipalId, Rotation
from services.gateway.identity.security import Authenticated
from services.gateway.identity.signin import record

router = APIRouter(route_class=StrictRoute, tags=["identity"])

READ, WRITE, ELSEWHERE = "admin.keys.read", "admin.keys.write", "admin.tenants.keys"
KeyId = Annotated[Id, Path()]
Tenant = Annotated[Id | None, Query(description="Another tenant, for administrators of the platform")]


class NoSuchKey(NotFound):
    """There is no such key; list the keys."""


class GrantsMore(Denied):
    """You cannot create or rotate a key with a scope that you do not hold."""

    code = "GRANTS_MORE"


class InThePast(Rejected):
    """The key would already have expired; give a later time."""

    code = "IN_THE_PAST"


class KeyFile(Rejected):
    """This is the key file of the machine's owner; delete the file and restart the platform to replace it."""

    code = "KEY_FILE"


class NoSigningKey(Rejected):
    """The signing key is not the public JWK of an Ed25519, EC or RSA key (2,048 bits or more); give one."""

    code = "NO_SIGNING_KEY"


@router.get("/v1/admin/keys")
async def list_keys(
    here: Here,
    who: Authenticated,
    tenant: Tenant = None,
    principal: PrincipalId | None = None,
    ended: Annotated[bool, Query(description="Include revoked and expired keys")] = False,
    before: Id | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> KeyList:
    """List API keys, newest first, with their last use."""
    of = await permit(here, who, tenant, READ)
    found = await here.keys.page(of, principal=principal, ended=ended, before=before, most=limit)
    return KeyList(
        keys=found,
        next=found[-1].key_id if len(found) == limit else None,
        as_of=here.platform.clock.now(),
    )


@router.post(
    "/v1/admin/keys", status_code=201, responses=raises(NoSuchTenant, GrantsMore, InThePast, NoSigningKey, TooManyKeys)
)
async def create_key(here: Here, who: Authenticated, body: NewKey) -> KeyCreated:
    """Create an API key. It can grant only what its creator holds, and is shown only in this answer."""
    of = await permit(here, who, body.tenant)
    _hold_all(who, scopes_of(body.roles, body.scopes))
    _stand_for(who, of, body.principal)
    if body.expires_at is not None and body.expires_at <= here.platform.clock.now():
        raise InThePast
    expires = _within(who, body.expires_at)
    text, key = mint(of, body.principal, scopes=body.scopes, roles=body.roles, expires=expires)
    key = replace(key, signing_key=_public(body.signing_key))
    await here.directory.put_key(key, name=body.name, by=who.id)
    # The permission is on record already; a crash before this line loses the outcome alone.
    await record(here, who, "identity.key_created", f"key:{key.id}")
    return await _created(here, text, key)


@router.post(
    "/v1/admin/keys/{key_id}/rotate",
    status_code=201,
    responses=raises(NoSuchKey, GrantsMore, KeyFile, KeyEnded, TooManyKeys),
)
async def rotate_key(
    here: Here, who: Authenticated, key_id: KeyId, body: Rotation | None = None, tenant: Tenant = None
) -> KeyCreated:
    """Create a key's successor, with the same principal, roles, scopes and lifetime. The old key stays valid for the
    overlap.
    """
    of, overlap = await permit(here, who, tenant), (body or Rotation()).overlap_seconds
    old = await _administrable(here, of, key_id)
    if old.state != "valid":
        raise KeyEnded
    _hold_all(who, scopes_of(old.roles, old.scopes))
    _stand_for(who, of, old.principal)
    expires = _within(who, _same_lifetime(old, here.platform.clock.now()))
    text, new = mint(of, old.principal, scopes=old.scopes, roles=old.roles, expires=expires)
    before = ApiKey(old.key_id, of, old.principal, frozenset(old.scopes), "")
    await here.directory.rotate_key(before, new, name=old.name, by=who.id, overlap=overlap)
    await record(here, who, "identity.key_rotated", f"key:{key_id}")
    return await _created(here, text, new)


@router.post("/v1/admin/keys/{key_id}/revoke", responses=raises(NoSuchKey, KeyFile))
async def revoke_key(here: Here, who: Authenticated, key_id: KeyId, tenant: Tenant = None) -> KeyShown:
    """Revoke a key, and with it the browsers that it signed in, at once. Safe to repeat."""
    of = await permit(here, who, tenant)
    await _administrable(here, of, key_id)
    await here.directory.revoke_key(of, key_id)
    await record(here, who, "identity.key_revoked", f"key:{key_id}")
    return await _key(here, of, key_id)


async def permit(here: Identity, who: Principal, tenant: str | None, action: str = WRITE) -> str:
    """Ask policy about identities of the caller's tenant or another one, and record it; return the tenant."""
    of = tenant or who.tenant
    await commands.record_access(here, who, action if of == who.tenant else ELSEWHERE, f"tenant:{of}")
    return of


def _hold_all(who: Principal, scopes: frozenset[str]) -> None:
    """Raise GrantsMore if the caller lacks a scope: else an admin could make itself more powerful."""
    missing = sorted(scope for scope in scopes if not grants(who, scope))
    if missing:
        raise GrantsMore(f"you do not hold the scope {', '.join(missing)}, so a key that you create cannot")


def _stand_for(who: Principal, tenant: str, principal: str) -> None:
    """Raise GrantsMore if the caller could not do what the key's principal can: open that principal's sessions."""
    same = (tenant, principal) == (who.tenant, who.id)
    if not same and not (who.may("admin") or (who.may(SESSIONS_READ) and who.may(SESSIONS_WRITE))):
        raise GrantsMore(f"a key of {principal} opens its sessions; that takes sessions:read and sessions:write")


def _within(who: Principal, expires: datetime | None) -> datetime | None:
    """Return the end of a new key: its creator's own at the latest."""
    ends = [end for end in (who.expires, expires) if end is not None]
    return min(ends, default=None)


def _public(given: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the public part of a signing key. Raises NoSigningKey."""
    if given is None:
        return None
    # Imported only where a key signs: joserfc loads slowly.
    from libs.identity import jwt

    key = jwt.public_key(given)
    if key is None:
        raise NoSigningKey
    return dict(key.as_dict(private=False))


def _same_lifetime(old: KeyShown, now: datetime) -> datetime | None:
    return now + (old.expires_at - old.created_at) if old.expires_at is not None else None


async def _administrable(here: Identity, tenant: str, key_id: str) -> KeyShown:
    found = await _key(here, tenant, key_id)
    if found.origin == "file":
        raise KeyFile
    return found


async def _key(here: Identity, tenant: str, key_id: str) -> KeyShown:
    found = await here.keys.find(tenant, key_id)
    if found is None:
        raise NoSuchKey
    return found


async def _created(here: Identity, text: str, key: ApiKey) -> KeyCreated:
    return KeyCreated(key=text, **(await _key(here, key.tenant, key.id)).model_dump())
