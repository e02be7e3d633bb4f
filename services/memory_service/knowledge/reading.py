"""The reading of a knowledge base, under leases: each reads a few files, writes them, and starts the next.

Safe to repeat: a lease compares what the source has with what was written, so one that follows a crash goes on where
the last commit ended. A file whose stamp is the same is not opened; one whose text is the same keeps its chunks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from libs.changes import Cause, Changeset
from libs.clients import executor
from libs.errors import SumaError
from libs.leases import Lease, NewLease
from libs.runtime import Platform
from libs.search import Embedder
from libs.search.chunks import Size, Strategy, chunked
from libs.telemetry.logs import logger
from services.memory_service.knowledge.rows import ChunkAdded, FileGone, FileRead, Progressed
from services.memory_service.knowledge.store import Known, Reading, Store
from services.memory_service.store import literal

KIND = "knowledge"
FILES_AT_ONCE = 50
"""Files of one lease; the executor returns fewer if they are long."""
GAP_MOST, DETAIL_MOST = 100, 500
UNKNOWN = Known()

log = logger("memory")


@dataclass(frozen=True, slots=True)
class Batch:
    """The work of one lease. `left` counts the files that are still to read."""

    base: Reading
    gone: Sequence[str]
    files: Sequence[FileRead]
    chunks: Sequence[ChunkAdded]
    total: int
    left: int


class Readings:
    def __init__(self, platform: Platform, store: Store, embedder: Embedder) -> None:
        self._platform, self._store, self._embedder = platform, store, embedder

    def start(self, base: str, job: str) -> NewLease:
        return NewLease(job, KIND, {"base": base, "job": job})

    async def run(self, lease: Lease) -> Batch | None:
        """Read the next files; None if the base was removed, or another reading took over.

        Raises:
            Rejected: the source may not be read, or is gone.
            Unavailable: the executor or the embedder does not answer.
        """
        base = await self._base(lease)
        if base is None:
            return None
        found = await executor.knowledge_files(self._platform, lease.tenant, base.source)
        known, settings = await self._store.files(lease.tenant, base.base_id), self._settings(base)
        stamps = {path: f"{settings} {stamp}" for path, stamp in found.items()}
        due = sorted(path for path, stamp in stamps.items() if known.get(path, UNKNOWN).stamp != stamp)
        texts = await self._texts(lease.tenant, base, due[:FILES_AT_ONCE])
        files: list[FileRead] = []
        chunks: list[ChunkAdded] = []
        for text in texts:
            path, digest = text["path"], hashlib.sha256(f"{settings}\0{text['text']}".encode()).hexdigest()
            before = known.get(path, UNKNOWN)
            # The chunks of an unchanged text stay, whatever its time says.
            made = await self._chunks(base, text) if before.digest != digest else []
            count = len(made) if before.digest != digest else before.chunks
            files.append(FileRead(base.base_id, path, stamps[path], digest, count, text["gap"][:GAP_MOST]))
            chunks += made
        gone = sorted(known.keys() - found.keys())
        return Batch(base, gone, files, chunks, len(found), len(due) - len(files))

    async def ended(self, lease: Lease, batch: Batch | None) -> Changeset:
        """Write what was read, and start the lease that reads the next files."""
        changes = Changeset(Cause.of_lease(lease))
        if batch is None or await self._base(lease) is None:
            return changes
        base, state = batch.base, "reading" if batch.left else "ready"
        progress = Progressed(base.base_id, base.job, state, "", batch.total, batch.total - batch.left)
        changes = changes.put(progress, *(FileGone(base.base_id, path) for path in batch.gone))
        changes = changes.put(*batch.files, *batch.chunks)
        return changes.start(lease.successor(lease.input)) if batch.left else changes

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        """Show the error with the base. What was read stays; adding the base again goes on."""
        changes, base = Changeset(Cause.of_lease(lease)), await self._base(lease)
        if base is None:
            return changes
        log.warning("could not read knowledge base", base=base.base_id, error=str(error))
        return changes.put(
            Progressed(base.base_id, base.job, "failed", str(error)[:DETAIL_MOST], base.files, base.done)
        )

    async def _base(self, lease: Lease) -> Reading | None:
        """Return the base if this lease's job still reads it."""
        base = await self._store.base(lease.tenant, lease.input["base"])
        return base if base is not None and base.job == lease.input["job"] else None

    def _settings(self, base: Reading) -> str:
        """Return what the chunks depend on besides the text."""
        return f"{base.strategy} {base.chunk_size} {self._embedder.name}"

    async def _texts(self, tenant: str, base: Reading, paths: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        return await executor.knowledge_texts(self._platform, tenant, base.source, paths) if paths else ()

    async def _chunks(self, base: Reading, text: Mapping[str, Any]) -> list[ChunkAdded]:
        """Cut a text into chunks, and embed them. No chunk goes over the end of a page, so that each has one."""
        cut: list[tuple[str, int, int, str]] = []
        strategy, size = Strategy(base.strategy), Size(base.chunk_size)
        for page, part in _pages(text["text"], text["starts"]):
            for chunk in await chunked(part, strategy, self._embedder, size):
                place = ("page", page, page) if page else ("line", chunk.first, chunk.last)
                cut.append((*place, chunk.text))
        vectors = await self._embedder.embed_documents([said for *_, said in cut])
        name = self._embedder.name
        return [
            ChunkAdded(base.base_id, text["path"], place, *chunk, name, literal(vector))
            for place, (chunk, vector) in enumerate(zip(cut, vectors, strict=True))
        ]


def _pages(text: str, starts: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield each page with its number, or the whole text as 0 where the file has no pages."""
    if not starts:
        yield 0, text
    for number, (start, end) in enumerate(pairwise((*starts, len(text))), 1):
        yield number, text[start:end]
