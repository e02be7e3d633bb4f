"""The shelf: content that was staged and is too large to travel with its operation, at hand on the local disk.

An operation names such content by its SHA-256 (`Blob`). Whoever stages it puts the bytes here; whoever keeps the
stage's log puts them into the object store before the log names them, and gets them back from there onto another
shelf. A shelf is a cache of what one stage needs, and goes with it.
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
"""Seconds after which the shelf of a process that was killed is nobody's. One that is in use is filled again."""
PREFIX = "shelf-"
CHUNK = 1024 * 1024


class Shelf:
    """Contents by their SHA-256. Nothing is made on the disk before the first is put here."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = home
        self._folder: Path | None = None
        self.unsaved: dict[str, Blob] = {}
        """What was put here and nobody has noted as kept elsewhere."""

    @contextmanager
    def drafting(self) -> Iterator[BinaryIO]:
        """A file to write to; `put` it before the end, or it is gone."""
        with tempfile.NamedTemporaryFile(dir=self._place()) as file:
            yield cast(BinaryIO, file)

    def put(self, draft: BinaryIO) -> Blob:
        """The content is whole, and can be staged."""
        size = draft.seek(0, os.SEEK_END)
        draft.seek(0)
        sha256 = hashed(draft)
        if not self.holds(sha256):
            self._at(sha256).hardlink_to(draft.name)
        self.unsaved[sha256] = Blob(sha256=sha256, size=size)
        return self.unsaved[sha256]

    def holds(self, sha256: str) -> bool:
        return self._folder is not None and self._at(sha256).is_file()

    def prune(self, needed: Iterable[Blob]) -> None:
        """Throw away what no operation names any more."""
        wanted = {blob.sha256 for blob in needed}
        for path in self._folder.iterdir() if self._folder is not None and self._folder.is_dir() else ():
            if path.name not in wanted:
                path.unlink(missing_ok=True)
                self.unsaved.pop(path.name, None)

    def path(self, sha256: str) -> Path:
        """Where content can be read. Raises `BadContent`: nobody put it here."""
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
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder


def hashed(stream: BinaryIO) -> str:
    """The SHA-256 of what is left to read."""
    digest = hashlib.sha256()
    while piece := stream.read(CHUNK):
        digest.update(piece)
    return digest.hexdigest()


def _sweep(home: Path) -> None:
    for folder in home.glob(f"{PREFIX}*"):
        # Another process may be at it, too.
        with suppress(FileNotFoundError):
            if folder.stat().st_mtime < time.time() - STALE:
                shutil.rmtree(folder, ignore_errors=True)
