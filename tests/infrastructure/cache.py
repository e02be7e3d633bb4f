"""What takes long to build is built once, into a folder outside the tree, and found there by every later run."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

IN_MEMORY_LEAST = 2 << 30
"""Bytes."""


class Unprovided(Exception):
    """A component can't be had on this machine; the reason is a sentence for whoever reads the skip."""


def home() -> Path:
    """`$XDG_CACHE_HOME/suma`, else `~/.cache/suma`."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "suma"


def built(name: str, build: Callable[[Path], None]) -> Path:
    """The folder `name` (with its version in it), filled by `build` where it is not there yet.

    One process builds while others wait; a build that fails or is killed leaves nothing behind that looks finished.

    Raises:
        Unprovided: `build` says so.
    """
    place = home() / name
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
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
    """Where a thousand databases are copied ten times sooner than on a disk, and programs can be run; None where there
    is no such place.
    """
    place = Path("/dev/shm")
    if not os.access(place, os.W_OK) or os.statvfs(place).f_flag & os.ST_NOEXEC:
        return None
    return place if shutil.disk_usage(place).free > IN_MEMORY_LEAST else None


def for_workspaces() -> Path | None:
    """The same, where files can have attributes too (kernel 6.6): a commit waits for the whole file system to be on
    the disk, and so for everyone's writes. What a SIGKILL leaves is the same there.
    """
    place = in_memory()
    try:
        with tempfile.NamedTemporaryFile(dir=place) as tried:
            os.setxattr(tried.name, "user.tried", b"")
    except OSError:
        return None
    return place
