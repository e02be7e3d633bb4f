"""The history: old inodes kept so that a commit can be rolled back, for a time and up to a size."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from libs.workspace.beneath import Beneath
from libs.workspace.journal import COMMITTED, INTENT, MARK, Folder, Journal
from libs.workspace.lock import lock

MAX_AGE = timedelta(days=30)
MAX_BYTES = 10 * 1000**3


@dataclass(frozen=True)
class Kept:
    """A commit that can still be rolled back. `finished_at` is in seconds since the epoch, `size` in bytes on the
    disk."""

    commit_id: str
    finished_at: float
    size: int


@dataclass(frozen=True)
class Pruned:
    commits: tuple[str, ...]
    size: int


def kept(root: Path) -> tuple[Kept, ...]:
    """The commits in the history, oldest first."""
    with Beneath.open(root) as door, Journal.open(door) as journal:
        return tuple(_kept(journal))


def prune(root: Path, max_age: timedelta = MAX_AGE, max_bytes: int = MAX_BYTES, now: float | None = None) -> Pruned:
    """Let go of the oldest commits until none is older than `max_age` and all together take at most `max_bytes`."""
    horizon = (time.time() if now is None else now) - max_age.total_seconds()
    with lock(root), Beneath.open(root) as door, Journal.open(door) as journal:
        entries = _kept(journal)
        total, gone = sum(entry.size for entry in entries), []
        for entry in entries:
            if entry.finished_at >= horizon and total <= max_bytes:
                break
            _forget(journal, entry.commit_id)
            total -= entry.size
            gone.append(entry)
        journal.sweep()
    return Pruned(tuple(entry.commit_id for entry in gone), sum(entry.size for entry in gone))


def _kept(journal: Journal) -> list[Kept]:
    """One entry per commit, with the rollbacks of it; what an interrupted rollback still needs is not among them."""
    groups: dict[str, list[str]] = {}
    for id in journal.history():
        groups.setdefault(id.partition(MARK)[0], []).append(id)
    for id in journal.pending():
        groups.pop(id.partition(MARK)[0], None)
    return sorted((_measured(journal, id, group) for id, group in groups.items()), key=lambda entry: entry.finished_at)


def _measured(journal: Journal, id: str, group: list[str]) -> Kept:
    finished, size = [], 0
    for each in group:
        with journal.find("history", each) as folder:
            assert folder is not None
            finished.append(os.stat(INTENT, dir_fd=folder.fd).st_mtime)
            size += sum(_blocks(folder))
    return Kept(id, min(finished), size)


def _blocks(folder: Folder) -> Iterator[int]:
    for path in folder.door.listing(""):
        yield folder.door.stat(path).st_blocks * 512


def _forget(journal: Journal, id: str) -> None:
    """The commit with the rollbacks of it. How each ended stays known, so that a request that comes again is still
    answered."""
    for each in [name for name in journal.history(id) if name.partition(MARK)[0] == id]:
        with journal.find("history", each) as folder:
            if folder is not None:
                journal.note(each, "committed" if folder.holds(COMMITTED) else "undone")
                journal.discard(folder)
