"""The indexes of folders: the words and the passages of each file as it is on the disk (S4-18, S4-28).

Sessions of a tenant share a folder's index: what one of them has staged is never in it. A turn and a commit let the
index follow the folder, in the background: in small slices, with a pause as long as each. A search reads what is new
itself, so it need not wait for that.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from libs.errors import SumaError
from libs.guards import paths
from libs.search import ContentIndex, Embedder, Matrix, Passages, chunks
from libs.telemetry import logger
from libs.workspace import names
from libs.workspace.scan import Scan
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from libs.workspace.view import Node
from services.tool_executor.settings import Settings
from services.tool_executor.tools.decoding import SkipReason
from services.tool_executor.tools.texts import Remembered, Texts, temporary
from services.tool_executor.tools.tool_context import no_cancel

KEPT_MOST = 8
SHARED = 2
"""All indexes together hold at most this many times the text of the largest allowed one."""
SLICE_FILES, SLICE_PASSAGES = 100, 64
"""The files that the background reads, and the passages that it embeds, between two pauses."""
Stamp = tuple[int, str | None]
View = tuple[str, Path]
"""Tenant, folder."""
AGAIN = frozenset((SkipReason.LATER, SkipReason.UNREADABLE))
"""Reasons that may be gone although the file is the same."""

log = logger("executor")


@dataclass(frozen=True, slots=True)
class Cut:
    """A file's chunks, to be embedded."""

    path: str
    stamp: Stamp
    chunks: Sequence[chunks.Chunk]


@dataclass(slots=True)
class Indexed:
    """One folder's index. Threads take turns by `lock`; every method but `progress` expects that it is held."""

    passages: Passages
    words: ContentIndex = field(default_factory=ContentIndex)
    lock: threading.Lock = field(default_factory=threading.Lock)
    scan: Scan | None = None
    """The scan that this index is of."""
    newest: Scan | None = None
    """The scan that was found last."""
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    """The files of the scan that are to be indexed."""
    known: dict[str, Stamp] = field(default_factory=dict)
    """The indexed files, each as it was when it was read."""
    unread: dict[str, SkipReason] = field(default_factory=dict)
    waiting: dict[str, None] = field(default_factory=dict)
    """Files whose passages are not embedded yet, in order."""
    model: str = ""
    """The name of the embedder that made the vectors."""
    complete: bool = False
    """Whether nothing is left to do for this scan."""

    @property
    def progress(self) -> tuple[int, int]:
        """Return how many files are found by meaning, and how many there are to be."""
        done = len(self.passages)
        return done, done + len(self.waiting)

    @property
    def size(self) -> int:
        return self.words.size

    def follow(self, scan: Scan, files_most: int) -> None:
        """Drop what has changed or is gone; the rest stays as it was read."""
        if scan is self.scan:
            return
        self.scan, self.complete = scan, False
        on_disk = ((node.path, stamp_of(node)) for node, _ in files_of(base(scan)))
        self.stamps = dict(islice(on_disk, files_most))
        for path in [path for path, stamp in self.known.items() if self.stamps.get(path) != stamp]:
            self._drop(path)
            del self.known[path]
        self.unread = {path: why for path, why in self.unread.items() if path in self.stamps and path not in self.known}

    def read(self, texts: Texts, most_bytes: int, most_files: int | None = None) -> bool:
        """Read files that are new, changed or were put off, while there is room; return whether any was read."""
        pending = [path for path in self.stamps if path not in self.known]
        # The others first: one that could not be read must not hold them up.
        pending.sort(key=self.unread.__contains__)
        taken, progress = pending[:most_files], False
        for path in taken:
            progress |= path not in self.unread
            self.unread.pop(path, None)
        for path, text in texts.of(taken) if self.size < most_bytes else ():
            self.words.put(path, text)
            # Time and size stay when a person permits reading.
            if (why := texts.unread.get(path)) not in AGAIN:
                self.known[path] = self.stamps[path]
                progress = True
            if text and why is None and not paths.is_secret(path):
                self.waiting[path] = None
            if self.size >= most_bytes:
                break
        self.unread |= texts.unread
        return progress and self.size < most_bytes

    def cut(self, model: str) -> Sequence[Cut]:
        """Return the next passages to embed; all anew if another model made those that there are (S4-44)."""
        if model != self.model:
            self.waiting = dict.fromkeys((*self.passages.paths, *self.waiting))
            self.passages.clear()
            self.model = model
        found: list[Cut] = []
        for path in self.waiting:
            if sum(len(one.chunks) for one in found) >= SLICE_PASSAGES:
                break
            parts = chunks.cut(self.words.text(path), chunks.Strategy.PARAGRAPH)
            found.append(Cut(path, self.known[path], parts))
        return found

    def embed(self, cut: Sequence[Cut], rows: Matrix) -> None:
        """Take the vectors of files that are still as they were cut."""
        at = 0
        for one in cut:
            vectors, at = rows[at : at + len(one.chunks)], at + len(one.chunks)
            if one.path in self.waiting and self.known.get(one.path) == one.stamp:
                del self.waiting[one.path]
                # Without room for its passages a file is found by its words alone.
                self.passages.put(one.path, one.chunks, vectors)

    def _drop(self, path: str) -> None:
        self.words.remove(path)
        self.passages.remove(path)
        self.waiting.pop(path, None)


class Indexes:
    """The indexes of all folders in use, and the background work that keeps them up to date."""

    def __init__(
        self,
        settings: Settings,
        embedder: Embedder,
        scan: Callable[[Path], Awaitable[Scan]],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings, self.embedder, self._scan, self._now = settings, embedder, scan, now
        self._by_folder: OrderedDict[View, Indexed] = OrderedDict()
        self._remembered = Remembered()
        self._due: dict[View, Scan | None] = {}
        """Folders that the background is to look at, with their scan; None where it has to scan first."""
        self._wake = asyncio.Event()
        self._following: View | None = None
        self._ended = asyncio.Event()
        """Set, and replaced, when the background is done with a folder."""

    def of(self, view: View) -> Indexed:
        """Return a folder's index, perhaps empty; drop the least recently used beyond the bounds."""
        found = self._by_folder.pop(view, None) or Indexed(Passages(self.settings.index_passages_most))
        self._by_folder[view] = found
        most = SHARED * self.settings.index_text_bytes_most
        while len(self._by_folder) > KEPT_MOST or sum(one.size for one in self._by_folder.values()) > most:
            if len(self._by_folder) == 1:
                break
            self._by_folder.popitem(last=False)
        return found

    def texts(self, tenant: str, stage: Stage, check: Callable[[], None] = no_cancel) -> Texts:
        """Open the texts of a stage, with the tenant's memory of documents that were read before."""
        return Texts(stage, self.settings, self._now, tenant, self._remembered, check)

    def refresh(self, view: View, scan: Scan) -> None:
        """Let a folder's index follow this scan, in the background."""
        indexed = self.of(view)
        indexed.newest = scan
        if not (indexed.scan is scan and indexed.complete):
            self._due[view] = scan
            self._wake.set()

    def rescan(self, view: View) -> None:
        """Let a folder's index follow the disk, in the background; a folder without an index needs none."""
        if view in self._by_folder:
            self._due[view] = None
            self._wake.set()

    async def settled(self, view: View, *, seconds: float) -> Indexed:
        """Return a folder's index when the background is done with it, or as it is after some seconds."""
        indexed = self.of(view)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while view in self._due or view == self._following:
                    await self._ended.wait()
        return indexed

    async def keep_up(self) -> None:
        """Bring due indexes up to date, one after the other, until the service stops."""
        stopped = threading.Event()

        def check() -> None:
            if stopped.is_set():
                raise Stopped

        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._due:
                    view = self._following = next(iter(self._due))
                    await self._follow(view, self._due.pop(view), check)
                    ended, self._ended, self._following = self._ended, asyncio.Event(), None
                    ended.set()
        finally:
            # A thread cannot be cancelled: it looks here between files.
            stopped.set()

    async def catch_up(self, indexed: Indexed, *, seconds: float) -> None:
        """Embed what is waiting, for some seconds. Raises `Unavailable` as the embedder does."""
        until = self._now() + seconds
        while indexed.waiting and self._now() < until:
            await self._embed(indexed)

    async def _follow(self, view: View, scan: Scan | None, check: Callable[[], None]) -> None:
        indexed, more = self.of(view), True
        try:
            scan = indexed.newest = scan or await self._scan(view[1])
            while (more or indexed.waiting) and view not in self._due:
                began = self._now()
                more = await asyncio.to_thread(self._read, indexed, self.texts(view[0], base(scan), check), scan)
                await self._embed(indexed)
                # As long as the work: turns need the processor more.
                await asyncio.sleep(self._now() - began)
            indexed.complete = indexed.scan is scan and not more
        # The folder may be gone by now.
        except (SumaError, OSError) as error:
            log.warning("left a content index incomplete", root=str(view[1]), error=str(error))

    def _read(self, indexed: Indexed, texts: Texts, scan: Scan) -> bool:
        with indexed.lock:
            indexed.follow(scan, self.settings.index_files_most)
            return indexed.read(texts, self.settings.index_text_bytes_most, SLICE_FILES)

    async def _embed(self, indexed: Indexed) -> None:
        def cut() -> Sequence[Cut]:
            with indexed.lock:
                return indexed.cut(self.embedder.name)

        def embed() -> None:
            with indexed.lock:
                indexed.embed(found, rows)

        if found := await asyncio.to_thread(cut):
            rows = await self.embedder.embed_documents([part.text for one in found for part in one.chunks])
            await asyncio.to_thread(embed)


class Stopped(SumaError):
    """The service stops; the next start indexes again."""

    code = "STOPPED"


def base(scan: Scan) -> Stage:
    """Return the view of the disk without anything staged."""
    return Stage(Tree(scan))


def files_of(stage: Stage) -> Sequence[tuple[Node, str | None]]:
    """Return the files of a view that a search looks into, each with its path on the disk; None if its content is only
    staged.
    """
    tree = stage.tree
    found = ((node, stage.describe(node)) for node in tree if tree.kind(node) == "file")
    return [
        (file, None if node >= tree.born or node in stage.contents else names.shown(stage.base_path(node)))
        for node, file in found
        if not file.left_alone and not temporary(file.name)
    ]


def stamp_of(node: Node) -> Stamp:
    """Return size and time of a file; a staged file has no time."""
    return node.size, node.modified_at.isoformat() if node.modified_at else None
