"""Links: the ways between processes, each through a proxy of ours, so that it can be cut, held and slowed.

A link listens on a TCP port and passes bytes on to one of its ends, in turn, as a load balancer does: an end that
refuses is left out. What is cut is gone at once and for both sides; what is held says nothing and stays open, as a
network does that has lost a route.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeAlias

End: TypeAlias = "int | Path"
"""A port of this machine, or a unix socket."""
Streams: TypeAlias = "tuple[asyncio.StreamReader, asyncio.StreamWriter]"
CHUNK = 1 << 16


class Link:
    """One way through us. Entered, it listens on `port`."""

    def __init__(self, name: str, ends: Sequence[End] = ()) -> None:
        self.name = name
        self.port = 0
        self.ends: Sequence[End] = ends
        self._turn = 0
        self._open: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.delay = 0.0
        """Seconds that each piece of either direction waits."""
        self.closed = False
        """New connections are refused."""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Link]:
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self.flow()
            self.cut()
            await asyncio.gather(*self._open, return_exceptions=True)

    def cut(self) -> int:
        """End every connection at once; how many there were."""
        carried = list(self._open)
        for task in carried:
            task.cancel()
        return len(carried)

    def hold(self) -> None:
        """Say nothing more, to either side, until `flow`."""
        self._flowing.clear()

    def flow(self) -> None:
        self._flowing.set()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            far = None if self.closed else await self._connected()
            if far is None:
                _reset(writer)
            else:
                await self._between((reader, writer), far)
        except (OSError, asyncio.CancelledError):
            _reset(writer)  # Whoever it was learns it by the end of the connection.
        finally:
            self._open.discard(task)

    async def _connected(self) -> Streams | None:
        """The next end in turn that answers, or None."""
        for _ in self.ends:
            self._turn = (self._turn + 1) % len(self.ends)
            with suppress(OSError):
                return await _connect(self.ends[self._turn])
        return None

    async def _between(self, near: Streams, far: Streams) -> None:
        ways = [asyncio.ensure_future(self._pass(near[0], far[1])), asyncio.ensure_future(self._pass(far[0], near[1]))]
        try:
            # Either side's end is the end: no protocol here speaks on over half a connection.
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for _, writer in (near, far):
                writer.close()
        except asyncio.CancelledError:
            for _, writer in (near, far):
                _reset(writer)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(CHUNK):
            await self._flowing.wait()
            if self.delay:
                await asyncio.sleep(self.delay)
            writer.write(piece)
            await writer.drain()


async def _connect(end: End) -> Streams:
    if isinstance(end, Path):
        return await asyncio.open_unix_connection(str(end))
    return await asyncio.open_connection("127.0.0.1", end)


def _reset(writer: asyncio.StreamWriter) -> None:
    """End it at once: what it still held must not arrive after all."""
    taken: socket.socket | None = writer.get_extra_info("socket")
    if taken is not None and taken.family == socket.AF_INET:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
