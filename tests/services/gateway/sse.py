"""A browser-like reader of server-sent events: an event counts once its blank line has arrived."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson


@dataclass
class Sse:
    """The received events; `last` is the next Last-Event-ID."""

    last: str | None = None
    events: list[tuple[str | None, str, Any]] = field(default_factory=list)
    comments: int = 0
    retry: str | None = None
    """Milliseconds to wait before reconnecting."""
    _rest: bytes = b""

    def feed(self, received: bytes) -> None:
        *blocks, self._rest = (self._rest + received).split(b"\n\n")
        for block in blocks:
            self._dispatch(block.decode())

    def cut(self) -> None:
        """Discard a partial event after the connection broke."""
        self._rest = b""

    def seqs(self) -> list[int]:
        return [int(id) for id, _, _ in self.events if id is not None]

    def _dispatch(self, block: str) -> None:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        self.comments += not fields
        self.retry = fields.get("retry", self.retry)
        if "data" in fields:
            self.last = fields.get("id", self.last)
            self.events.append((fields.get("id"), fields["event"], orjson.loads(fields["data"])))


@asynccontextmanager
async def opened(
    client: httpx.AsyncClient, session: str, last: str | None = None, **params: Any
) -> AsyncIterator[AsyncIterator[bytes]]:
    """Open a session's stream over the socket until the block ends."""
    headers = {"Last-Event-ID": last} if last else {}
    async with client.stream("GET", f"/v1/sessions/{session}/events", params=params, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield response.aiter_raw()


async def read(chunks: AsyncIterator[bytes], sse: Sse, *, until: str | None = None, most: int | None = None) -> int:
    """Receive until an event of type `until` or `most` bytes; return the number of bytes."""
    taken = 0
    async for chunk in chunks:
        piece = chunk if most is None else chunk[: most - taken]
        taken += len(piece)
        sse.feed(piece)
        if taken == most or (until and any(type == until for _, type, _ in sse.events)):
            break
    return taken
