"""Authentication: an API key as a bearer token or in X-API-Key, found by its id and compared as a hash (DESIGN §13)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.datastructures import Headers

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import Unavailable
from libs.events import ActionRecorded
from libs.identity import ApiKey, BadKey, Principal
from libs.identity.keys import authenticate, id_of
from services.gateway.api.context import Gateway
from services.gateway.store import GROUP

bearer = HTTPBearer(auto_error=False, description="An API key: `suma_…`")
header = APIKeyHeader(
    name="X-API-Key", auto_error=False, description="An API key, for clients that cannot send a bearer token"
)


async def identified(here: Gateway, headers: Headers) -> Principal:
    """Return the verified identity behind a request's key.

    Raises:
        BadKey: the key is missing or not valid.
        TooMany: its tenant or principal exceeds its rate limit.
        Unavailable: it may be the key of a machine that is still starting.
    """
    text = _presented(headers)
    opening = here.opening()
    stored = await here.store.key(id_of(text))
    if stored is None and opening:
        raise Unavailable(opening[0])
    try:
        who = authenticate(text, stored, now=here.platform.clock.now())
    except BadKey as error:
        if stored is not None:
            await _record(here, stored, error)
        raise
    # Count only authenticated requests: nobody can exhaust a tenant's limit without one of its keys.
    await here.rate_limiter.admit(who)
    return who


def _presented(headers: Headers) -> str:
    """Return the bearer token, or the key's own header. Raises BadKey."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    text = token.strip() if scheme.lower() == "bearer" and token.strip() else headers.get("x-api-key")
    if not text:
        raise BadKey("the request has no API key; send Authorization: Bearer suma_…")
    return text


async def caller(
    request: Request,
    token: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    key: Annotated[str | None, Depends(header)],
) -> Principal:
    """Return the identity that the middleware verified; `token` and `key` declare the credentials in the contract."""
    return cast("Principal", request.state.caller)


def holding(scope: str) -> Callable[[Principal], Awaitable[Principal]]:
    """Return a dependency that requires a scope for reading. Writes ask policy instead, which records the decision."""

    async def held(who: Annotated[Principal, Depends(caller)]) -> Principal:
        who.require(scope)
        return who

    return held


async def _record(here: Gateway, key: ApiKey, error: BadKey) -> None:
    if not here.refusals.fresh(key.id, here.platform.clock.now().timestamp()):
        return
    cause = Cause.request(GROUP, id=ids.new(), tenant=key.tenant, key=f"{key.tenant}:{key.principal}")
    refusal = ActionRecorded(
        action="identity.authenticate",
        phase="decision",
        verdict="deny",
        principal=key.principal,
        resource=f"key:{key.id}",
        rule=error.code,
    )
    await here.platform.writer.apply(Changeset(cause).emit(refusal))


Authenticated = Annotated[Principal, Depends(caller)]
CanChat = Annotated[Principal, Depends(holding("chat"))]
CanReadFiles = Annotated[Principal, Depends(holding("files:read"))]
