"""Refusals of identified callers (403): each is recorded, unless the route has done so with its decision."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from fastapi import Request, Response

from libs.errors import Denied
from libs.identity import Principal
from libs.runtime.problem_details import answer
from services.gateway.http.refusal_records import Refusal
from services.gateway.http.refusals import RefusalLog

AUTHORIZE = "identity.authorize"


def handler(refusals: RefusalLog) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return the exception handler of denials."""

    async def denied(request: Request, error: Exception) -> Response:
        assert isinstance(error, Denied)
        await note(refusals, request, error)
        return answer(error)

    return denied


async def note(refusals: RefusalLog, request: Request, error: Denied) -> None:
    """Record a denial, unless its decision is recorded."""
    who = cast("Principal", request.state.caller)
    if not error.recorded:
        await refusals.note(Refusal(who.tenant, who.id, AUTHORIZE, _route(request), error.code))


def _route(request: Request) -> str:
    """Return the route's template: the ids in a path are the caller's own choice."""
    path = getattr(request.scope.get("route"), "path", "")
    return f"{request.scope.get('method', 'WEBSOCKET')} {path}"
