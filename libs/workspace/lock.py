"""The lock of a workspace: one commit, recovery or rollback at a time, whatever process or thread it is in.

The system drops a flock when its process dies. A process that is stopped, not dead, keeps it; the owner of the newer
lease then takes the lock away (`seize`), and the older one's fence and its dead folders (`journal`) keep it from
doing anything when it wakes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from libs.workspace.beneath import Beneath
from libs.workspace.errors import Busy
from libs.workspace.journal import Journal

NAME = "lock"
PATIENCE, PAUSE = 10.0, 0.01  # seconds


@contextmanager
def lock(root: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the workspace, after waiting at most `patience` seconds; then `Busy`."""
    with Beneath.open(root) as door, Journal.open(door) as journal:
        fd = _take(journal.fd, time.monotonic() + patience)
        try:
            yield
        finally:
            os.close(fd)


@contextmanager
def seize(root: Path) -> Iterator[None]:
    """Hold the workspace even if another does: only for who holds the lease, when the other has lost it."""
    with Beneath.open(root) as door, Journal.open(door) as journal, contextlib.suppress(FileNotFoundError):
        os.unlink(NAME, dir_fd=journal.fd)
    with lock(root):
        yield


def _take(folder: int, deadline: float) -> int:
    while True:
        fd = os.open(NAME, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        if _locked(fd) and _current(folder, fd):
            return fd
        os.close(fd)
        if time.monotonic() >= deadline:
            raise Busy()
        time.sleep(PAUSE)


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _current(folder: int, fd: int) -> bool:
    """Whether this is still the file that the next one would lock: it may have been seized between opening and
    locking."""
    try:
        return os.stat(NAME, dir_fd=folder).st_ino == os.fstat(fd).st_ino
    except FileNotFoundError:
        return False
