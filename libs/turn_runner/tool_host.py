"""The ToolHost: an HTTP server on a unix socket in a container's folder, which takes POST /tool and POST /model.

It decides who may ask, and nothing else: what is asked becomes a plan. One request a connection, few connections, and a
bound on each size and wait, because the other side is not trusted.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import h11
import orjson

from libs.errors import Denied, SumaError
from libs.sandbox.quota import owner
from libs.telemetry import logger
from libs.turn_runner.messages import BODY_MOST, REQUESTS, BadBody, Calls, Thought, request

SOCKET = "tool.sock"
CONNECTIONS_MOST, HEAD_MOST, REQUEST_SECONDS = 8, 16 * 1024, 10.0
"""Open connections of one container, bytes of a request's head, and how long a request may take to arrive."""
PIECE = 16 * 1024
STATUS: Mapping[str, int] = {"BAD_BODY": 422, "BUSY": 409, "TOO_MANY_THOUGHTS": 429}

log = logger("turns")
Reply = Mapping[str, Any]


class NotYours(Denied):
    """The token does not permit this."""

    code = "TOKEN_REFUSED"


@dataclass(frozen=True)
class Ticket:
    """The permission of a container: these tools, in this turn of this agent, until a deadline. It ends with the turn.

    Not signed: the process that made it is the only one that takes it, and forgets it at the end.
    """

    turn: str
    agent: str
    tools: frozenset[str]
    until: float
    """By `time.monotonic`."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def check(self, token: str, tools: Collection[str]) -> None:
        """Refuse what the token does not permit, with `NotYours`."""
        if not hmac.compare_digest(token.encode(errors="replace"), self.token.encode()):
            raise NotYours("the token is not this turn's")
        if time.monotonic() >= self.until:
            raise NotYours("the token has expired")
        if others := sorted(set(tools) - self.tools):
            raise NotYours(f"this turn's tools do not include {', '.join(others[:3])}")


class ToolHost:
    """Serves one container. `take` returns when what was asked is done."""

    def __init__(
        self,
        ticket: Ticket,
        take: Callable[[Calls | Thought], Awaitable[Reply]],
        *,
        seconds: float = REQUEST_SECONDS,
    ) -> None:
        self._ticket, self._take, self._seconds = ticket, take, seconds
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self, folder: Path) -> None:
        self._server = await asyncio.start_unix_server(self._connected, folder / SOCKET, limit=PIECE)
        await asyncio.to_thread(os.chown, folder / SOCKET, *owner())

    async def close(self) -> None:
        """End the token: nothing listens any more, and what waits is cut off."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._writers) >= CONNECTIONS_MOST:
            writer.close()
            return
        self._writers.add(writer)
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_MOST)
        try:
            with suppress(OSError, RuntimeError):
                status, body = await self._answered(connection, reader)
                await _send(connection, writer, status, body)
        except (h11.RemoteProtocolError, TimeoutError):
            # What it sent is no request; it gets no answer.
            log.info("dropped a container's connection", turn=self._ticket.turn)
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answered(self, connection: h11.Connection, reader: asyncio.StreamReader) -> tuple[int, Reply]:
        try:
            async with asyncio.timeout(self._seconds):
                head = await _event(connection, reader)
                if not isinstance(head, h11.Request):
                    raise h11.RemoteProtocolError("no request")
                path = head.target.decode("ascii", "replace")
                if path not in REQUESTS or head.method != b"POST":
                    return 404, _problem("NOT_FOUND", f"POST one of {', '.join(REQUESTS)}")
                body = await _body(connection, reader)
            # Before the body is parsed: only this turn's container is worth that.
            self._ticket.check(_token(head), ())
            asked = request(path, body)
            self._ticket.check(_token(head), [call.tool for call in asked.calls] if isinstance(asked, Calls) else ())
            return 200, await self._take(asked)
        except SumaError as error:
            log.info("refused a container's request", turn=self._ticket.turn, code=error.code, reason=str(error))
            return STATUS.get(error.code, 403), _problem(error.code, str(error))


async def _event(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Event:
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await reader.read(PIECE))
    if event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
        raise h11.RemoteProtocolError("the request ended early")
    return event  # type: ignore[return-value]


async def _body(connection: h11.Connection, reader: asyncio.StreamReader) -> bytes:
    parts, size = [], 0
    while isinstance(event := await _event(connection, reader), h11.Data):
        size += len(event.data)
        if size > BODY_MOST:
            raise BadBody(f"a body has at most {BODY_MOST} bytes")
        parts.append(bytes(event.data))
    return b"".join(parts)


def _token(head: h11.Request) -> str:
    given = next((value for name, value in head.headers if name == b"authorization"), b"")
    return given.decode("latin-1").removeprefix("Bearer ")


def _problem(code: str, detail: str) -> Reply:
    return {"code": code, "detail": detail}


async def _send(connection: h11.Connection, writer: asyncio.StreamWriter, status: int, body: Reply) -> None:
    raw = orjson.dumps(body)
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(raw))), ("Connection", "close")]
    head = h11.Response(status_code=status, headers=headers, reason=HTTPStatus(status).phrase)
    for event in (head, h11.Data(data=raw), h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")
    async with asyncio.timeout(REQUEST_SECONDS):
        await writer.drain()
