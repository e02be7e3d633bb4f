"""The bytes of a request on their way to the store: taken with a time limit, collected in a file, hashed on the way."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator
from typing import Self

from starlette.requests import ClientDisconnect

from libs.objects import Blob
from services.gateway.files.media_types import HEAD

MEMORY = 1 << 20
"""Bytes of a piece beyond which it is in an unnamed file, which disappears with the process."""
HOP = 256 * 1024
"""Bytes written per hop to a thread."""


class Body:
    """The body of a request. It ends with the last byte, the client's disconnect, or `seconds` without a byte."""

    def __init__(self, chunks: AsyncIterator[bytes], *, seconds: float) -> None:
        self._chunks, self._seconds = chunks, seconds
        self._rest, self._over = b"", False
        self.late = False
        """Whether it ended because the client stopped sending."""

    async def take(self, most: int) -> bytes:
        """Return the next bytes, at most `most`; none at the end."""
        if not await self.more():
            return b""
        taken, self._rest = self._rest[:most], self._rest[most:]
        return taken

    async def more(self) -> bool:
        """Return whether a byte follows; wait for it."""
        while not self._rest and not self._over:
            try:
                async with asyncio.timeout(self._seconds):
                    self._rest = await anext(self._chunks)
            except (StopAsyncIteration, ClientDisconnect):
                self._over = True
            except TimeoutError:
                self._over = self.late = True
        return bool(self._rest)


class Draft:
    """A piece of content as it arrives, with its SHA-256. Closing it deletes it."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=MEMORY)  # noqa: SIM115 - closed by __exit__
        self._digest = hashlib.sha256()
        self.size = 0
        self.head = b""
        """The first bytes, enough to recognise the type."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def blob(self) -> Blob:
        return Blob(self._digest.hexdigest(), self.size)

    async def fill(self, body: Body, most: int) -> None:
        """Take up to `most` bytes from a body."""
        taken = True
        while taken and self.size < most:
            gathered = bytearray()
            while len(gathered) < HOP and (chunk := await body.take(most - self.size - len(gathered))):
                gathered += chunk
            taken = bool(gathered)
            await asyncio.to_thread(self._add, bytes(gathered))

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the content from its start."""
        await asyncio.to_thread(self._file.seek, 0)
        while chunk := await asyncio.to_thread(self._file.read, HOP):
            yield chunk

    def _add(self, chunk: bytes) -> None:
        self._file.write(chunk)
        self._digest.update(chunk)
        self.size += len(chunk)
        self.head = (self.head + chunk[:HEAD])[:HEAD] if len(self.head) < HEAD else self.head
