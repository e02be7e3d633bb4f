"""The journal: transactions as folders on the disk, so that recovery needs neither a database nor a look at the
tree.

    .suma/lock                  the lock of the workspace
    .suma/txn/<id>.<n>          an open transaction: slots, markers, and `intent`, the whole plan
    .suma/history/<id>.<n>      a finished one, kept for rollback
    .suma/outcomes/<id>.undone  how a transaction ended whose folder is no longer kept
    .suma/trash                 what is being removed

Markers are written before anything else and only renamed later: on a full disk a rename still succeeds. `<n>` is a
generation. Recovery moves everything into a new folder and removes the old one, so that a process that slept through
it, even between its check and its system call, holds a folder into which and out of which nothing can be renamed any
more.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import TypeAdapter

from libs.errors import Rejected
from libs.workspace.beneath import LISTED, Beneath, place
from libs.workspace.diff import Diff
from libs.workspace.errors import BadRoot
from libs.workspace.plan import Plan
from libs.workspace.scope import HIDDEN

Outcome = Literal["committed", "undone", "absent"]
Room = Literal["txn", "history"]
ROOMS = ("txn", "history", "outcomes", "trash")
PLACING, COMMITTED, UNDOING, ABORTED, DISTURBED = "placing", "committed", "undoing", "aborted", "disturbed"
MARKERS = (PLACING, COMMITTED, UNDOING, ABORTED, DISTURBED)
INTENT = "intent"
MARK = "~"
"""Between a commit's id and what belongs to it: the number of a rollback, or what was kept of an attempt."""
ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}(~\d+)?")


@dataclass(frozen=True)
class Intent:
    """What a transaction is going to do. `store` names the one whose folder holds the slots: itself, or for a
    rollback the commit's."""

    id: str
    store: str
    plan: Plan
    diff: Diff
    warnings: tuple[str, ...] = ()


class Folder:
    """One transaction's folder, open. Whoever got it from the journal closes it by leaving the `with`."""

    def __init__(self, room: Room, name: str, fd: int) -> None:
        self.room, self.name, self.fd = room, name, fd
        self.door = Beneath(fd)

    @property
    def id(self) -> str:
        return self.name.rpartition(".")[0]

    def holds(self, name: str) -> bool:
        try:
            os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    @property
    def removed(self) -> bool:
        """A recovery has taken over all that was in it."""
        return os.fstat(self.fd).st_nlink == 0

    def mark(self, marker: str) -> None:
        if self.holds(marker):
            return
        os.rename(f".{marker}", marker, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        os.fsync(self.fd)

    def unmark(self, marker: str) -> None:
        os.rename(marker, f".{marker}", src_dir_fd=self.fd, dst_dir_fd=self.fd)
        os.fsync(self.fd)

    def prepare(self) -> None:
        for marker in MARKERS:
            os.close(os.open(f".{marker}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=self.fd))

    def write_intent(self, intent: Intent) -> None:
        """All of it, or none, on the disk."""
        flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW
        with os.fdopen(os.open(f".{INTENT}", flags, 0o600, dir_fd=self.fd), "wb") as stream:
            stream.write(_intents().dump_json(intent))
            stream.flush()
            os.fsync(stream.fileno())
        os.rename(f".{INTENT}", INTENT, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        os.fsync(self.fd)

    def intent(self) -> Intent:
        with os.fdopen(os.open(INTENT, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.fd), "rb") as stream:
            return _intents().validate_json(stream.read())


class Journal:
    """The hidden folder of one workspace."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    @classmethod
    @contextmanager
    def open(cls, door: Beneath) -> Iterator[Journal]:
        """Open it, made at first use without a trace on the root's own mtime, which a rollback must give back."""
        fd = _made(door)
        try:
            _refuse_foreign(fd)
            for room in ROOMS:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(room, 0o700, dir_fd=fd)
            yield cls(fd)
        finally:
            os.close(fd)

    def pending(self) -> list[str]:
        """Transactions that were begun and not put away."""
        return sorted({name.rpartition(".")[0] for name in self._names("txn")})

    def history(self, prefix: str = "") -> list[str]:
        return sorted({name.rpartition(".")[0] for name in self._names("history") if name.startswith(prefix)})

    @contextmanager
    def begin(self, id: str) -> Iterator[Folder]:
        if not ID.fullmatch(id):
            raise Rejected(f"{id!r} cannot name a commit")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"outcomes/{id}.undone", dir_fd=self.fd)
        # Never a name that was used before: a former owner that wakes late puts away its own folder, not this one.
        name = f"{id}.{time.time_ns()}"
        os.mkdir(f"txn/{name}", 0o700, dir_fd=self.fd)
        with self._opened("txn", name) as folder:
            folder.prepare()
            yield folder

    def marked(self, room: Room, id: str, marker: str) -> bool:
        """Whether a marker stands, in whichever generation a recovery has left it by now."""
        for name in self._generations(room, id):
            with contextlib.suppress(FileNotFoundError):
                os.stat(f"{room}/{name}/{marker}", dir_fd=self.fd)
                return True
        return False

    @contextmanager
    def find(self, room: Room, id: str) -> Iterator[Folder | None]:
        """The newest generation of a transaction's folder."""
        found = self._generations(room, id)
        if not found:
            yield None
            return
        with self._opened(room, found[-1]) as folder:
            yield folder

    @contextmanager
    def renewed(self, room: Room, id: str) -> Iterator[Folder | None]:
        """The folder in a new generation; whoever still has an older one open can do nothing with it."""
        old = self._generations(room, id)
        if not old:
            yield None
            return
        name = f"{id}.{_generation(old[-1]) + 1}"
        os.mkdir(f"{room}/{name}", 0o700, dir_fd=self.fd)
        with self._opened(room, name) as folder:
            for older in old:
                self._empty(room, older, folder)
            os.fsync(folder.fd)
            yield folder

    def archive(self, folder: Folder) -> None:
        """Keep a finished transaction."""
        self._rename(f"{folder.room}/{folder.name}", f"history/{folder.name}")
        self._sync("history")
        self._sync("txn")

    def keep(self, folder: Folder) -> None:
        """Keep one that was undone, because a slot holds what is not ours to throw away."""
        self._rename(f"{folder.room}/{folder.name}", f"history/{folder.id}{MARK}kept.{time.time_ns()}")
        self._sync("history")
        self._sync("txn")

    def discard(self, folder: Folder) -> None:
        """Remove a transaction's folder in one step, then what was in it."""
        self._rename(f"{folder.room}/{folder.name}", f"trash/{folder.room}-{folder.name}")
        self._sync(folder.room)
        self.sweep()

    def sweep(self) -> None:
        """Remove what a killed process left half removed. What cannot be (another user's files) stays and harms
        nothing."""
        for name in self._names("trash"):
            shutil.rmtree(f"trash/{name}", ignore_errors=True, dir_fd=self.fd)

    def note(self, id: str, outcome: Outcome) -> None:
        """Remember how a transaction ended after its folder is gone."""
        os.close(os.open(f"outcomes/{id}.{outcome}", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=self.fd))
        self._sync("outcomes")

    def noted(self, id: str) -> Outcome:
        names = set(self._names("outcomes"))
        if f"{id}.committed" in names:
            return "committed"
        return "undone" if f"{id}.undone" in names else "absent"

    def _empty(self, room: Room, name: str, into: Folder) -> None:
        """Move everything over, again and again until the folder can be removed: a sleeper may just have put
        something there."""
        with self._opened(room, name) as old:
            for _ in range(100):
                for entry in _listed(old.fd):
                    place(old.fd, entry, into.fd, entry)
                with contextlib.suppress(OSError):
                    return os.rmdir(f"{room}/{name}", dir_fd=self.fd)
        raise Rejected(f"{HIDDEN}/{room}/{name} does not stay empty")

    @contextmanager
    def _opened(self, room: Room, name: str) -> Iterator[Folder]:
        fd = os.open(f"{room}/{name}", LISTED | os.O_NOFOLLOW, dir_fd=self.fd)
        try:
            yield Folder(room, name, fd)
        finally:
            os.close(fd)

    def _generations(self, room: Room, id: str) -> list[str]:
        return sorted((name for name in self._names(room) if name.rpartition(".")[0] == id), key=_generation)

    def _names(self, room: str) -> list[str]:
        fd = os.open(room, LISTED | os.O_NOFOLLOW, dir_fd=self.fd)
        try:
            return _listed(fd)
        finally:
            os.close(fd)

    def _rename(self, old: str, new: str) -> None:
        # A name is never used twice: if it is gone, a recovery has put this very folder away.
        with contextlib.suppress(FileNotFoundError):
            os.rename(old, new, src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def _sync(self, room: str) -> None:
        fd = os.open(room, LISTED, dir_fd=self.fd)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _made(door: Beneath) -> int:
    before = os.fstat(door.fd).st_mtime_ns
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(HIDDEN, 0o700, dir_fd=door.fd)
            door.set_mtime("", before)
        return door.at(HIDDEN, LISTED)
    except OSError as error:
        raise BadRoot(f"{HIDDEN} in the workspace cannot be used: {error.strerror}") from error


def _refuse_foreign(fd: int) -> None:
    """Slots hold people's files: the folder must be ours alone."""
    found = os.fstat(fd)
    if found.st_uid != os.geteuid():
        raise BadRoot(f"{HIDDEN} in the workspace belongs to another user")
    if stat.S_IMODE(found.st_mode) != 0o700:
        os.fchmod(fd, 0o700)


def _listed(fd: int) -> list[str]:
    with os.scandir(fd) as entries:
        return [entry.name for entry in entries]


def _generation(name: str) -> int:
    return int(name.rpartition(".")[2])


@cache
def _intents() -> TypeAdapter[Intent]:
    return TypeAdapter(Intent)
