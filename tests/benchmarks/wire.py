"""Postgres statements, counted on the wire: a socket in front of the server that reads what its clients send.

It changes nothing in the clients, and counts do not depend on the machine's load.
"""

from __future__ import annotations

import asyncio
import struct
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from libs.database import Dsns

STARTUP = 196608
"""The version of the protocol in a client's first message (PostgreSQL 18, 54.7)."""
CHUNK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Statement:
    """One round trip of a role; `opens` says that no transaction was open before it."""

    role: str
    text: str
    arguments: tuple[bytes, ...]
    opens: bool


@dataclass
class Wire:
    """The DSNs that lead through the socket, and every statement since the start, in order."""

    dsns: Dsns
    statements: list[Statement] = field(default_factory=list)


@asynccontextmanager
async def tapped(where: Dsns) -> AsyncIterator[Wire]:
    """Yield a wire in front of these DSNs, which must name a Unix socket's directory."""
    directory = parse_qs(urlsplit(where.app).query)["host"][0]
    with tempfile.TemporaryDirectory(prefix="suma-wire-") as folder:
        name = ".s.PGSQL.5432"
        query = f"host={folder}&port=5432"
        wire = Wire(
            Dsns(*(urlsplit(dsn)._replace(query=query).geturl() for dsn in (where.owner, where.bus, where.app)))
        )

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                backend = await asyncio.open_unix_connection(str(Path(directory) / name))
                await _relayed(reader, writer, backend, _Client(wire.statements))

        async with await asyncio.start_unix_server(serve, str(Path(folder) / name)):
            yield wire


async def _relayed(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    backend: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    client: _Client,
) -> None:
    """Copy both ways until one side closes."""
    asked = asyncio.create_task(_copied(reader, backend[1], client))
    answered = asyncio.create_task(_copied(backend[0], writer, None))
    try:
        await asyncio.wait((asked, answered), return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()
        answered.cancel()
        writer.close()
        backend[1].close()


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: _Client | None) -> None:
    with suppress(OSError):
        while data := await reader.read(CHUNK_BYTES):
            writer.write(data)
            if client is not None:
                client.feed(data)
            await writer.drain()


class _Client:
    """The messages of one connection, as its client sends them (PostgreSQL 18, 54.7)."""

    def __init__(self, statements: list[Statement]) -> None:
        self._statements = statements
        self._buffer = bytearray()
        self._role: str | None = None
        self._prepared: dict[bytes, str] = {}
        self._asked: tuple[str, tuple[bytes, ...]] = ("", ())
        self._open = False

    def feed(self, data: bytes) -> None:
        self._buffer += data
        while (message := self._message()) is not None:
            self._read(*message)

    def _message(self) -> tuple[bytes, bytes] | None:
        """Return the next whole message; the first one of a connection has no type."""
        head = 0 if self._role is None else 1
        if len(self._buffer) < head + 4:
            return None
        end = head + struct.unpack_from("!i", self._buffer, head)[0]
        if len(self._buffer) < end:
            return None
        message = bytes(self._buffer[:head]), bytes(self._buffer[head + 4 : end])
        del self._buffer[:end]
        return message

    def _read(self, kind: bytes, body: bytes) -> None:
        match kind:
            case b"":
                self._role = _role(body)
            case b"Q":
                self._tell(body.rstrip(b"\0").decode(), ())
            case b"P":
                name, text, _ = body.split(b"\0", 2)
                self._prepared[name] = text.decode()
                self._asked = f"prepare {text.decode()}", ()
            case b"B":
                _, name, rest = body.split(b"\0", 2)
                self._asked = self._prepared[name], _arguments(rest)
            case b"S":
                self._tell(*self._asked)
                self._asked = "", ()
            case _:
                pass

    def _tell(self, text: str, arguments: tuple[bytes, ...]) -> None:
        word = text.split(None, 1)[0].rstrip(";").lower() if text else ""
        opens = not self._open
        if word == "begin":
            self._open = True
        elif word in ("commit", "rollback"):
            self._open = False
        self._statements.append(Statement(self._role or "", text, arguments, opens))


def _role(body: bytes) -> str:
    """Return the user of a connection's first message; empty for a cancel request."""
    if struct.unpack_from("!i", body)[0] != STARTUP:
        return ""
    words = body[4:].split(b"\0")
    return dict(zip(words[::2], words[1::2], strict=False)).get(b"user", b"").decode()


def _arguments(body: bytes) -> tuple[bytes, ...]:
    """Return the arguments of a Bind message that follow its two names; a null is empty."""
    (formats,) = struct.unpack_from("!h", body)
    at = 2 + 2 * formats
    (count,) = struct.unpack_from("!h", body, at)
    at += 2
    found = []
    for _ in range(count):
        (size,) = struct.unpack_from("!i", body, at)
        found.append(body[at + 4 : at + 4 + max(size, 0)])
        at += 4 + max(size, 0)
    return tuple(found)
