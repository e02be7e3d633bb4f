"""The data directory: one folder (0700) that holds all that an embedded platform keeps, and who may use it.

format      the version of this layout; by it we know that the folder is ours
lock        held by the live platform; names its process and URL
key         the local API key (0600), read by the command line
postgres/   the cluster          sockets/   where PostgreSQL and Redis listen
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from libs.errors import NotFound, Rejected

FORMAT = 1
"""Raise it when a directory written by this version can't be read by the one before."""


class UnusableDirectory(Rejected):
    """The data directory cannot be used."""

    code = "UNUSABLE_DATA_DIRECTORY"


class ForeignDirectory(Rejected):
    """The folder holds something that is not ours."""

    code = "FOREIGN_DATA_DIRECTORY"


class NewerFormat(Rejected):
    """A newer Suma wrote this data directory."""

    code = "NEWER_DATA_FORMAT"


class AlreadyRunning(Rejected):
    """A live platform uses this data directory."""

    code = "ALREADY_RUNNING"


class NoKey(NotFound):
    """There is no key yet."""

    code = "NO_KEY"


@dataclass(frozen=True)
class Owner:
    """The process that holds a data directory, and where it listens (None until it does)."""

    pid: int
    url: str | None = None


def location(environment: Mapping[str, str]) -> Path:
    """`SUMA_DATA_DIR`, else `$XDG_DATA_HOME/suma`, else `~/.local/share/suma` (a relative XDG home counts as unset)."""
    if chosen := environment.get("SUMA_DATA_DIR"):
        return Path(chosen).expanduser().absolute()
    home = Path(environment.get("XDG_DATA_HOME", ""))
    return (home if home.is_absolute() else Path("~/.local/share").expanduser()) / "suma"


class DataDirectory:
    """A folder that is known to be ours. Made by `prepare` or found by `existing`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def key_file(self) -> Path:
        return self.path / "key"

    def key(self) -> str:
        """The local API key. Raises `NoKey` where no platform has started yet."""
        try:
            return self.key_file.read_text().strip()
        except FileNotFoundError:
            raise NoKey(f"{self.key_file} does not exist yet: start the platform with `suma up`") from None

    def key_or_new(self, mint: Callable[[], str]) -> str:
        """The local API key, minted by the first start; of several at once, all use the first one's."""
        if not self.key_file.exists():
            _place_first(self.key_file, mint() + "\n")
        return self.key()

    def owner(self) -> Owner | None:
        """Who said last that this directory is theirs. After a SIGKILL it may be gone: ask its URL."""
        try:
            return Owner(**json.loads((self.path / "lock").read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    @contextmanager
    def held(self) -> Iterator[Hold]:
        """Be the one live platform here; the kernel lets go for us when we die. Raises `AlreadyRunning`."""
        handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._lock(handle)
            try:
                yield Hold(handle)
            finally:
                os.ftruncate(handle, 0)
        finally:
            os.close(handle)

    def _lock(self, handle: int) -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(self._in_use()) from None

    def _in_use(self) -> str:
        owner = self.owner()
        who = f"process {owner.pid}" if owner else "another process"
        where = f" at {owner.url}" if owner and owner.url else ""
        return f"Suma is already running on {self.path} ({who}{where}): use it, stop it, or set SUMA_DATA_DIR"


class Hold:
    """The lock on a data directory, while it is ours."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._say({"pid": os.getpid(), "url": None})

    def announce(self, url: str) -> None:
        """Tell the command line, and whoever tries to start a second time, where we listen."""
        self._say({"pid": os.getpid(), "url": url})

    def _say(self, owner: Mapping[str, object]) -> None:
        text = json.dumps(owner).encode()
        os.pwrite(self._handle, text, 0)
        os.ftruncate(self._handle, len(text))


def prepare(path: Path) -> DataDirectory:
    """Make the directory, or check that it is ours and that we can read its format.

    Raises `ForeignDirectory`, `NewerFormat`, or `UnusableDirectory`; each says what to do."""
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
    """The directory that a platform has made. Raises `NotFound` where none has."""
    if not (path / "format").is_file():
        raise NotFound(f"there is no data directory at {path}: start the platform with `suma up`")
    return DataDirectory(path.resolve())


def _check_or_mark(path: Path) -> None:
    marker = path / "format"
    if not marker.exists():
        strangers = [entry for entry in path.iterdir() if not _is_draft_of(marker, entry)]
        if not strangers:
            _place_first(marker, f"{FORMAT}\n")
        # Whoever starts beside us may have marked the folder, and begun to fill it, while we looked.
        elif not marker.exists():
            raise ForeignDirectory(f"{path} holds something that is not Suma's: set SUMA_DATA_DIR to an empty folder")
    found = marker.read_text().strip()
    if not found.isdigit():
        raise ForeignDirectory(f"{marker} is not Suma's: set SUMA_DATA_DIR to an empty folder")
    if int(found) > FORMAT:
        newer = f"format {found}, and this Suma reads {FORMAT}"
        raise NewerFormat(f"{path} has {newer}: use the newer Suma, or set SUMA_DATA_DIR to another folder")


def _place_first(file: Path, text: str) -> None:
    """Write a file whole or not at all, for our eyes only, unless someone was first: then theirs stays."""
    draft = file.with_name(f"{file.name}.{token_hex(8)}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, text.encode())
        os.fsync(handle)
        with suppress(FileExistsError):
            os.link(draft, file)
    finally:
        os.close(handle)
        draft.unlink()


def _is_draft_of(file: Path, entry: Path) -> bool:
    """A start killed while it wrote the file leaves its draft."""
    return entry.name.startswith(f"{file.name}.") and entry.suffix == ".new"
