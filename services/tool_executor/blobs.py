"""Shelves and the object store: what a stage holds beside its log is durable before the log names it, and comes back.

A stage's operations name large contents by their SHA-256. Their bytes lie on the stage's shelf, for threads to read,
and in the tenant's object store, for whichever executor opens the stage next.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from libs.objects import Objects
from libs.workspace.blob_cache import CHUNK, BlobCache
from libs.workspace.errors import BadContent
from libs.workspace.operations import Blob
from libs.workspace.stage import Stage

AT_ONCE = 8
"""Contents of one stage on their way at a time."""


class StageBlobs:
    def __init__(self, objects: Objects, home: Path) -> None:
        self._objects, self._home = objects, home

    def shelf(self) -> BlobCache:
        return BlobCache(self._home)

    async def save(self, tenant: str, shelf: BlobCache) -> None:
        """Store the unsaved contents. Raises `Unavailable`, `BlobTooLarge`: contents that were not stored may not be
        staged.
        """
        room = asyncio.Semaphore(AT_ONCE)

        async def saved(blob: Blob) -> None:
            async with room:
                await self._objects.put(tenant, await _content(shelf.path(blob.sha256), blob.size))
            shelf.unsaved.pop(blob.sha256, None)

        done = await asyncio.gather(*map(saved, list(shelf.unsaved.values())), return_exceptions=True)
        if failed := next((error for error in done if error is not None), None):
            raise failed

    async def fill(self, tenant: str, stage: Stage) -> None:
        """Fetch what the stage needs and its shelf lacks. Raises `BlobMissing`, `Unavailable`."""
        for blob in await asyncio.to_thread(_lacking, stage) if stage.contents else ():
            await self._fetched(tenant, stage.shelf, blob)

    async def _fetched(self, tenant: str, shelf: BlobCache, blob: Blob) -> None:
        with shelf.drafting() as draft:
            async for piece in self._objects.open(tenant, blob.sha256):
                await asyncio.to_thread(draft.write, piece)
            found = await asyncio.to_thread(shelf.put, draft)
        shelf.unsaved.pop(found.sha256, None)
        if found != blob:
            raise BadContent(f"the blob {blob.sha256} holds other bytes than its name says")


def _lacking(stage: Stage) -> list[Blob]:
    return [blob for blob in stage.blobs_needed if not stage.shelf.holds(blob.sha256)]


async def _content(path: Path, size: int) -> bytes | AsyncIterator[bytes]:
    return await asyncio.to_thread(path.read_bytes) if size <= CHUNK else _pieces(path)


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    file: BinaryIO = await asyncio.to_thread(path.open, "rb")
    with file:
        while piece := await asyncio.to_thread(file.read, CHUNK):
            yield piece
