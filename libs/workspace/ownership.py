"""Ownership: whether this installation made a `.suma`, for this folder (decision 0053).

Folders are unpacked, cloned, copied and synchronised, and their `.suma` comes along. Its content controls actions: a
recovery moves files as a transaction says. So a `.suma` is valid only with a proof: a token, authenticated with a key
of the data directory together with the inodes of the folder and of the `.suma` itself. Each intent is authenticated
with the token. A `.suma` without proof is renamed, whole and unread, and its new name is reported to the person.
"""

from __future__ import annotations

import contextlib
import fcntl
import hmac
import json
import os
import secrets
import stat
from pathlib import Path

from libs.workspace import ctimes
from libs.workspace.errors import BadRoot, Busy
from libs.workspace.journal import AREAS, LOCK, OWNER, PROVED
from libs.workspace.reserved import HIDDEN, SET_ASIDE
from libs.workspace.safe_dir import LISTED, SafeDir, place

SKILLS = "skills"
"""Folder with skills of its own; they are off until a person approves them."""
ASIDE_MOST = 1_000


def check(root: Path, secret: bytes) -> str | None:
    """Rename a `.suma` of another installation and return a sentence that reports it; None if there was no need.

    Raises:
        Busy: another process works in it.
        BadRoot: it cannot be renamed.
    """
    with SafeDir.open(root) as safe_dir:
        try:
            found = os.stat(HIDDEN, dir_fd=safe_dir.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            fd = os.open(HIDDEN, LISTED | os.O_NOFOLLOW, dir_fd=safe_dir.fd)
            try:
                # An empty folder needs no proof: there is nothing in it to act on.
                if _sound(fd) and (_proved(safe_dir.fd, fd, secret) or _blank(fd)):
                    return None
                _refuse_busy(fd)
            finally:
                os.close(fd)
    return set_aside(root)


def set_aside(root: Path) -> str:
    """Rename the `.suma` of a folder and return a sentence that reports it."""
    with SafeDir.open(root) as safe_dir:
        name = _renamed(safe_dir)
    return (
        f"{root / HIDDEN} was not made here for this folder, or the folder was copied or moved. It was renamed to"
        f" {name}; nothing in it was used, and changes that it records cannot be undone here."
    )


def own(root: Path, secret: bytes) -> None:
    """Create the `.suma` of a folder that has none, and its proof; one that is proved or foreign stays as it is."""
    with SafeDir.open(root) as safe_dir:
        before = os.fstat(safe_dir.fd).st_mtime_ns
        with contextlib.suppress(FileExistsError):
            os.mkdir(HIDDEN, 0o700, dir_fd=safe_dir.fd)
            safe_dir.set_mtime("", before)
        fd = os.open(HIDDEN, LISTED | os.O_NOFOLLOW, dir_fd=safe_dir.fd)
        try:
            if not _proved(safe_dir.fd, fd, secret) and _blank(fd):
                _prove(safe_dir.fd, fd, secret)
        finally:
            os.close(fd)


def _sound(fd: int) -> bool:
    """Return whether everything has the kind and name that the journal gives it."""
    for area in AREAS:
        mode = _mode(fd, area)
        if mode is not None and not stat.S_ISDIR(mode):
            return False
    if not all(mode is None or stat.S_ISREG(mode) for mode in (_mode(fd, LOCK), _mode(fd, OWNER))):
        return False
    return all(name.rpartition(".")[2].isdecimal() for area in ("txn", "history") for name in _names(fd, area))


def _proved(root: int, fd: int, secret: bytes) -> bool:
    proof = _read(fd)
    with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
        found = json.loads(proof)
        # The mac binds the token to these inodes, so a copied folder proves nothing.
        return hmac.compare_digest(found["mac"], _mac(root, fd, secret, found["token"]))
    return False


def _blank(fd: int) -> bool:
    """Return whether it holds nothing to act on: no transaction, no history."""
    return _mode(fd, ctimes.NAME) is None and not any(_names(fd, area) for area in AREAS)


def _prove(root: int, fd: int, secret: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(OWNER, dir_fd=fd)
    token, aside = secrets.token_hex(32), f".{OWNER}.{secrets.token_hex(8)}"
    with os.fdopen(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=fd), "w") as file:
        json.dump({"token": token, "mac": _mac(root, fd, secret, token)}, file)
        file.flush()
        os.fsync(file.fileno())
    # If two processes do this at once, the first one's proof stays.
    try:
        place(fd, aside, fd, OWNER)
        os.fsync(fd)
    except FileExistsError:
        pass
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside, dir_fd=fd)


def _mac(root: int, fd: int, secret: bytes, token: str) -> str:
    # Leave out the device: its number changes with the order of the disks, and a copy has other inodes anyway.
    bound = f"{os.fstat(root).st_ino}\0{os.fstat(fd).st_ino}\0{token}"
    return hmac.new(secret, bound.encode(), "sha256").hexdigest()


def _renamed(safe_dir: SafeDir) -> str:
    before = os.fstat(safe_dir.fd).st_mtime_ns
    for number in range(1, ASIDE_MOST):
        name = f"{SET_ASIDE}{number}"
        try:
            place(safe_dir.fd, HIDDEN, safe_dir.fd, name)
        except FileExistsError:
            continue
        except OSError as error:
            raise BadRoot(f"{HIDDEN} was not made here and cannot be renamed: {error.strerror}; remove it") from error
        _keep_skills(safe_dir, name)
        safe_dir.set_mtime("", before)
        return name
    raise BadRoot(f"{HIDDEN} was not made here, and every new name for it is taken; remove some of {SET_ASIDE}…")


def _keep_skills(safe_dir: SafeDir, aside: str) -> None:
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(safe_dir.stat(f"{aside}/{SKILLS}").st_mode):
            return
        os.mkdir(HIDDEN, 0o700, dir_fd=safe_dir.fd)
        with safe_dir.parent(f"{aside}/{SKILLS}") as (source, _), safe_dir.parent(f"{HIDDEN}/{SKILLS}") as (target, _):
            place(source, SKILLS, target, SKILLS)


def _refuse_busy(fd: int) -> None:
    """Refuse to rename a folder while another installation works in it."""
    with contextlib.suppress(OSError):
        lock = os.open(LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=fd)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"another installation of Suma is using {HIDDEN}; try again when it is done") from None
        finally:
            os.close(lock)


def _mode(fd: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _names(fd: int, area: str) -> list[str]:
    try:
        inner = os.open(area, LISTED | os.O_NOFOLLOW, dir_fd=fd)
    except FileNotFoundError:
        return []
    try:
        with os.scandir(inner) as entries:
            return [entry.name for entry in entries]
    finally:
        os.close(inner)


def _read(fd: int) -> bytes:
    try:
        with os.fdopen(os.open(OWNER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=fd), "rb") as file:
            return file.read(PROVED)
    except OSError:
        return b""
