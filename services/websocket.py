"""WebSocket connections with limits. This module loads with the first WebSocket of a process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from typing_extensions import override
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from libs.telemetry import logger

log = logger("connections")


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """uvicorn's protocol without compression, and with a limit on the time that a client may leave data unread."""

    def __init__(self, *args: Any, send_seconds: float, lost: Callable[[], None], **named: Any) -> None:
        super().__init__(*args, **named)
        self._send_seconds, self._lost = send_seconds, lost
        self._unread: asyncio.TimerHandle | None = None

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._lost()
        self._read()
        super().connection_lost(exc)

    @override
    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            # uvicorn reports a refusal before the handshake as a fault of the application.
            self.handshake_complete = True

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self._send_seconds, self._drop)

    @override
    def resume_writing(self) -> None:
        self._read()
        super().resume_writing()

    def _drop(self) -> None:
        log.warning("dropped slow client", path=self.scope["path"])
        self.transport.abort()

    def _read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
