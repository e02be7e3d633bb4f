"""The door: no token, no further. It also bounds and counts; nothing of a stranger's body is read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from libs.clients.calls import USER
from libs.errors import Denied, Rejected, SumaError
from libs.identity import internal
from libs.runtime.platform import Platform
from libs.runtime.problems import answer
from libs.telemetry import metrics
from services.memory_service.store import GROUP

BODY_MOST = 512 * 1024
OPEN = "/healthz"


class BodyTooLarge(Rejected):
    """The request's body is too large."""

    code = "BODY_TOO_LARGE"


class PersonMissing(Denied):
    """Memories belong to a person, and the calling service named none."""

    code = "PERSON_MISSING"


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a service calls. Without a session: the whole tenant's."""

    tenant: str
    session: str | None
    user: str | None

    def named(self) -> str:
        """The person. Raises PersonMissing."""
        if not self.user:
            raise PersonMissing
        return self.user


class Door:
    """ASGI middleware; the caller stands in the request's state behind it."""

    def __init__(self, app: ASGIApp, platform: Platform) -> None:
        self._app, self._platform = app, platform

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, statuses = time.perf_counter(), [500]

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            await send(message)

        try:
            await self._through(scope, receive, noting)
        finally:
            route = _route(scope)
            metrics.memory_requests.labels(route, str(statuses[-1])).inc()
            metrics.memory_seconds.labels(route).observe(time.perf_counter() - started)

    async def _through(self, scope: Scope, receive: Receive, send: Send) -> None:
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
        """Raises BadToken."""
        token = headers.get(internal.HEADER, "")
        claims = internal.verify(self._platform.keys, token, audience=GROUP, now=self._platform.clock.now())
        return Caller(claims.tenant, claims.session, headers.get(USER))


async def _body(receive: Receive) -> bytes:
    """The whole body, bounded before it is parsed.

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

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


def _route(scope: Scope) -> str:
    """The route's template: a label that no caller can make up."""
    return getattr(scope.get("route"), "path", "other")
