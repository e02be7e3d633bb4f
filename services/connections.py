"""HTTP connections with limits: the size and duration of a request, the time an answer may stay unread, and their
number.

uvicorn's httptools protocol limits none of these (its `limit_concurrency` counts requests, and h11's size limit does
not apply to httptools). Without limits one client without a key could hold every connection, or fill the memory with
one header.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from libs.telemetry import logger

log = logger("connections")

CONNECTIONS_MOST = 16_384
EARNED = 8
"""Framing bytes that one body byte allows: a chunk of one byte has five, so no valid framing uses them up."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one connection."""

    head_bytes: int = 64 * 1024
    """Request line and headers; also the framing and the trailers of a chunked body."""
    head_seconds: float = 10.0
    """From the opening of the connection, or the first byte of a later request, to the end of the headers."""
    body_seconds: float = 30.0
    """From the end of the headers to the end of the body; again as long, if it keeps arriving at `body_rate`."""
    body_rate: int = 16 * 1024
    """Bytes per second at which a large body, such as a file, must arrive."""
    send_seconds: float = 30.0
    """How long a client may leave an answer unread; a stream, a download and a WebSocket have no other limit of it."""
    message_bytes: int = 4096
    """Maximum of a WebSocket message from a client: the gateway only sends on them."""


class Connections:
    """The open connections of a process, over all its ports.

    A connection is idle until its whole request has arrived. At the limit, a new connection replaces the one that has
    been idle longest, so clients that open connections and send nothing block no others.
    """

    def __init__(self, most: int | None = None) -> None:
        # Half of the file descriptors: the database, the disk and child processes need the rest.
        self._most = most or min(CONNECTIONS_MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
        self._open: set[Bounded] = set()
        self._idle: dict[Bounded, None] = {}

    def admit(self, connection: Bounded) -> bool:
        """Add a connection; return False if the limit is reached and none is idle."""
        if len(self._open) >= self._most:
            oldest = next(iter(self._idle), None)
            if oldest is None:
                return False
            self.remove(oldest)
            oldest.transport.abort()
        self._open.add(connection)
        self._idle[connection] = None
        return True

    def at_work(self, connection: Bounded) -> None:
        """Mark a connection as busy: its request has arrived."""
        self._idle.pop(connection, None)

    def idle(self, connection: Bounded) -> None:
        """Mark a connection as idle: its answer has been sent."""
        if connection in self._open:
            self._idle[connection] = None

    def remove(self, connection: Bounded) -> None:
        self._open.discard(connection)
        self._idle.pop(connection, None)


class Bounded(HttpToolsProtocol):
    """uvicorn's protocol with `Bounds`. Exceeding one closes the connection."""

    def __init__(self, *args: Any, bounds: Bounds, among: Connections, **named: Any) -> None:
        super().__init__(*args, **named)
        self._bounds, self._among = bounds, among
        self._spare = bounds.head_bytes
        """Bytes that may still arrive before the message makes progress: by body bytes, or by its end."""
        self._body = 0
        self._ended = False
        """Whether a message ended in the data that is being read."""
        self._in_body = False
        self._arrived = 0
        """Bytes of the body since its time limit was last set."""
        self._arrival: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self.ws_protocol_class = self._websocket  # type: ignore[assignment]

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._among.admit(self):
            self._await(self._bounds.head_seconds)
        else:
            self._refuse(503, "This server is at its connection limit; try again.")

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._among.remove(self)
        self._stop_waiting()
        self._read()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._arrival is None and not self._answering():
            # Empty lines alone begin no message, but they have cancelled uvicorn's keep-alive timer.
            self._await(self._bounds.head_seconds)
        self._body, self._ended = 0, False
        super().data_received(data)
        earned = self._spare + (EARNED + 1) * self._body - len(data)
        self._spare = self._bounds.head_bytes if self._ended else min(self._bounds.head_bytes, earned)
        if self._spare < 0 and not self.transport.is_closing():
            self._too_long()

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await(self._bounds.head_seconds)

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        # Trailers would be added to the headers of the request that is being answered.
        if not self._in_body:
            super().on_header(name, value)

    @override
    def on_headers_complete(self) -> None:
        # One read may contain all of a long head: refuse it before the application answers.
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > self._bounds.head_bytes:
            self._too_long()
            raise ValueError("the headers are too long")
        super().on_headers_complete()
        self._in_body = True
        self._await(self._bounds.body_seconds)

    @override
    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        self._arrived += len(body)
        super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._ended, self._in_body = True, False
        if self._answering():
            self._stop_waiting()
            self._among.at_work(self)
        else:
            # The request was refused before its end arrived, which has cancelled uvicorn's keep-alive timer.
            self._await(self._bounds.head_seconds)

    @override
    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._answering():
            self._among.idle(self)

    @override
    def send_400_response(self, msg: str) -> None:
        if not self.transport.is_closing():
            super().send_400_response(msg)

    @override
    def handle_websocket_upgrade(self) -> None:
        if self._answering():
            # The answer to an earlier request would be written between the frames.
            self.transport.close()
            return
        self._stop_waiting()
        self._among.at_work(self)
        super().handle_websocket_upgrade()

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self._bounds.send_seconds, self._drop)

    @override
    def resume_writing(self) -> None:
        self._read()
        super().resume_writing()

    def _drop(self) -> None:
        log.warning("dropped slow client", path=self.scope["path"])
        self.transport.abort()

    def _websocket(self, **named: Any) -> asyncio.Protocol:
        """Return the protocol that takes over this connection."""
        from services.websocket import BoundedWebSocket

        lost = partial(self._among.remove, self)
        return BoundedWebSocket(send_seconds=self._bounds.send_seconds, lost=lost, **named)

    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _await(self, seconds: float) -> None:
        """Limit the time until the head, or the body, has arrived."""
        self._stop_waiting()
        self._arrived = 0
        self._arrival = self.loop.call_later(seconds, self._late, seconds)

    def _stop_waiting(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None

    def _late(self, seconds: float) -> None:
        if self.flow.read_paused or (self._in_body and self._arrived >= self._bounds.body_rate * seconds):
            # It arrives fast enough, or reading was paused on our side: a previous request is being answered, or the
            # application is slow.
            self._await(seconds)
        else:
            self._refuse(408, "The request did not arrive in time.")

    def _too_long(self) -> None:
        self._refuse(431, f"Request line and headers exceed {self._bounds.head_bytes} bytes; send less.")

    def _refuse(self, status: int, message: str) -> None:
        """Close the connection, with an answer if none has begun."""
        begun = self._answering() and (self.cycle.response_started or not self._in_body)
        if not begun:
            self.transport.write(_answer(status, message))
        self.transport.close()

    def _read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


def bounded(bounds: Bounds, among: Connections) -> Callable[..., asyncio.Protocol]:
    """Return the protocol factory of one server."""
    return lambda *args, **named: Bounded(*args, bounds=bounds, among=among, **named)


def _answer(status: int, message: str) -> bytes:
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
        f"content-length: {len(message)}\r\nconnection: close\r\n\r\n"
    )
    return (head + message).encode()
