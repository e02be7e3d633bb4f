"""Large contents of a stage: durable in the object store before the log names them, and fetched from it when needed.

A stage's operations name large contents by their SHA-256. The bytes are in the stage's blob cache, for threads to read,
and in the tenant's object store, for the executor that opens the stage next.
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
"""Contents of one stage that are stored at a time."""


class StageBlobs:
    def __init__(self, objects: Objects, home: Path) -> None:
        self._objects, self._home = objects, home

    def new_cache(self) -> BlobCache:
        return BlobCache(self._home)

    async def save(self, tenant: str, cache: BlobCache) -> None:
        """Store the unsaved contents. Raises `Unavailable`, `BlobTooLarge`: contents that were not stored may not be
        staged.
        """
        room = asyncio.Semaphore(AT_ONCE)

        async def saved(blob: Blob) -> None:
            async with room:
                await self._objects.put(tenant, await _content(cache.path(blob.sha256), blob.size))
            cache.unsaved.pop(blob.sha256, None)

        done = await asyncio.gather(*map(saved, list(cache.unsaved.values())), return_exceptions=True)
        if failed := next((error for error in done if error is not None), None):
            raise failed

    async def fill(self, tenant: str, stage: Stage) -> None:
        """Fetch what the stage needs and its cache lacks. Raises `BlobMissing`, `Unavailable`."""
        for blob in await asyncio.to_thread(_lacking, stage) if stage.contents else ():
            await self._fetched(tenant, stage.blob_cache, blob)

    async def _fetched(self, tenant: str, cache: BlobCache, blob: Blob) -> None:
        with cache.drafting() as draft:
            async for piece in self._objects.open(tenant, blob.sha256):
                await asyncio.to_thread(draft.write, piece)
            found = await asyncio.to_thread(cache.put, draft)
        cache.unsaved.pop(found.sha256, None)
        if found != blob:
            raise BadContent(f"the blob {blob.sha256} holds other bytes than its name says")


def _lacking(stage: Stage) -> list[Blob]:
    return [blob for blob in stage.blobs_needed if not stage.blob_cache.holds(blob.sha256)]


async def _content(path: Path, size: int) -> bytes | AsyncIterator[bytes]:
    return await asyncio.to_thread(path.read_bytes) if size <= CHUNK else _pieces(path)


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    file: BinaryIO = await asyncio.to_thread(path.open, "rb")
    with file:
        while piece := await asyncio.to_thread(file.read, CHUNK):
            yield piece
