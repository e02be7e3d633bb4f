"""Admission of requests: verify the key, read the body, then take a slot until the response or stream starts.

Plain ASGI, behind RequestGuard. Without a valid key no body is read. A slow client holds no slot while it sends its
body; a file is read by its route, under a limit of its own. While the process drains, new requests get 503; health and
the documentation page are always served.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from libs.errors import SumaError
from libs.identity import BadSignature
from libs.runtime.problem_details import answer, document
from services.gateway.http.admission import ConcurrencyLimiter, Identified, RateLimiter, Slot, TooMany
from services.gateway.http.middleware.rate_limits import route_of, with_rates
from services.gateway.http.middleware.request_guard import body_limit, crowded, sends_file, too_large
from services.gateway.http.urls import MCP, METADATA, WELL_KNOWN
from services.gateway.http.values import SDK_VALUES_MOST, VALUES_MOST, is_crowded
from services.gateway.settings import Settings

OPEN = frozenset(("/healthz", "/readyz", "/metrics", "/docs", "/openapi.json", METADATA, f"{METADATA}{MCP}"))
SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
STREAM = b"text/event-stream"
AGAIN_SECONDS = 2
"""Seconds after which a client reaches another replica, or this one restarted."""


class ConcurrencyMiddleware:
    """Middleware that identifies the caller and admits a bounded number of requests at once.

    `verify` returns the identity behind a request, or raises what refuses it. `public` paths need no credentials,
    `inline` ones may hold files in their JSON, and below `keeps_body` a protocol's SDK answers, whose frames hold the
    body as long as the stream lasts.
    """

    def __init__(
        self,
        app: ASGIApp,
        verify: Callable[[Scope], Awaitable[Identified]],
        rates: RateLimiter,
        limiter: ConcurrencyLimiter,
        settings: Settings,
        public: frozenset[str],
        inline: frozenset[str],
        keeps_body: tuple[str, ...],
    ) -> None:
        self._app, self._verify, self._rates, self._limiter = app, verify, rates, limiter
        self._settings = settings
        self._public, self._inline = public, inline
        self._keeps_body = tuple(f"{path}/" for path in keeps_body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in self._public or scope["path"].startswith(WELL_KNOWN):
            await self._app(scope, receive, send)
        elif self._limiter.closed:
            await _draining()(scope, receive, send)
        else:
            await self._until_the_stop(scope, receive, send)

    async def _until_the_stop(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond, also to a request that the server cancels as it stops."""
        begun = False

        async def send_begun(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._identify(scope, receive, send_begun)
        except asyncio.CancelledError:
            if begun or not self._limiter.closed:
                raise
            await _draining()(scope, receive, send)

    async def _identify(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            found = await self._verify(scope)
            # Count only authenticated requests: nobody can exhaust a tenant's limit without one of its keys.
            states = await self._rates.admit(found.who, route_of(scope))
        except SumaError as refused:
            send = with_rates(send, refused.states if isinstance(refused, TooMany) else ())
            await answer(refused)(scope, receive, send)
            return
        send = with_rates(send, states)
        scope.setdefault("state", {}).update(caller=found.who, credential=found.credential)
        if scope["type"] == "websocket":
            # It has no body, and streams have a limit of their own.
            await self._app(scope, receive, send)
        else:
            await self._admit(found, scope, receive, send)

    async def _admit(self, found: Identified, scope: Scope, receive: Receive, send: Send) -> None:
        slot = Slot(
            found.who.tenant, sends_file=sends_file(scope), keeps_body=f"{scope['path']}/".startswith(self._keeps_body)
        )
        self._limiter.arrive(slot)
        # A route calls this before it waits for something that has a limit of its own, such as a stream of events.
        scope["state"]["release"] = partial(self._limiter.release, slot)
        try:
            app, body = await self._read_body(slot, scope, receive)
            if app is not None and found.signed is not None and (slot.sends_file or not found.signed.covers(body)):
                # A file is stored piece by piece, before its end could be compared.
                app = answer(BadSignature("the signature is for another body, or for a file, which cannot be signed"))
            if app is not None:
                given = receive if slot.sends_file else _replayed(body, receive)
                # A stream may last for hours, and must not hold the body that began it.
                del body
                await app(scope, given, self._releasing(slot, send))
        finally:
            self._limiter.leave(slot)

    async def _read_body(self, slot: Slot, scope: Scope, receive: Receive) -> tuple[ASGIApp | None, bytes]:
        """Return the application to respond with, and the body; None if the client disconnected."""
        body, most = bytearray(), body_limit(scope, self._settings, self._inline)
        try:
            # The route takes a file piece by piece.
            while not slot.sends_file and (message := await receive())["type"] == "http.request":
                piece = message.get("body", b"")
                if len(body) + len(piece) > most:
                    return too_large(most), b""
                self._limiter.carry(slot, len(piece))
                body += piece
                if not message.get("more_body", False):
                    break
            else:
                if not slot.sends_file:
                    return None, b""
            self._limiter.enter(slot, writes=scope["method"] not in SAFE)
        except SumaError as full:
            return answer(full), b""
        # Before anything parses it: a megabyte of `{}` would take a hundred in memory, and seconds to validate.
        values = SDK_VALUES_MOST if slot.keeps_body else VALUES_MOST
        if is_crowded(body, values):
            return crowded(values), b""
        return self._app, bytes(body)

    def _releasing(self, slot: Slot, send: Send) -> Send:
        async def send_and_release(message: Message) -> None:
            if message["type"] == "http.response.start":
                if any(name == b"content-type" and value.startswith(STREAM) for name, value in message["headers"]):
                    self._limiter.release(slot)
                elif self._limiter.closed:
                    message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        return send_and_release


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return the body as one message, then all later messages."""
    left = [body]

    async def receive_body() -> Message:
        if not left:
            return await receive()
        return {"type": "http.request", "body": left.pop(), "more_body": False}

    return receive_body


def _draining() -> ASGIApp:
    headers = {"Retry-After": str(AGAIN_SECONDS), "Connection": "close"}
    return document(503, "DRAINING", "This server is stopping; retry in a few seconds.", headers=headers)
