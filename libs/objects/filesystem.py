"""Blobs in a directory: the adapter for one machine.

    root/.incoming/<random>           being written; never read
    root/<tenant>/ab/abcdef…          complete: synced, then renamed into place

All file work runs in threads. A crash leaves at most a file in `.incoming`, which the first `put` of a later start
removes once it is a day old.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, ParamSpec, TypeVar

from libs.errors import Unavailable
from libs.objects.content import CHUNK, gathered, place, place_of_area
from libs.objects.ports import Blob, BlobCorrupt, BlobMissing, BlobTooLarge

STALE = 24 * 3600.0
"""Seconds after which a file in `.incoming` is abandoned."""

P = ParamSpec("P")
T = TypeVar("T")


class FilesystemObjects:
    """`Objects` under a directory, which is created (0700) with the first blob. `max_bytes` bounds one blob."""

    def __init__(self, root: Path, *, max_bytes: int) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._swept = False

    async def put(self, tenant: str, content: bytes | AsyncIterable[bytes]) -> Blob:
        if isinstance(content, bytes):
            # One hop to a thread instead of four.
            return await _in_thread(self._put_bytes, tenant, content)
        incoming = self._incoming()
        try:
            await _in_thread(self._begin, incoming)
            async for piece in gathered(content):
                await _in_thread(incoming.add, piece)
            return await _in_thread(self._place, tenant, incoming)
        finally:
            await _in_thread(incoming.discard)

    async def get(self, tenant: str, sha256: str) -> bytes:
        return await _in_thread(self._get, tenant, sha256)

    async def open(self, tenant: str, sha256: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        file = await _in_thread(_opened, self._path(tenant, sha256))
        try:
            size, digest = await _in_thread(file.seek, 0, os.SEEK_END), hashlib.sha256()
            stop = size if end is None else min(end, size)
            await _in_thread(file.seek, start)
            for at in range(start, stop, CHUNK):
                chunk = await _in_thread(_read, file, min(CHUNK, stop - at), digest.update)
                yield chunk
            if (start, stop) == (0, size) and digest.hexdigest() != sha256:
                raise BlobCorrupt(f"the blob {sha256} holds other content")
        finally:
            await _in_thread(file.close)

    async def exists(self, tenant: str, sha256: str) -> bool:
        return await _in_thread(self._path(tenant, sha256).is_file)

    async def delete(self, tenant: str, sha256: str) -> None:
        await _in_thread(self._path(tenant, sha256).unlink, missing_ok=True)

    async def clear(self, area: str) -> None:
        await _in_thread(_remove, self._root / place_of_area(area))

    async def link(self, tenant: str, sha256: str, *, filename: str, media_type: str) -> str | None:
        """None: only this process can read the directory."""
        if not await self.exists(tenant, sha256):
            raise BlobMissing(f"there is no blob {sha256}")
        return None

    async def alive(self) -> None:
        await _in_thread(self._alive)

    def _path(self, tenant: str, sha256: str) -> Path:
        return self._root / place(tenant, sha256)

    def _put_bytes(self, tenant: str, content: bytes) -> Blob:
        blob = Blob(hashlib.sha256(content).hexdigest(), len(content))
        path = self._path(tenant, blob.sha256)
        # Compared, not assumed: damaged content is overwritten.
        if path.is_file() and path.read_bytes() == content:
            # Another process may not have renamed it into place yet.
            _sync(path.parent)
            return blob
        incoming = self._incoming()
        try:
            self._begin(incoming)
            incoming.add(content)
            return self._place(tenant, incoming)
        finally:
            incoming.discard()

    def _alive(self) -> None:
        # The first blob creates the root; until then check its nearest existing parent.
        place = next(path for path in (self._root, *self._root.parents) if path.exists())
        if not place.is_dir():
            raise Unavailable(f"the object store: {place} is not a directory")
        state = os.statvfs(place)
        if state.f_flag & os.ST_RDONLY:
            raise Unavailable("the object store is on a file system that can only be read")
        if not state.f_bavail:
            raise Unavailable("the object store's file system is full")

    def _incoming(self) -> _Incoming:
        return _Incoming(self._root / ".incoming" / token_hex(16), self._max_bytes)

    def _begin(self, incoming: _Incoming) -> None:
        folder = incoming.path.parent
        _make(folder)
        incoming.create()
        if not self._swept:
            self._swept = True
            # By the file system's own clock, which may differ from this machine's.
            _sweep(folder, before=incoming.path.stat().st_mtime - STALE)

    def _place(self, tenant: str, incoming: _Incoming) -> Blob:
        # The content is on the disk before it has its name: a power failure never leaves a part under it.
        blob = incoming.finished()
        path = self._path(tenant, blob.sha256)
        _make(path.parent)
        # Overwrite: it is the same content, or a damaged one.
        incoming.path.replace(path)
        _sync(path.parent)
        return blob

    def _get(self, tenant: str, sha256: str) -> bytes:
        with _opened(self._path(tenant, sha256)) as file:
            content = file.read()
        if hashlib.sha256(content).hexdigest() != sha256:
            raise BlobCorrupt(f"the blob {sha256} holds other content")
        return content


class _Incoming:
    """A file being written, hashed as it grows. It is open only while a thread writes, so nothing remains to close."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._digest = hashlib.sha256()
        self._size = 0

    def create(self) -> None:
        self.path.touch(mode=0o600, exist_ok=False)

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._max_bytes:
            raise BlobTooLarge(f"the content is larger than {self._max_bytes} bytes")
        self._digest.update(piece)
        with self.path.open("ab") as file:
            file.write(piece)

    def finished(self) -> Blob:
        _sync(self.path)
        return Blob(self._digest.hexdigest(), self._size)

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)


async def _in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run file work in a thread and translate its errors. When cancelled, wait until the thread releases the file."""
    running = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
    except OSError as error:
        raise Unavailable(f"the object store: {error.strerror or error}") from error


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise BlobMissing(f"there is no blob {path.name}") from None


def _read(file: BinaryIO, size: int, seen: Callable[[bytes], None]) -> bytes:
    chunk = file.read(size)
    seen(chunk)
    return chunk


def _remove(folder: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def _sweep(folder: Path, *, before: float) -> None:
    for path in folder.iterdir():
        # Another process may have completed this one just now.
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()


def _make(folder: Path) -> None:
    """Create the folder and its parents, each synced."""
    if folder.is_dir():
        return
    _make(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    _sync(folder.parent)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
