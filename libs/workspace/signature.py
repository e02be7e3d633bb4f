"""The signature of a file: enough to see that someone else touched it, without reading it."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple


class Signature(NamedTuple):
    """Inode, size, mtime and mode, as the last look found them."""

    ino: int
    size: int
    mtime_ns: int
    mode: int

    @classmethod
    def of(cls, found: os.stat_result) -> Signature:
        return cls(found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode)

    @classmethod
    def at(cls, fd: int, name: bytes | str) -> Signature | None:
        """The signature of a name in an open folder; None where nothing has that name."""
        try:
            return cls.of(os.stat(name, dir_fd=fd, follow_symlinks=False))
        except FileNotFoundError:
            return None

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    def matches(self, other: Signature | None) -> bool:
        """Whether it is still the same. A folder's size and mtime follow its entries, which are looked at one by
        one."""
        if other is None:
            return False
        if self.is_directory:
            return (self.ino, self.mode) == (other.ino, other.mode)
        return self == other

    def text(self) -> str:
        """A spelling for logs and digests that is equal exactly where `matches` says so."""
        seen = (self.ino, self.mode) if self.is_directory else self
        return ":".join(map(str, seen))


def kind_of(mode: int) -> str:
    """file | directory | symlink | other"""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "symlink" if stat.S_ISLNK(mode) else "other"
