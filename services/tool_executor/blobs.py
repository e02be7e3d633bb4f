"""Large contents of a stage: durable in the object store before the log names them, and fetched from it when needed.

A stage's operations name large contents by their SHA-256. The bytes are in the stage's blob cache, for threads to read,
and in the object store, for the executor that opens the stage next. There each turn has its own area, which is cleared
once its stage has been committed, dropped, or replaced by another turn's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from libs.changes import Cause, Changeset
from libs.errors import SumaError
from libs.leases import Lease, NewLease
from libs.objects import STAGES, Objects, area
from libs.workspace.blob_cache import CHUNK, BlobCache
from libs.workspace.errors import BadContent
from libs.workspace.operations import Blob
from libs.workspace.stage import Stage

AT_ONCE = 8
"""Contents of one stage that are stored at a time."""

CONTENTS = "contents"
"""The kind of lease that clears a turn's staged contents."""
RETRY_SECONDS = 600.0


class StageBlobs:
    def __init__(self, objects: Objects, home: Path) -> None:
        self._objects, self._home = objects, home

    def new_cache(self) -> BlobCache:
        return BlobCache(self._home)

    async def save(self, tenant: str, turn: str, cache: BlobCache) -> bool:
        """Store the unsaved contents; return whether there were any.

        Raises:
            Unavailable, BlobTooLarge: contents that were not stored may not be staged.
        """
        room, unsaved = asyncio.Semaphore(AT_ONCE), list(cache.unsaved.values())

        async def saved(blob: Blob) -> None:
            async with room:
                await self._objects.put(_area(tenant, turn), await _content(cache.path(blob.sha256), blob.size))
            cache.unsaved.pop(blob.sha256, None)

        # All are awaited even if one fails: none may still be writing when the call has ended.
        done = await asyncio.gather(*map(saved, unsaved), return_exceptions=True)
        if failed := next((error for error in done if error is not None), None):
            raise failed
        return bool(unsaved)

    async def fill(self, tenant: str, turn: str, stage: Stage) -> None:
        """Fetch what the stage needs and its cache lacks. Raises `BlobMissing`, `Unavailable`."""
        # A stage without contents, which is the usual one, costs no thread.
        for blob in await asyncio.to_thread(_lacking, stage) if stage.contents else ():
            await self._fetched(tenant, turn, stage.blob_cache, blob)

    async def _fetched(self, tenant: str, turn: str, cache: BlobCache, blob: Blob) -> None:
        with cache.drafting() as draft:
            async for piece in self._objects.open(_area(tenant, turn), blob.sha256):
                await asyncio.to_thread(draft.write, piece)
            found = await asyncio.to_thread(cache.put, draft)
        # It came from the store, so `save` need not send it back.
        cache.unsaved.pop(found.sha256, None)
        if found != blob:
            raise BadContent(f"the blob {blob.sha256} holds other bytes than its name says")


class ContentsCleared:
    """Deletes the staged contents of turns whose stages have ended."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    async def run(self, lease: Lease) -> None:
        await self._objects.clear(_area(lease.tenant, lease.input["turn"]))

    async def ended(self, lease: Lease, _: None) -> Changeset:
        return Changeset(Cause.of_lease(lease))

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        """Retry later; otherwise the blobs would leak."""
        later = lease.successor({"turn": lease.input["turn"]}, delay=RETRY_SECONDS)
        return Changeset(Cause.of_lease(lease)).start(later)


def clearing(turn: str) -> NewLease:
    """Return the lease that clears the contents staged in a turn."""
    return NewLease(f"{turn}:contents", CONTENTS, {"turn": turn})


def _area(tenant: str, turn: str) -> str:
    return area(tenant, f"{STAGES}/{turn}")


def _lacking(stage: Stage) -> list[Blob]:
    return [blob for blob in stage.blobs_needed if not stage.blob_cache.holds(blob.sha256)]


async def _content(path: Path, size: int) -> bytes | AsyncIterator[bytes]:
    return await asyncio.to_thread(path.read_bytes) if size <= CHUNK else _pieces(path)


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    file: BinaryIO = await asyncio.to_thread(path.open, "rb")
    with file:
        while piece := await asyncio.to_thread(file.read, CHUNK):
            yield piece
