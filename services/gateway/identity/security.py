"""The caller of a route: the identity that `credentials` verified, and what policy lets it read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, APIKeyHeader, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from libs.identity import Principal
from services.gateway.identity.credentials import COOKIE, Presented
from services.gateway.identity.reading import CATALOGUE, FILES, MEMORY, SESSIONS, UPLOADS, Reading

bearer = HTTPBearer(auto_error=False, description="An API key: `suma_…`")
header = APIKeyHeader(
    name="X-API-Key", auto_error=False, description="An API key, for clients that cannot send a bearer token"
)
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


def reads(reading: Reading) -> Callable[[Request, Principal], Awaitable[Principal]]:
    """Return a dependency that asks whether the caller may read. Writes ask in their routes."""

    async def asked(request: Request, who: Annotated[Principal, Depends(caller)]) -> Principal:
        await request.app.state.identity.reads.check(who, reading)
        return who

    return asked


async def _chatter(who: Annotated[Principal, Depends(caller)]) -> Principal:
    who.require("chat")
    return who


Authenticated = Annotated[Principal, Depends(caller)]
Credential = Annotated[Presented, Depends(_credential)]
CanChat = Annotated[Principal, Depends(_chatter)]
CanRead = Annotated[Principal, Depends(reads(SESSIONS))]
CanReadFiles = Annotated[Principal, Depends(reads(FILES))]
CanBrowse = Annotated[Principal, Depends(reads(CATALOGUE))]
CanReadMemory = Annotated[Principal, Depends(reads(MEMORY))]
CanUpload = Annotated[Principal, Depends(reads(UPLOADS))]
