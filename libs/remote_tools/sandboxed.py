"""A server of tools that is a program: it runs in a sandbox, and speaks over its standard input and output.

Each connection starts the program anew, in a sandbox of its own that ends with the connection. So nothing of a crash or
of another call is left, and there is nothing to stop when it is idle. The program sees a copy of its folder at
`/server`, read-only, and no network; the copy is what the digest of its approval covers.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from libs import ids
from libs.remote_tools.outbound import RESPONSE_BYTES_MOST, client_of
from libs.remote_tools.ports import ServerDown, ServerRefused
from libs.remote_tools.settings import RemoteServer
from libs.sandbox import Backend, Command, Ended, Limits, Mount, Piece, scratch_folder

FILES_MOST, BYTES_MOST = 5_000, 64 << 20
"""Files and bytes of a server's folder, which is copied for each connection."""
STDERR_MOST = 500
GRACE_SECONDS = 10.0
SERVER, BRIDGE = "/server", "/bridge"
CONNECT = """\
import os, socket, sys
way = socket.socket(socket.AF_UNIX)
way.connect("/bridge/socket")
os.dup2(way.fileno(), 0)
os.dup2(way.fileno(), 1)
os.chdir("/server")
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Gives the program the socket as its standard input and output."""


class SandboxWire:
    """One connection to a server that is a program."""

    status: int | None = None

    def __init__(self, settings: RemoteServer, backend: Callable[[], Awaitable[Backend]]) -> None:
        self._settings, self._backend = settings, backend
        self.source = ""
        """The digest of the folder's files, once it is connected."""
        self._errors: list[Piece] = []

    @property
    def words(self) -> str:
        """The last words of the program's standard error."""
        text = b"".join(piece.data for piece in self._errors[-2:]).decode(errors="replace")
        return " ".join(text.split())[-STDERR_MOST:]

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Client]:
        """Start the program and connect to it.

        Raises:
            ServerDown: it ended, or there is no sandbox for it.
            ServerRefused: its folder cannot be copied.
        """
        backend = await self._backend()
        most = self._settings.connect_seconds + self._settings.call_seconds + GRACE_SECONDS
        limits = Limits(seconds=most)
        async with AsyncExitStack() as stack:
            scratch = await stack.enter_async_context(scratch_folder(None, limits))
            place = await asyncio.to_thread(_place)
            stack.push_async_callback(asyncio.to_thread, shutil.rmtree, place, ignore_errors=True)
            self.source = await asyncio.to_thread(_copied, self._settings.folder, place / "server")
            accepted: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Future()
            listener = await _listening(place / "bridge" / "socket", accepted)
            stack.callback(listener.close)
            mounts = [Mount(place / "server", SERVER), Mount(place / "bridge", BRIDGE)]
            session = await backend.open(f"mcp-{ids.new()}", scratch, limits, mounts=mounts)
            stack.push_async_callback(session.close)
            command = Command(("python3", "-Ic", CONNECT, *self._settings.command))
            running = asyncio.ensure_future(session.run(command, self._errors.append))
            stack.push_async_callback(_ended, running)
            either: set[asyncio.Future[Any]] = {accepted, running}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not accepted.done():
                raise ServerDown(f"its program ended with code {(await running).code}: {self.words}")
            async with client_of(_transport(*accepted.result())) as client:
                yield client


def _place() -> Path:
    """Return a new folder that the sandbox's user can read, with a folder for the socket."""
    place = Path(tempfile.mkdtemp(prefix="suma-mcp-"))
    place.chmod(0o711)
    (place / "bridge").mkdir(mode=0o755)
    return place


def _copied(folder: Path | None, place: Path) -> str:
    """Copy the folder's files, read-only, and return the digest of their paths, rights and bytes."""
    place.mkdir(mode=0o755)
    digest, size = hashlib.sha256(), 0
    for count, path in enumerate(_files(folder) if folder is not None else (), 1):
        raw = path.read_bytes()
        size += len(raw)
        if count > FILES_MOST or size > BYTES_MOST:
            raise ServerRefused(f"{folder} has more than {FILES_MOST} files or {BYTES_MOST >> 20} MiB")
        name = path.relative_to(str(folder))
        runs = bool(path.stat().st_mode & stat.S_IXUSR)
        digest.update(f"{name!s}\0{runs}\0{hashlib.sha256(raw).hexdigest()}\n".encode())
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(raw)
        (place / name).chmod(0o555 if runs else 0o444)
    for where, _, _ in os.walk(place):
        # Whatever the umask of this process is.
        Path(where).chmod(0o755)
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files in order. Raises ServerRefused for what is no file, such as a link."""
    if not folder.is_dir():
        raise ServerRefused(f"{folder} is no folder")
    for where, inner, names in os.walk(folder):
        inner.sort()
        for path in (Path(where) / name for name in sorted([*names, *inner])):
            kind = path.lstat().st_mode
            if stat.S_ISREG(kind):
                yield path
            elif not stat.S_ISDIR(kind):
                raise ServerRefused(f"{path} is a link or a device; a server's folder has files and folders alone")


async def _listening(
    socket: Path, accepted: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
) -> asyncio.Server:
    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Only the first is the program: it connects before anything of it runs.
        if accepted.done():
            writer.close()
        else:
            accepted.set_result((reader, writer))

    listener = await asyncio.start_unix_server(accept, socket, limit=RESPONSE_BYTES_MOST)
    await asyncio.to_thread(socket.chmod, 0o666)
    return listener


@asynccontextmanager
async def _transport(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> AsyncIterator[TransportStreams]:
    """Carry messages as lines of JSON, each of at most 4 MiB."""
    into, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, out = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with into:
            # A line that is too long ends the connection, as its end does.
            with suppress(ValueError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                while line := await reader.readline():
                    await into.send(_message(line))

    async def write() -> None:
        async with out:
            with suppress(OSError):
                async for message in out:
                    writer.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                    await writer.drain()

    async with anyio.create_task_group() as tasks, received, sent:
        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield received, sent
        finally:
            writer.close()
            tasks.cancel_scope.cancel()


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _ended(running: asyncio.Future[Ended]) -> None:
    running.cancel()
    await asyncio.wait({running})
