"""The caller of a route: the identity that `credentials` verified, and the scopes that reading needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, APIKeyHeader, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from libs.identity import Principal, ScopeMissing
from libs.identity.roles import SESSIONS_READ
from services.gateway.identity.credentials import COOKIE, Presented

bearer = HTTPBearer(auto_error=False, description="An API key: `suma_…`")
header = APIKeyHeader(
    name="X-API-Key", auto_error=False, description="An API key, for clients that cannot send a bearer token"
)
READING = ("chat", SESSIONS_READ)
cookie = APIKeyCookie(
    name=COOKIE,
    auto_error=False,
    description="A signed-in browser. Requests that write need a same-origin `Origin` and `application/json`",
)


async def caller(
    request: Request,
    token: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    key: Annotated[str | None, Depends(header)],
    web: Annotated[str | None, Depends(cookie)],
) -> Principal:
    """Return the identity that the middleware verified; the other arguments declare the credentials in the contract."""
    return cast("Principal", request.state.caller)


async def _credential(request: Request) -> Presented:
    return cast("Presented", request.state.credential)


def holding(*scopes: str) -> Callable[[Principal], Awaitable[Principal]]:
    """Return a dependency that requires one of the scopes for reading. Writes ask policy instead, which records the
    decision.
    """

    async def held(who: Annotated[Principal, Depends(caller)]) -> Principal:
        require(who, scopes)
        return who

    return held


def require(who: Principal, scopes: Sequence[str]) -> None:
    """Raise ScopeMissing unless the caller has one of the scopes."""
    if not any(who.may(scope) for scope in scopes):
        raise ScopeMissing(scopes[0])


Authenticated = Annotated[Principal, Depends(caller)]
Credential = Annotated[Presented, Depends(_credential)]
CanChat = Annotated[Principal, Depends(holding("chat"))]
CanRead = Annotated[Principal, Depends(holding(*READING))]
CanReadFiles = Annotated[Principal, Depends(holding("files:read"))]
