"""Mounts for a test's child process, in a namespace of its own, through the C library."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from itertools import count
from pathlib import Path

CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE, MS_BIND = 0x4000, 1 << 18, 0x1000


def apart() -> None:
    """Enter a mount namespace: only this process and its children see later mounts."""
    _call(_libc().unshare(CLONE_NEWNS))
    _call(_libc().mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))


def mounted(source: str, target: Path, kind: str, options: str = "") -> None:
    _call(_libc().mount(source.encode(), bytes(target), kind.encode(), 0, options.encode()))


def bound(source: Path, target: Path) -> None:
    _call(_libc().mount(bytes(source), bytes(target), None, MS_BIND, None))


def take_inodes(folder: Path, but: int = 0) -> None:
    """Create empty files until the folder's file system has only so many free inodes."""
    files = []
    with suppress(OSError):
        for number in count():
            (folder / f"filler{number}").touch()
            files.append(folder / f"filler{number}")
    for spare in files[:but]:
        spare.unlink()


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
