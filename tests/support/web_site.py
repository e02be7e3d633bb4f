"""A server of pages that does as its paths are told, byte by byte, and the answers of a name server."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

PRIVATE = "127.0.0.1"
PAUSE = 0.02
Visit = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Site:
    """`paths` holds the answer to each path: the bytes to send, or what to do with the connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.paths: dict[str, bytes | Visit] = {}
        self.asked: list[str] = []
        """Method, host and path of each request."""
        self.headers: dict[str, str] = {}
        """The headers of the last request."""
        self.names: dict[str, list[list[str]]] = {}
        """The addresses of a name, one list for each question; the last one stays."""

    def url(self, path: str, host: str = "site.test") -> str:
        return f"http://{host}:{self.port}{path}"

    def resolve(self, host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        answers = self.names.get(host, [[PRIVATE if host == "site.test" else host]])
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        if not addresses:
            raise socket.gaierror
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, path, _ = lines[0].split(" ")
            self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
            self.asked.append(f"{method} {self.headers['host']} {path}")
            answer = self.paths.get(path, page("gone", status="404 Not Found"))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(reader, writer)
        writer.close()


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    site = Site(0)
    server = await asyncio.start_server(site.serve, PRIVATE, 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()


def page(body: str | bytes, kind: str = "text/html", status: str = "200 OK", **headers: str) -> bytes:
    raw = body.encode() if isinstance(body, str) else body
    lines = {"content-type": kind, "content-length": str(len(raw)), "connection": "close", **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items() if value)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + raw


def moved(to: str, status: str = "302 Found") -> bytes:
    return page("", status=status, location=to)


def endless(start: bytes, more: bytes) -> Visit:
    """Send the start, and then more for as long as it is taken."""

    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while not writer.is_closing():
            writer.write(more)
            await writer.drain()

    return visit


def dripping(start: bytes, more: bytes) -> Visit:
    """Send the start, and then more after each short pause, until the client leaves."""

    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while not reader.at_eof():
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(1), PAUSE)
            writer.write(more)
            await writer.drain()

    return visit
