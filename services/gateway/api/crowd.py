"""Every request takes a seat before it is read, and leaves it when it is answered or goes on as a stream.

Plain ASGI, right behind the doors. Once the process drains nobody is let in any more; whoever asks how we are is always
answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from libs.runtime.problems import answer, document
from services.gateway.limits import Seat, TooMany

if TYPE_CHECKING:
    from services.gateway.api.gateway import Gateway

OPEN = frozenset(("/healthz", "/readyz", "/metrics"))
SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
STREAM = b"text/event-stream"
AGAIN_SECONDS = 2
"""After which a client finds another replica, or this one started anew."""


class Seats:
    def __init__(self, app: ASGIApp, gateway: Gateway) -> None:
        self._app, self._gateway, self._crowd = app, gateway, gateway.crowd

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        if self._gateway.drain.closed:
            await _leaving()(scope, receive, send)
            return
        try:
            seat = self._crowd.enter(writes=scope["method"] not in SAFE)
        except TooMany as full:
            await answer(full)(scope, receive, send)
            return
        scope.setdefault("state", {})["seat"] = seat
        try:
            await self._app(scope, self._weighed(seat, receive), self._released(seat, send))
        finally:
            self._crowd.leave(seat)

    def _weighed(self, seat: Seat, receive: Receive) -> Receive:
        async def take() -> Message:
            message = await receive()
            if message["type"] == "http.request" and seat.taken:
                self._crowd.carry(seat, len(message.get("body", b"")))
            return message

        return take

    def _released(self, seat: Seat, send: Send) -> Send:
        async def give(message: Message) -> None:
            if message["type"] == "http.response.start":
                if any(name == b"content-type" and value.startswith(STREAM) for name, value in message["headers"]):
                    self._crowd.leave(seat)
                elif self._gateway.drain.closed:
                    message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        return give


def _leaving() -> ASGIApp:
    headers = {"Retry-After": str(AGAIN_SECONDS), "Connection": "close"}
    return document(503, "DRAINING", "This server is stopping; try again.", headers=headers)
