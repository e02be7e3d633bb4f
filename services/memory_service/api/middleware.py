"""Middleware that verifies the internal token, bounds the body and counts requests. No body is read without a token."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from libs.errors import Denied, Rejected, SumaError
from libs.identity import internal
from libs.runtime import Platform
from libs.runtime.problem_details import answer
from libs.telemetry import metrics
from services.memory_service.store import GROUP

BODY_MOST = 512 * 1024
OPEN = "/healthz"


class BodyTooLarge(Rejected):
    """The request's body is over 512 KiB; send less."""

    code = "BODY_TOO_LARGE"


class PersonMissing(Denied):
    """The request names no person; send the user header."""

    code = "PERSON_MISSING"


@dataclass(frozen=True, slots=True)
class Caller:
    """The tenant, session and person of a call. Without a session, it concerns the whole tenant."""

    tenant: str
    session: str | None
    user: str | None

    def named(self) -> str:
        """Return the person. Raises PersonMissing."""
        if not self.user:
            raise PersonMissing
        return self.user


class AuthMiddleware:
    """ASGI middleware that puts the caller into the request's state."""

    def __init__(self, app: ASGIApp, platform: Platform) -> None:
        self._app, self._platform = app, platform

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, statuses = time.perf_counter(), [500]

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            await send(message)

        try:
            await self._authenticate(scope, receive, send_counted)
        finally:
            route = _route(scope)
            metrics.memory_requests.labels(route, str(statuses[-1])).inc()
            metrics.memory_seconds.labels(route).observe(time.perf_counter() - started)

    async def _authenticate(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == OPEN:
            await self._app(scope, receive, send)
            return
        try:
            scope.setdefault("state", {})["caller"] = self._caller(Headers(scope=scope))
            body = await _body(receive)
        except SumaError as error:
            await answer(error)(scope, receive, send)
            return
        await self._app(scope, _replayed(body, receive), send)

    def _caller(self, headers: Mapping[str, str]) -> Caller:
        """Return the caller behind the internal token. Raises BadToken."""
        token = headers.get(internal.HEADER, "")
        claims = internal.verify(self._platform.keys, token, audience=GROUP, now=self._platform.clock.now())
        return Caller(claims.tenant, claims.session, claims.user)


async def _body(receive: Receive) -> bytes:
    """Read the whole body; bound its size before parsing.

    Raises:
        BodyTooLarge: it exceeds 512 KiB.
    """
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > BODY_MOST:
            raise BodyTooLarge
    return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


def _route(scope: Scope) -> str:
    """Return the route's template, a metric label that callers cannot influence."""
    return getattr(scope.get("route"), "path", "other")
