"""A web server that answers with given bytes, including responses that no real server would send."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

REVISION = "0" * 64
NO = {"allowed": False, "rule": "default", "reason": "no", "obligations": []}
YES = {"allowed": True, "rule": "one", "reason": "yes", "obligations": []}


@dataclass
class Liar:
    """Answers each request with the next of `answers`, and repeats the last one for ever."""

    answers: Sequence[bytes]
    endless: bytes = b""
    """Bytes that follow until the client disconnects."""
    heard: list[bytes] = field(default_factory=list)
    url: str = ""
    _open: dict[asyncio.StreamWriter, asyncio.Task[None]] = field(default_factory=dict)

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open[writer] = asyncio.ensure_future(self._answer(reader, writer))

    async def end(self) -> None:
        for writer in self._open:
            writer.transport.abort()
        await asyncio.gather(*self._open.values())

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heard.append(head)
                await reader.readexactly(_length(head))
                writer.write(self.answers[min(len(self.heard), len(self.answers)) - 1])
                while self.endless:
                    writer.write(self.endless)
                    await writer.drain()
                await writer.drain()
                if not self.answers[-1].startswith(b"HTTP/1.1"):
                    break
        writer.close()


@asynccontextmanager
async def lying(*answers: bytes, endless: bytes = b"") -> AsyncIterator[Liar]:
    liar = Liar(answers, endless)
    server = await asyncio.start_server(liar.take, "127.0.0.1", 0)
    liar.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield liar
    finally:
        server.close()
        await liar.end()


def http(body: bytes, status: str = "200 OK", *headers: str, length: int | None = None) -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


def told(result: object, *, revision: object = REVISION, bundle: str = "suma", **more: object) -> bytes:
    """Return an answer as OPA would give it."""
    provenance = {"bundles": {bundle: {"revision": revision}}}
    return http(json.dumps({"provenance": provenance, "result": result, **more}).encode())


def _length(head: bytes) -> int:
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return int(lengths[0]) if lengths else 0
