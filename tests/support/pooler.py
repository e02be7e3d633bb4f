"""A transaction pooler: a socket that gives one connection of Postgres to many clients, a transaction at a time.

Like PgBouncer with `max_prepared_statements`, it keeps the prepared statements of its clients apart, by another name
each. Unlike PgBouncer it has one connection, so that whatever a transaction leaves behind reaches the next client.
"""

from __future__ import annotations

import asyncio
import itertools
import struct
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from libs.database import Dsns

NAME = ".s.PGSQL.5432"
READY, IDLE, TERMINATE = b"Z", b"I", b"X"
"""Messages of the protocol, and the state between two transactions (PostgreSQL 18, 54.7)."""


@dataclass
class Pooler:
    """Where clients connect as the application, and how many did."""

    dsns: Dsns
    clients: itertools.count[int] = field(default_factory=itertools.count)
    transactions: int = 0


@asynccontextmanager
async def pooled(where: Dsns) -> AsyncIterator[Pooler]:
    """Yield a pooler in front of the application's DSN, which must name a Unix socket's directory."""
    directory = parse_qs(urlsplit(where.app).query)["host"][0]
    with tempfile.TemporaryDirectory(prefix="suma-pooler-") as folder:
        app = urlsplit(where.app)._replace(query=f"host={folder}&port=5432").geturl()
        pooler = Pooler(Dsns(where.owner, where.bus, app))
        backend = _Backend(str(Path(directory) / NAME), pooler)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, asyncio.IncompleteReadError):
                await backend.serve(reader, writer)
            writer.close()

        async with await asyncio.start_unix_server(serve, str(Path(folder) / NAME)):
            yield pooler
        await backend.close()


class _Backend:
    """The one connection, and the clients that share it."""

    def __init__(self, path: str, pooler: Pooler) -> None:
        self._path, self._pooler = path, pooler
        self._opening, self._free = asyncio.Lock(), asyncio.Lock()
        self._client: asyncio.StreamWriter | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._greeting = b""
        self._answering: asyncio.Task[None] | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one client's messages, each transaction once the connection is free."""
        client = b"c%d_" % next(self._pooler.clients)
        size = await reader.readexactly(4)
        startup = size + await reader.readexactly(struct.unpack("!i", size)[0] - 4)
        backend = await self._opened(startup)
        writer.write(self._greeting)
        while (message := await _message(reader))[0] != TERMINATE:
            if self._client is not writer:
                await self._free.acquire()
                self._client = writer
                self._pooler.transactions += 1
            backend.write(_framed(message[0], _renamed(client, *message)))

    async def _opened(self, startup: bytes) -> asyncio.StreamWriter:
        async with self._opening:
            if self._writer is None:
                reader, self._writer = await asyncio.open_unix_connection(self._path)
                self._writer.write(startup)
                kind = b""
                while kind != READY:
                    kind, body = await _message(reader)
                    self._greeting += _framed(kind, body)
                self._answering = asyncio.create_task(self._answer(reader))
        return self._writer

    async def _answer(self, reader: asyncio.StreamReader) -> None:
        """Relay every answer to the client whose transaction it is, until that ends."""
        with suppress(asyncio.IncompleteReadError):
            while True:
                kind, body = await _message(reader)
                assert self._client is not None
                self._client.write(_framed(kind, body))
                if (kind, body) == (READY, IDLE):
                    self._client = None
                    self._free.release()

    async def close(self) -> None:
        if self._writer is not None and self._answering is not None:
            self._writer.close()
            await self._answering


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Return the next message's type and body."""
    kind, size = struct.unpack("!ci", await reader.readexactly(5))
    return kind, await reader.readexactly(size - 4)


def _framed(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def _renamed(client: bytes, kind: bytes, body: bytes) -> bytes:
    """Return the message with the client's own name for its prepared statement; the unnamed one keeps none."""
    match kind:
        case b"P":
            return _own(client, body)
        case b"B":
            portal, rest = body.split(b"\0", 1)
            return portal + b"\0" + _own(client, rest)
        case b"D" | b"C" if body[:1] == b"S":
            return body[:1] + _own(client, body[1:])
        case _:
            return body


def _own(client: bytes, rest: bytes) -> bytes:
    return client + rest if rest[:1] != b"\0" else rest
