"""The history: old inodes kept so that a commit can be rolled back, limited by age and by size."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from libs.workspace.engine import Fence, Step, no_fence, no_step
from libs.workspace.journal import COMMITTED, INTENT, MARK, PRUNED, TRASH, Folder, Journal
from libs.workspace.lock import lock
from libs.workspace.reserved import HIDDEN
from libs.workspace.safe_dir import SafeDir

MAX_AGE = timedelta(days=30)
MAX_BYTES = 10 * 1000**3
MIN_AGE = timedelta(days=1)
"""Commits younger than this are kept even if the disk is full."""
BLOCK = 512
INODES = 1_000
"""Free inodes that a full disk gets: for a transaction's folder and the new files of a usual commit."""


@dataclass(frozen=True)
class Kept:
    """A commit in the history. `finished_at` is in seconds since the epoch, `size` in bytes on the disk."""

    commit_id: str
    finished_at: float
    size: int
    undoable: bool
    """False for an attempt that was undone: its folder holds bytes that another program wrote meanwhile."""


@dataclass(frozen=True)
class Pruned:
    """Commits that were removed, and the bytes on the disk that this freed."""

    commits: tuple[str, ...] = ()
    size: int = 0


Due = Callable[[Kept, int], bool]
"""Whether to remove a commit, given the size in bytes of it and all later ones."""


def kept(root: Path) -> tuple[Kept, ...]:
    """Return the commits in the history, oldest first."""
    with _journal(root) as journal:
        return tuple(_kept(journal)) if journal is not None else ()


def prune(
    root: Path,
    max_age: timedelta = MAX_AGE,
    max_bytes: int = MAX_BYTES,
    *,
    now: float | None = None,
    spare: Container[str] = (),
    fence: Fence = no_fence,
    step: Step = no_step,
) -> Pruned:
    """Remove the oldest commits until none is older than `max_age` and all together take at most `max_bytes`. Commits
    in `spare` stay, and those that an interrupted commit or rollback needs.
    """
    horizon = (time.time() if now is None else now) - max_age.total_seconds()
    return _prune(root, lambda entry, total: entry.finished_at < horizon or total > max_bytes, spare, fence, step)


def make_room(
    root: Path, wanted: int, min_age: timedelta = MIN_AGE, *, spare: Container[str] = (), fence: Fence = no_fence
) -> Pruned:
    """Remove the oldest commits until `wanted` bytes and some inodes are free on the disk, but none younger than
    `min_age`.
    """
    horizon = time.time() - min_age.total_seconds()

    def due(entry: Kept, total: int) -> bool:
        return entry.finished_at < horizon and _lacking(root, wanted)

    return _prune(root, due, spare, fence, no_step)


def _prune(root: Path, due: Due, spare: Container[str], fence: Fence, step: Step) -> Pruned:
    with _journal(root) as journal:
        # Take the lock only if there is something to remove: measuring takes time.
        if journal is None or not (journal.litter() or any(_due(journal, due, spare))):
            return Pruned()
    with lock(root), _journal(root) as journal:
        if journal is None:
            return Pruned()
        _clean(journal)
        gone, before = [], _size(journal.fd, TRASH)
        # Decided again under the lock: a rollback may have begun since.
        for entry in _due(journal, due, spare):
            _forget(journal, entry.commit_id, fence, step)
            gone.append(entry)
        # Another user's files cannot be removed and still take their space.
        left = _size(journal.fd, TRASH) - before
    return Pruned(tuple(entry.commit_id for entry in gone), sum(entry.size for entry in gone) - left)


def _lacking(root: Path, wanted: int) -> bool:
    found = os.statvfs(root)
    # A file system that creates inodes as needed reports none at all.
    return found.f_bavail * found.f_frsize < wanted or (found.f_files > 0 and found.f_favail < INODES)


def _due(journal: Journal, due: Due, spare: Container[str]) -> Iterator[Kept]:
    """Yield the oldest commits, up to the first that may stay."""
    entries = _kept(journal)
    total = sum(entry.size for entry in entries)
    for entry in entries:
        if not due(entry, total):
            return
        total -= entry.size
        if entry.commit_id not in spare:
            yield entry


@contextmanager
def _journal(root: Path) -> Iterator[Journal | None]:
    """Yield the journal; None if nothing was ever committed, so that reading creates no folder."""
    with SafeDir.open(root) as safe_dir:
        if safe_dir.signature(HIDDEN) is None:
            yield None
            return
        with Journal.open(safe_dir) as journal:
            yield journal


def _kept(journal: Journal) -> list[Kept]:
    """Return one entry per commit, rollbacks included, without those that an interrupted rollback still needs."""
    groups: dict[str, list[str]] = {}
    for id in journal.history():
        groups.setdefault(id.partition(MARK)[0], []).append(id)
    for id in (*journal.pending(), *journal.litter()):
        groups.pop(id.partition(MARK)[0], None)
    return sorted((_measured(journal, id, group) for id, group in groups.items()), key=lambda entry: entry.finished_at)


def _measured(journal: Journal, id: str, group: list[str]) -> Kept:
    finished, size, undoable = [], 0, False
    for each in group:
        with journal.find("history", each) as folder:
            if folder is None:
                continue
            finished.append(_finished(folder))
            size += _size(folder.fd)
            undoable = undoable or (each == id and folder.holds(COMMITTED))
    return Kept(id, min(finished, default=0.0), size, undoable)


def _finished(folder: Folder) -> float:
    try:
        return os.stat(INTENT, dir_fd=folder.fd).st_mtime
    except FileNotFoundError:
        return os.fstat(folder.fd).st_mtime


def _size(fd: int, path: str = ".") -> int:
    """Return the bytes that removal of a folder frees: a file counts if all its names are in the folder."""
    total, links = 0, Counter[int]()
    for _, folders, files, here in os.fwalk(path, dir_fd=fd):
        for name in (*folders, *files):
            with suppress(FileNotFoundError):
                found = os.stat(name, dir_fd=here, follow_symlinks=False)
                links[found.st_ino] += 1
                if name in folders or links[found.st_ino] == found.st_nlink:
                    total += found.st_blocks * BLOCK
    return total


def _forget(journal: Journal, id: str, fence: Fence, step: Step) -> None:
    """Remove a commit and its rollbacks. Their outcomes are kept, so that a repeated request still gets its answer."""
    fence()
    for each in _group(journal, id):
        with journal.find("history", each) as folder:
            if folder is not None:
                # The outcome first: without it a repeated commit would be made a second time.
                journal.note(folder, "committed" if folder.holds(COMMITTED) else "undone")
    step("noted")
    # After this rename the whole commit is gone; a crash leaves files that the next prune removes.
    journal.set_aside(id)
    step("set aside")
    try:
        fence()
    except BaseException:
        # This process paused and another took the lock: it may be rolling back this commit.
        journal.set_back(id)
        raise
    _discard(journal, id, step)


def _clean(journal: Journal) -> None:
    """Remove the commits that a killed process had marked for removal."""
    for litter in journal.litter():
        _discard(journal, litter.partition(MARK)[0], no_step)
    journal.sweep()


def _discard(journal: Journal, id: str, step: Step) -> None:
    """Remove the rollbacks of a commit, then the commit: while it exists, another prune continues with it."""
    for each in sorted(_group(journal, id), key=lambda each: each.endswith(PRUNED)):
        with journal.find("history", each) as folder:
            if folder is not None:
                journal.discard(folder)
                step("discarded")


def _group(journal: Journal, id: str) -> list[str]:
    return [name for name in journal.history(id) if name.partition(MARK)[0] == id]
