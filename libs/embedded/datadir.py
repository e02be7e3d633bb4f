"""The data directory: one folder (0700) that holds the state of an embedded platform, and its lock.

format      the version of this layout; it marks the folder as Suma's
lock        held by the live platform; names its process and URL
key         the local API key (0600), read by the command line
postgres/   the cluster          sockets/   where PostgreSQL and Redis listen
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

from libs.errors import NotFound, Rejected

LOOK_PAUSES = (0.01, 0.05)
"""Seconds between a start's attempts to get the lock."""
FORMAT = 1
"""Increase it when the previous version can't read a directory written by this version."""


class UnusableDirectory(Rejected):
    """The data directory cannot be used; choose another folder."""

    code = "UNUSABLE_DATA_DIRECTORY"


class ForeignDirectory(Rejected):
    """The folder contains files of another program; choose an empty folder."""

    code = "FOREIGN_DATA_DIRECTORY"


class NewerFormat(Rejected):
    """A newer Suma wrote this data directory; use that version."""

    code = "NEWER_DATA_FORMAT"


class AlreadyRunning(Rejected):
    """A live platform uses this data directory; stop it, or choose another folder."""

    code = "ALREADY_RUNNING"


class NoKey(NotFound):
    """There is no local API key yet; start the platform first."""

    code = "NO_KEY"


@dataclass(frozen=True)
class Owner:
    """The process that holds a data directory, and its URL (None until it listens).

    `urls` are the addresses of services that run in processes of their own, by name.
    """

    pid: int
    url: str | None = None
    model: str | None = None
    urls: Mapping[str, str] = field(default_factory=dict)


def location(environment: Mapping[str, str]) -> Path:
    """Return `SUMA_DATA_DIR`, else `$XDG_DATA_HOME/suma`, else `~/.local/share/suma` (a relative XDG home counts as
    unset).
    """
    if chosen := environment.get("SUMA_DATA_DIR"):
        return Path(chosen).expanduser().absolute()
    home = Path(environment.get("XDG_DATA_HOME", ""))
    return (home if home.is_absolute() else Path("~/.local/share").expanduser()) / "suma"


class DataDirectory:
    """A folder that is verified as a Suma data directory; returned by `prepare` and `existing`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def key_file(self) -> Path:
        return self.path / "key"

    def key(self) -> str:
        """Return the local API key. Raises `NoKey` if no platform has started yet."""
        try:
            return self.key_file.read_text().strip()
        except FileNotFoundError:
            raise NoKey(f"{self.key_file} does not exist yet: start the platform with `suma up`") from None

    def key_or_new(self, mint: Callable[[], str]) -> str:
        """Return the local API key, created by the first start; concurrent starts all use the first one's."""
        if not self.key_file.exists():
            _create_once(self.key_file, mint() + "\n")
        return self.key()

    def owner(self) -> Owner | None:
        """Return the last recorded owner. After a SIGKILL that process may be dead: ask its URL."""
        try:
            said = json.loads((self.path / "lock").read_text())
            # A newer Suma may record more fields.
            return Owner(said["pid"], said.get("url"), said.get("model"), dict(said.get("urls", {})))
        except (FileNotFoundError, ValueError, TypeError, LookupError, AttributeError):
            return None

    def live_owner(self) -> Owner | None:
        """Return the process that holds the directory's lock now; a recorded process may be dead."""
        try:
            handle = os.open(self.path / "lock", os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            # Shared: two that only look must not take each other for a platform.
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return self.owner()
        finally:
            os.close(handle)
        return None

    @contextmanager
    def held(self) -> Iterator[Hold]:
        """Hold the directory's lock until the block ends; the kernel releases it if the process dies. Raises
        `AlreadyRunning`.
        """
        handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._lock(handle)
            try:
                yield Hold(handle)
            finally:
                # Leave no address of a stopped platform; the lock itself ends with the handle.
                os.ftruncate(handle, 0)
        finally:
            os.close(handle)

    def _lock(self, handle: int) -> None:
        # `live_owner` holds the lock for a moment; that must not refuse a start.
        for pause in (*LOOK_PAUSES, None):
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            if pause is not None:
                time.sleep(pause)
        raise AlreadyRunning(self._in_use())

    def _in_use(self) -> str:
        owner = self.owner()
        who = f"process {owner.pid}" if owner else "another process"
        where = f" at {owner.url}" if owner and owner.url else ""
        return f"Suma is already running on {self.path} ({who}{where}): use it, stop it, or set SUMA_DATA_DIR"


class Hold:
    """The held lock on a data directory."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._write_owner({"pid": os.getpid(), "url": None})

    def announce(self, url: str, *, model: str | None = None, urls: Mapping[str, str] | None = None) -> None:
        """Record the platform's URL and model, for the command line and for a second start; `urls` as in `Owner`."""
        self._write_owner({"pid": os.getpid(), "url": url, "model": model, "urls": dict(urls or {})})

    def _write_owner(self, owner: Mapping[str, object]) -> None:
        text = json.dumps(owner).encode()
        os.pwrite(self._handle, text, 0)
        os.ftruncate(self._handle, len(text))


def prepare(path: Path) -> DataDirectory:
    """Create the directory, or check that Suma owns it and can read its format.

    Raises `ForeignDirectory`, `NewerFormat`, or `UnusableDirectory`; each says what to do.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = path.resolve()
        _check_or_mark(path)
        path.chmod(0o700)
    except OSError as error:
        raise UnusableDirectory(
            f"{path} cannot be the data directory ({error.strerror}): set SUMA_DATA_DIR to a folder of your own"
        ) from None
    return DataDirectory(path)


def existing(path: Path) -> DataDirectory:
    """Return a directory that a platform has created. Raises `NotFound` if none has."""
    if not (path / "format").is_file():
        raise NotFound(f"no data directory exists at {path}: start the platform with `suma up`")
    return DataDirectory(path.resolve())


def _check_or_mark(path: Path) -> None:
    marker = path / "format"
    if not marker.exists():
        foreign = [entry for entry in path.iterdir() if not _is_draft_of(marker, entry)]
        if not foreign:
            _create_once(marker, f"{FORMAT}\n")
        # A concurrent start may have marked the folder and begun to fill it since the check.
        elif not marker.exists():
            raise ForeignDirectory(f"{path} holds files of another program: set SUMA_DATA_DIR to an empty folder")
    found = marker.read_text().strip()
    if not found.isdigit():
        raise ForeignDirectory(f"{marker} is not Suma's: set SUMA_DATA_DIR to an empty folder")
    if int(found) > FORMAT:
        newer = f"format {found}; this Suma reads format {FORMAT}"
        raise NewerFormat(f"{path} has {newer}: use the newer Suma, or set SUMA_DATA_DIR to another folder")


def _create_once(file: Path, text: str) -> None:
    """Write a private file (0600) atomically, unless it exists already."""
    draft = file.with_name(f"{file.name}.{token_hex(8)}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, text.encode())
        os.fsync(handle)
        # A link is atomic and never replaces: of concurrent starts the first one's file stays.
        with suppress(FileExistsError):
            os.link(draft, file)
    finally:
        os.close(handle)
        draft.unlink()


def _is_draft_of(file: Path, entry: Path) -> bool:
    """Return whether `entry` is a draft of `file`; a start that is killed during the write leaves one."""
    return entry.name.startswith(f"{file.name}.") and entry.suffix == ".new"
