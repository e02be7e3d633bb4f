"""The lock of a workspace: one commit, recovery or rollback at a time, across processes and threads.

The system releases a flock when its process dies. A process that is paused keeps it. The owner of the newer lease then
takes the lock (`seize`). When the older process resumes, its fence and its dead folders (`journal`) prevent any change.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from libs.workspace.errors import Busy
from libs.workspace.journal import LOCK, Journal
from libs.workspace.safe_dir import SafeDir

PATIENCE, PAUSE = 10.0, 0.01  # seconds


@contextmanager
def lock(root: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the workspace after waiting at most `patience` seconds.

    Raises:
        Busy: another process still holds it.
    """
    with SafeDir.open(root) as safe_dir, Journal.open(safe_dir) as journal:
        fd = _take(journal.fd, time.monotonic() + patience)
        try:
            yield
        finally:
            os.close(fd)


@contextmanager
def seize(root: Path) -> Iterator[None]:
    """Hold the workspace even if another process does: only for the owner of the lease, after the other lost it."""
    with SafeDir.open(root) as safe_dir, Journal.open(safe_dir) as journal, contextlib.suppress(FileNotFoundError):
        # The paused process keeps its flock on a file without a name; the next owner locks a new file.
        os.unlink(LOCK, dir_fd=journal.fd)
    with lock(root):
        yield


def _take(folder: int, deadline: float) -> int:
    while True:
        fd = os.open(LOCK, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        if _locked(fd) and _current(folder, fd):
            return fd
        os.close(fd)
        if time.monotonic() >= deadline:
            raise Busy()
        # Polled: a flock that waits cannot be given up after a while.
        time.sleep(PAUSE)


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _current(folder: int, fd: int) -> bool:
    """Return whether the next process would lock this file too: it may have been seized between opening and locking."""
    try:
        return os.stat(LOCK, dir_fd=folder).st_ino == os.fstat(fd).st_ino
    except FileNotFoundError:
        return False
