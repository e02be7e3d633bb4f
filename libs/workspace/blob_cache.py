"""The blob cache: staged content that is too large to travel with its operation, on the local disk.

An operation names such content by its SHA-256 (`Blob`). The code that stages it puts the bytes here. The owner of the
stage's log stores the bytes in the object store before the log names them, and restores them from there into another
cache. A cache holds what one stage needs, and is removed with that stage.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from libs.workspace.errors import BadContent
from libs.workspace.operations import Blob

STALE = 24 * 3600.0
"""Seconds after which the cache of a killed process counts as abandoned. If it is still in use, it is filled again."""
PREFIX = "shelf-"
CHUNK = 1024 * 1024


class BlobCache:
    """Contents by their SHA-256. Nothing is created on the disk before the first `put`."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = home
        self._folder: Path | None = None
        self.unsaved: dict[str, Blob] = {}
        """Contents put here that are not yet known to be stored elsewhere."""

    @contextmanager
    def drafting(self) -> Iterator[BinaryIO]:
        """Yield a file to write to; it is removed at the end unless `put` keeps it."""
        with tempfile.NamedTemporaryFile(dir=self._place()) as file:
            yield cast(BinaryIO, file)

    def put(self, draft: BinaryIO) -> Blob:
        """Keep the complete content under its SHA-256, so that it can be staged."""
        size = draft.seek(0, os.SEEK_END)
        draft.seek(0)
        sha256 = hashed(draft)
        if not self.holds(sha256):
            # A link, not a rename: the draft's own name is removed by its context.
            self._at(sha256).hardlink_to(draft.name)
        self.unsaved[sha256] = Blob(sha256=sha256, size=size)
        return self.unsaved[sha256]

    def holds(self, sha256: str) -> bool:
        return self._folder is not None and self._at(sha256).is_file()

    @property
    def untouched(self) -> bool:
        """Whether it never held anything, so that nothing is on the disk."""
        return self._folder is None

    def prune(self, needed: Iterable[Blob]) -> None:
        """Remove contents that no operation names any more."""
        wanted = {blob.sha256 for blob in needed}
        for path in self._folder.iterdir() if self._folder is not None and self._folder.is_dir() else ():
            if path.name not in wanted:
                path.unlink(missing_ok=True)
                self.unsaved.pop(path.name, None)

    def path(self, sha256: str) -> Path:
        """Return the path of a content.

        Raises:
            BadContent: the cache does not hold it.
        """
        if not self.holds(sha256):
            raise BadContent(f"the blob {sha256} cannot be read here")
        return self._at(sha256)

    def _at(self, sha256: str) -> Path:
        return self._place() / sha256

    def _place(self) -> Path:
        if self._folder is None or not self._folder.is_dir():
            if self._home is not None:
                self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
                _sweep(self._home)
            self._folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self._home))
            # At the end of the process too, unless it is killed: then `_sweep` of another cache removes it.
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder


def hashed(stream: BinaryIO) -> str:
    """Return the SHA-256 of the rest of the stream."""
    digest = hashlib.sha256()
    while piece := stream.read(CHUNK):
        digest.update(piece)
    return digest.hexdigest()


def _sweep(home: Path) -> None:
    for folder in home.glob(f"{PREFIX}*"):
        # Another process may sweep at the same time.
        with suppress(FileNotFoundError):
            if folder.stat().st_mtime < time.time() - STALE:
                shutil.rmtree(folder, ignore_errors=True)
