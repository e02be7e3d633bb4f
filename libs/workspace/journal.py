"""The journal: transactions as folders on the disk, so that recovery needs neither a database nor the tree.

    .suma/lock                  the lock of the workspace
    .suma/owner                 the proof of ownership, with the token that authenticates intents (`ownership`)
    .suma/txn/<id>.<n>          an open transaction: slots, markers, and `intent`, the whole plan
    .suma/history/<id>.<n>      a finished transaction, kept for rollback
    .suma/outcomes/<id>.undone  the outcome of a transaction whose folder is no longer kept
    .suma/ctimes                files that an undone transaction renamed and put back: inode, ctime before, ctime after
    .suma/trash                 folders that are being removed

Markers are written first and only renamed later: on a full disk a rename still succeeds. `<n>` is a generation.
Recovery moves everything into a new folder and removes the old one. A process that was paused meanwhile, even between
its check and its system call, then holds a removed folder: no rename into it or out of it can succeed.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from libs.errors import Rejected, SumaError
from libs.workspace.diff import Diff
from libs.workspace.errors import FULL, BadRoot, Forged, NoSpace
from libs.workspace.names import encode, join
from libs.workspace.plan import Plan
from libs.workspace.reserved import HIDDEN
from libs.workspace.safe_dir import FOLDER, LISTED, SafeDir, place

Outcome = Literal["committed", "undone", "absent"]
Area = Literal["txn", "history"]
TRASH = "trash"
AREAS = ("txn", "history", "outcomes", TRASH)
PLACING, COMMITTED, UNDOING, ABORTED, DISTURBED = "placing", "committed", "undoing", "aborted", "disturbed"
MARKERS = (PLACING, COMMITTED, UNDOING, ABORTED, DISTURBED)
INTENT, LOCK, OWNER = "intent", "lock", "owner"
PROVED = 4096  # bytes of the proof, at most
MARK = "~"
"""Separates a commit's id from its suffix: the number of a rollback, or of an undone attempt that was kept."""
PRUNED = f"{MARK}pruned"
ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}(~\d+)?")


@dataclass(frozen=True)
class Intent:
    """The content of a transaction. `store` names the transaction whose folder holds the slots: itself, or for a
    rollback the commit.
    """

    id: str
    store: str
    plan: Plan
    diff: Diff
    warnings: tuple[str, ...] = ()
    request: str | None = None
    """The request of a rollback."""


class Folder:
    """One transaction's open folder. The journal yields it in a `with` and closes it at the end."""

    def __init__(self, area: Area, name: str, fd: int, token: bytes) -> None:
        self.area, self.name, self.fd, self._token = area, name, fd, token
        self.safe_dir = SafeDir(fd)

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
        """True once a recovery has moved everything out of it."""
        return os.fstat(self.fd).st_nlink == 0

    def mark(self, marker: str) -> None:
        if self.holds(marker):
            return
        os.rename(f".{marker}", marker, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        # The marker is the only progress that a recovery sees, so its name must be on the disk before the next step.
        os.fsync(self.fd)

    def unmark(self, marker: str) -> None:
        os.rename(marker, f".{marker}", src_dir_fd=self.fd, dst_dir_fd=self.fd)
        os.fsync(self.fd)

    def prepare(self) -> None:
        for marker in MARKERS:
            os.close(os.open(f".{marker}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=self.fd))

    def write_intent(self, intent: Intent) -> None:
        """Write the whole intent to the disk, or nothing."""
        flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW
        with os.fdopen(os.open(f".{INTENT}", flags, 0o600, dir_fd=self.fd), "wb") as stream:
            body = _intents().dump_json(intent)
            stream.write(self._mac(body) + b"\n" + body)
            stream.flush()
            os.fsync(stream.fileno())
        # Renamed when whole and synced: a crash leaves no half intent under this name.
        os.rename(f".{INTENT}", INTENT, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        os.fsync(self.fd)

    def intent(self) -> Intent:
        """Read the intent.

        Raises:
            Forged: it was not written with this folder's token.
        """
        with os.fdopen(os.open(INTENT, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self.fd), "rb") as stream:
            mac, _, body = stream.read().partition(b"\n")
        if not hmac.compare_digest(mac, self._mac(body)):
            raise Forged(f"{HIDDEN}/{self.area}/{self.name} was not written here")
        return _intents().validate_json(body)

    def _mac(self, body: bytes) -> bytes:
        return hmac.new(self._token, body, "sha256").hexdigest().encode()


class Journal:
    """The hidden folder of one workspace."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._token = _token(fd)

    @classmethod
    @contextmanager
    def open(cls, safe_dir: SafeDir) -> Iterator[Journal]:
        """Open the journal. Creating it at first use leaves the root's own mtime unchanged, which a rollback must
        restore.
        """
        fd = _made(safe_dir)
        try:
            _refuse_foreign(fd)
            _make_areas(fd)
            yield cls(fd)
        finally:
            os.close(fd)

    def pending(self) -> list[str]:
        """Return the transactions that were begun and not archived."""
        return sorted({name.rpartition(".")[0] for name in self._names("txn")})

    def history(self, prefix: str = "") -> list[str]:
        return sorted({name.rpartition(".")[0] for name in self._names("history") if name.startswith(prefix)})

    @contextmanager
    def begin(self, id: str) -> Iterator[Folder]:
        if not ID.fullmatch(id):
            raise Rejected(f"{id!r} is not a valid commit id")
        with contextlib.suppress(FileNotFoundError):
            # An earlier attempt was undone; this one will have an outcome of its own.
            os.unlink(f"outcomes/{id}.undone", dir_fd=self.fd)
        # Never reuse a name: a former owner that resumes late archives its own folder, not this one.
        name = f"{id}.{time.time_ns()}"
        os.mkdir(f"txn/{name}", 0o700, dir_fd=self.fd)
        with self._opened("txn", name) as folder:
            try:
                folder.prepare()
            except OSError:
                # Else it would be pending, and a recovery needs space as well.
                self.discard(folder)
                raise
            yield folder

    def marked(self, area: Area, id: str, marker: str) -> bool:
        """Return whether a marker exists, in any generation that a recovery has created."""
        for name in self._generations(area, id):
            with contextlib.suppress(FileNotFoundError):
                os.stat(f"{area}/{name}/{marker}", dir_fd=self.fd)
                return True
        return False

    @contextmanager
    def find(self, area: Area, id: str) -> Iterator[Folder | None]:
        """Yield the newest generation of a transaction's folder."""
        found = self._generations(area, id)
        if not found:
            yield None
            return
        with self._opened(area, found[-1]) as folder:
            yield folder

    @contextmanager
    def renewed(self, area: Area, id: str) -> Iterator[Folder | None]:
        """Yield the folder in a new generation; a process with an older one open cannot change anything through it."""
        old = self._generations(area, id)
        if not old:
            yield None
            return
        name = f"{id}.{_generation(old[-1]) + 1}"
        os.mkdir(f"{area}/{name}", 0o700, dir_fd=self.fd)
        with self._opened(area, name) as folder:
            # A recovery that was killed here left several: its successor empties them all.
            for older in old:
                self._empty(area, older, folder)
            os.fsync(folder.fd)
            yield folder

    def archive(self, folder: Folder) -> None:
        """Keep a finished transaction in the history."""
        self._rename(f"{folder.area}/{folder.name}", f"history/{folder.name}")
        # The new name first: a power loss between the two must not lose both.
        self._sync("history")
        self._sync("txn")

    def keep(self, folder: Folder) -> None:
        """Keep an undone transaction, because a slot holds another program's bytes."""
        self._rename(f"{folder.area}/{folder.name}", f"history/{folder.id}{MARK}kept.{time.time_ns()}")
        self._sync("history")
        self._sync("txn")

    def discard(self, folder: Folder) -> None:
        """Remove a transaction's folder in one step, then its contents."""
        self._rename(f"{folder.area}/{folder.name}", f"{TRASH}/{folder.area}-{folder.name}")
        self._sync(folder.area)
        self.sweep()

    def set_aside(self, id: str) -> None:
        """Take a commit out of the history in one step; `litter` lists it afterwards."""
        for name in self._generations("history", id):
            self._rename(f"history/{name}", f"history/{id}{PRUNED}.{_generation(name)}")
        self._sync("history")

    def set_back(self, id: str) -> None:
        for name in self._generations("history", f"{id}{PRUNED}"):
            self._rename(f"history/{name}", f"history/{id}.{_generation(name)}")
        self._sync("history")

    def litter(self) -> list[str]:
        """Return commits that were marked for removal and not removed yet."""
        return [id for id in self.history() if id.endswith(PRUNED)]

    def sweep(self) -> None:
        """Remove the rest of a half removed commit. Files that cannot be removed, such as another user's, stay and do
        no harm.
        """
        for name in self._names(TRASH):
            _make_writable(SafeDir(self.fd), join(TRASH, encode(os.fsencode(name))))
            shutil.rmtree(f"{TRASH}/{name}", ignore_errors=True, dir_fd=self.fd)

    def note(self, folder: Folder, outcome: Outcome) -> None:
        """Record how a transaction ended, for the time after its folder is gone."""
        name = f"outcomes/{folder.id}.{outcome}"
        # A marker that was never set is renamed: a disk without free inodes permits no new file.
        for marker in MARKERS:
            with contextlib.suppress(FileNotFoundError):
                os.rename(f".{marker}", name, src_dir_fd=folder.fd, dst_dir_fd=self.fd)
                break
        else:
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=self.fd))
        self._sync("outcomes")

    def noted(self, id: str) -> Outcome:
        names = set(self._names("outcomes"))
        if f"{id}.committed" in names:
            return "committed"
        return "undone" if f"{id}.undone" in names else "absent"

    def _empty(self, area: Area, name: str, into: Folder) -> None:
        """Move everything over and repeat until the folder can be removed: a paused process may still add something to
        it.
        """
        with self._opened(area, name) as old:
            for _ in range(100):
                for entry in _listed(old.fd):
                    place(old.fd, entry, into.fd, entry)
                with contextlib.suppress(OSError):
                    return os.rmdir(f"{area}/{name}", dir_fd=self.fd)
        raise Rejected(f"{HIDDEN}/{area}/{name} cannot be emptied: another process keeps adding files")

    @contextmanager
    def _opened(self, area: Area, name: str) -> Iterator[Folder]:
        fd = os.open(f"{area}/{name}", LISTED | os.O_NOFOLLOW, dir_fd=self.fd)
        try:
            yield Folder(area, name, fd, self._token)
        finally:
            os.close(fd)

    def _generations(self, area: Area, id: str) -> list[str]:
        return sorted((name for name in self._names(area) if name.rpartition(".")[0] == id), key=_generation)

    def _names(self, area: str) -> list[str]:
        fd = os.open(area, LISTED | os.O_NOFOLLOW, dir_fd=self.fd)
        try:
            return _listed(fd)
        finally:
            os.close(fd)

    def _rename(self, old: str, new: str) -> None:
        # A name is never reused: if it is gone, a recovery has already moved this very folder.
        with contextlib.suppress(FileNotFoundError):
            os.rename(old, new, src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def _sync(self, area: str) -> None:
        fd = os.open(area, LISTED, dir_fd=self.fd)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _made(safe_dir: SafeDir) -> int:
    before = os.fstat(safe_dir.fd).st_mtime_ns
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(HIDDEN, 0o700, dir_fd=safe_dir.fd)
            safe_dir.set_mtime("", before)
        return safe_dir.at(HIDDEN, LISTED)
    except OSError as error:
        raise _unusable(error) from error


def _make_areas(fd: int) -> None:
    try:
        for area in AREAS:
            with contextlib.suppress(FileExistsError):
                os.mkdir(area, 0o700, dir_fd=fd)
    except OSError as error:
        raise _unusable(error) from error


def _unusable(error: OSError) -> SumaError:
    if error.errno in FULL:
        return NoSpace(f"{HIDDEN}: the disk is full; nothing was changed")
    return BadRoot(f"{HIDDEN} in the workspace cannot be used: {error.strerror}")


def _refuse_foreign(fd: int) -> None:
    """Refuse another user's folder: slots hold people's files, so only this user may have access."""
    found = os.fstat(fd)
    if found.st_uid != os.geteuid():
        raise BadRoot(f"{HIDDEN} in the workspace belongs to another user")
    if stat.S_IMODE(found.st_mode) != 0o700:
        os.fchmod(fd, 0o700)


def _token(fd: int) -> bytes:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        with os.fdopen(os.open(OWNER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=fd), "rb") as file:
            token: str = json.loads(file.read(PROVED))["token"]
        return token.encode()
    return b""


def _make_writable(safe_dir: SafeDir, path: str) -> None:
    """Give the owner every permission on a folder and on those beneath it: only then can their contents be removed."""
    pending = [path]
    while pending:
        folder = pending.pop()
        # Another user's folder stays as it is, and so does its content.
        with contextlib.suppress(OSError):
            _permit(safe_dir, folder)
            with safe_dir.entries(folder) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            pending += [join(folder, encode(os.fsencode(name))) for name in names]


def _permit(safe_dir: SafeDir, folder: str) -> None:
    # An unreadable folder can only be opened as a path, and a path's mode can only be changed by its name in /proc.
    fd = safe_dir.at(folder, FOLDER)
    try:
        mode = stat.S_IMODE(os.fstat(fd).st_mode)
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            Path(f"/proc/self/fd/{fd}").chmod(mode | stat.S_IRWXU)
    finally:
        os.close(fd)


def _listed(fd: int) -> list[str]:
    with os.scandir(fd) as entries:
        return [entry.name for entry in entries]


def _generation(name: str) -> int:
    return int(name.rpartition(".")[2])


@cache
def _intents() -> TypeAdapter[Intent]:
    return TypeAdapter(Intent)
