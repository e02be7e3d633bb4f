"""Rate limits as clients see them: the route that a request counts for, and the standard headers.

`RateLimit` and `RateLimit-Policy` follow draft-ietf-httpapi-ratelimit-headers-10: structured fields with an item for
each limit: the quota `q` in a window of `w` seconds, `r` requests left, `t` seconds until the window ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Scope, Send

from libs.cache import LimitState
from services.gateway.http.admission import POLICIES
from services.gateway.http.middleware.request_guard import STARTS

NO_ROUTE = "no route"


def route_of(scope: Scope) -> str:
    """Return the method and the path's template, such as `GET /v1/sessions/{session_id}`; one name for all others."""
    method = scope.get("method", "WS")
    for route in scope["app"].routes:
        if method in (getattr(route, "methods", None) or ("WS",)) and route.path_regex.match(scope["path"]):
            return f"{method} {route.path}"
    return NO_ROUTE


def rate_headers(states: Sequence[LimitState]) -> dict[str, str]:
    """Return the headers of these limits."""
    return {
        "RateLimit-Policy": ", ".join(f'"{_name(s)}";q={s.limit.most};w={s.limit.seconds:.0f}' for s in states),
        "RateLimit": ", ".join(f'"{_name(s)}";r={s.left};t={math.ceil(s.reset)}' for s in states),
    }


def with_rates(send: Send, states: Sequence[LimitState]) -> Send:
    async def send_with_rates(message: Message) -> None:
        if states and message["type"] in STARTS:
            MutableHeaders(scope=message).update(rate_headers(states))
        await send(message)

    return send_with_rates


def _name(state: LimitState) -> str:
    return POLICIES[state.limit.code]
