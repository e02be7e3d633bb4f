"""Sign-in of browsers: a key, or a one-time code that it requested, is traded for a cookie (architecture.md 14).

The code and the key travel as the bearer token, like every other credential; no other site can send that. The cookie
names a web session, stored as a hash and bound to the key: it ends with the key, with the sign-out, or at its expiry.
"""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request, Response

from libs.changes import Changeset
from libs.errors import Denied
from libs.identity import ApiKey, Principal
from libs.identity.keys import digest, one_time
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.errors import raises
from services.gateway.http.urls import base
from services.gateway.identity.access import grants
from services.gateway.identity.claims import GRANTABLE
from services.gateway.identity.context import Here, Identity
from services.gateway.identity.credentials import SIGN_IN, cookie_name
from services.gateway.identity.models import Me, SignedInWith, SignInCode, SignsIn
from services.gateway.identity.security import Authenticated, Credential

router = APIRouter(route_class=StrictRoute, tags=["identity"])


class KeyNeeded(Denied):
    """Only an API key, or what depends on one, can do this; send an API key as the bearer token."""

    code = "KEY_NEEDED"


def key_id_of(who: Principal, *kinds: str) -> str:
    """Return the id of the caller's key. Raises KeyNeeded for other kinds of credentials."""
    kind, _, id = who.credential.partition(":")
    if kind not in kinds:
        raise KeyNeeded
    return id


@router.get("/v1/me")
async def me(here: Here, who: Authenticated) -> Me:
    """Return the caller: principal, tenant, roles, scopes, and when its credential expires."""
    return _me(who)


@router.post("/v1/signin/code", status_code=201, responses=raises(KeyNeeded))
async def new_code(request: Request, here: Here, who: Authenticated) -> SignInCode:
    """Create a one-time code (60 s) that signs a browser in with this key, and the link that carries it."""
    key_id = key_id_of(who, "key")
    text = one_time("code")
    seconds = here.settings.signin_seconds
    expires = await here.directory.open_code(who.tenant, key_id, digest(text), seconds=seconds)
    await record(here, who, "identity.signin_code", f"key:{key_id}")
    return SignInCode(code=text, url=f"{_base(here, request)}/?code={text}", expires_at=expires)


@router.get(SIGN_IN, responses=raises(KeyNeeded))
async def signs_in(request: Request, here: Here, who: Authenticated) -> SignsIn:
    """Return whom a one-time code or an API key, sent as the bearer token, would sign in, and instead of whom. It uses
    nothing up.
    """
    key_id_of(who, "key", "code")
    former = await _signed_in(here, request)
    other = former is not None and (former.tenant, former.principal) != (who.tenant, who.id)
    return SignsIn(tenant=who.tenant, principal=who.id, instead_of=former.principal if former and other else None)


@router.post(SIGN_IN, responses=raises(KeyNeeded))
async def sign_in(request: Request, response: Response, here: Here, who: Authenticated, credential: Credential) -> Me:
    """Trade a one-time code or an API key, sent as the bearer token, for the cookie of a web session. A code counts
    once. The web session that the browser had ends.
    """
    key_id = key_id_of(who, "key", "code")
    text, seconds = one_time("web"), here.settings.web_hours * 3600
    code = credential.lookup if credential.kind == "code" else None
    expires = await here.directory.sign_in(who.tenant, key_id, digest(text), code=code, seconds=seconds)
    # After the new session exists: a crash in between leaves the browser signed in as before.
    if (former := await _signed_in(here, request)) is not None:
        await here.directory.sign_out(former.tenant, digest(request.cookies[_cookie(here, request)]))
    await record(here, who, "identity.signin", f"key:{key_id}")
    _set_cookie(here, request, response, text, int(seconds))
    ends = min(expires, who.expires) if who.expires and code is None else expires
    return _me(replace(who, credential=f"web:{key_id}", expires=ends))


@router.post("/v1/signout", status_code=204)
async def sign_out(
    request: Request, response: Response, here: Here, who: Authenticated, credential: Credential
) -> None:
    """End the web session of the cookie, and delete the cookie and cached reads. Safe to repeat."""
    if credential.kind == "web":
        await here.directory.sign_out(who.tenant, credential.lookup)
        await record(here, who, "identity.signout", who.credential.replace("web:", "key:"))
    _set_cookie(here, request, response, "", 0)
    response.headers["Clear-Site-Data"] = '"cache"'


async def record(here: Identity, who: Principal, action: str, resource: str) -> None:
    """Record the outcome of a change of identity."""
    done = commands.outcome(who, action, "succeeded", resource)
    await here.platform.writer.apply(Changeset(commands.cause_of(who)).emit(done))


async def _signed_in(here: Identity, request: Request) -> ApiKey | None:
    """Return the valid key behind the request's cookie."""
    cookie = request.cookies.get(_cookie(here, request))
    stored = await here.keys.key("web", digest(cookie)) if cookie else None
    if stored is None:
        return None
    try:
        stored.admitted("web", here.platform.clock.now())
    except Denied:
        return None
    return stored


def _me(who: Principal) -> Me:
    kind, _, id = who.credential.partition(":")
    return Me(
        tenant=who.tenant,
        principal=who.id,
        roles=sorted(who.roles),
        scopes=sorted(who.scopes),
        grantable=sorted(scope for scope in GRANTABLE if grants(who, scope)),
        signed_in_with=SignedInWith(kind),
        key_id=id,
        expires_at=who.expires,
    )


def _base(here: Identity, request: Request) -> str:
    return base(request.url.scheme, request.headers["host"], here.settings.public_url)


def _cookie(here: Identity, request: Request) -> str:
    return cookie_name(_base(here, request))


def _set_cookie(here: Identity, request: Request, response: Response, text: str, seconds: int) -> None:
    secure = _base(here, request).startswith("https:")
    name = _cookie(here, request)
    response.set_cookie(name, text, max_age=seconds, path="/", secure=secure, httponly=True, samesite="strict")
