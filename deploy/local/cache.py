"""The build cache: slow builds are stored in a folder outside the tree and reused by later runs."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

REMIND_SECONDS = 15.0
USUAL = {
    "kafka-4.1.0-classes": "20 s",
    "kafka": "1 to 3 minutes",
    "opa": "2 to 8 minutes",
    "versitygw": "1 to 4 minutes",
    "d2": "1 to 5 minutes",
    "plantuml": "10 s to 1 minute",
    "docker-parsers": "1 to 2 minutes",
    "base-": "1 to 2 minutes",
    "runner-base-": "20 s to 2 minutes",
    "image-": "1 to 2 minutes",
    "node-": "10 to 20 s",
    "npm-": "15 to 40 s",
    "web-checked": "15 to 40 s",
    "web-": "5 to 20 s",
}
"""Usual duration of a build on two cores, by the start of its name."""
IN_MEMORY_LEAST = 2 << 30
"""Bytes that must be free in the in-memory file system."""


class Unprovided(Exception):
    """A component can't be provided on this machine; the text gives the reason."""


def home() -> Path:
    """Return `$XDG_CACHE_HOME/suma`, else `~/.cache/suma`."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "suma"


Report = Callable[[str], None]
_report: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def reporting(report: Report) -> Iterator[None]:
    """Pass a line to `report` when a build or a server starts, and at intervals until a build ends."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def tell(line: str) -> None:
    """Pass a line to the report, if there is one."""
    if (report := _report.get()) is not None:
        report(line)


@contextmanager
def _reported(what: str) -> Iterator[None]:
    report = _report.get()
    if report is None:
        yield
        return
    report(what)
    began, done = time.monotonic(), threading.Event()

    def remind() -> None:
        while not done.wait(REMIND_SECONDS):
            report(f"still {what}: {time.monotonic() - began:.0f} s so far")

    reminder = threading.Thread(target=remind, daemon=True)
    reminder.start()
    try:
        yield
    finally:
        done.set()
        reminder.join()
        report(f"ended after {time.monotonic() - began:.0f} s: {what}")


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def built(name: str, build: Callable[[Path], None]) -> Path:
    """Return the folder `name` (which includes its version); `build` fills it if it does not exist.

    One process builds while others wait. A build that fails or is killed leaves nothing that looks finished.
    `reporting` shows the progress.

    Raises:
        Unprovided: raised by `build`.
    """
    place = home() / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        return place
    usual = next((usual for part, usual in USUAL.items() if name.startswith(part)), "a minute or more")
    with _reported(f"building {name} once (usually {usual})"), _locked(place.with_name(f"{place.name}.lock")):
        if not place.exists():
            draft = Path(tempfile.mkdtemp(prefix=f"{place.name}.", dir=place.parent))
            try:
                build(draft)
                draft.chmod(0o755)
                draft.rename(place)
            except BaseException:
                shutil.rmtree(draft, ignore_errors=True)
                raise
    return place


def in_memory() -> Path | None:
    """Return an in-memory folder that may contain programs, or None. A thousand databases are copied there ten times
    faster than on a disk.
    """
    place = Path("/dev/shm")
    if not os.access(place, os.W_OK) or os.statvfs(place).f_flag & os.ST_NOEXEC:
        return None
    return place if shutil.disk_usage(place).free > IN_MEMORY_LEAST else None


def for_workspaces() -> Path | None:
    """Return `in_memory()` if it supports extended attributes (kernel 6.6), or None. On a disk each commit waits until
    the whole file system is synced, including all other writes. A SIGKILL leaves the same state in memory.
    """
    place = in_memory()
    try:
        with tempfile.NamedTemporaryFile(dir=place) as tried:
            os.setxattr(tried.name, "user.tried", b"")
    except OSError:
        return None
    return place
