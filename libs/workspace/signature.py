"""The signature of a file: enough to detect a change by another program without reading the file."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple


class Signature(NamedTuple):
    """Inode, size, mtime, mode and ctime, as last read.

    Writing in place changes the ctime even if size and mtime are restored. A rename changes it too, so a file that a
    commit has moved is compared without it (`moved`).
    """

    ino: int
    size: int
    mtime_ns: int
    mode: int
    ctime_ns: int = 0
    """0 if it is not compared."""

    @classmethod
    def of(cls, found: os.stat_result) -> Signature:
        return cls(found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode, found.st_ctime_ns)

    @classmethod
    def at(cls, fd: int, name: bytes | str) -> Signature | None:
        """Return the signature of a name in an open folder; None if nothing has that name."""
        try:
            return cls.of(os.stat(name, dir_fd=fd, follow_symlinks=False))
        except FileNotFoundError:
            return None

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    def matches(self, other: Signature | None) -> bool:
        """Return whether the file is unchanged. A folder's size and mtime depend on its entries, which are compared one
        by one.
        """
        if other is None:
            return False
        if self.is_directory:
            return (self.ino, self.mode) == (other.ino, other.mode)
        # 0 is a ctime that is not compared, as of a file that Suma has renamed.
        return self[:4] == other[:4] and (self.ctime_ns == other.ctime_ns or 0 in (self.ctime_ns, other.ctime_ns))

    def moved(self) -> Signature:
        """Return the signature of the same file after a rename by Suma, which matches any ctime."""
        return self._replace(ctime_ns=0)

    def text(self) -> str:
        """Return a text for logs and digests, equal if `matches` holds for two signatures with a ctime."""
        seen = (self.ino, self.mode) if self.is_directory else self
        return ":".join(map(str, seen))


def kind_of(mode: int) -> str:
    """Return file, directory, symlink or other."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "symlink" if stat.S_ISLNK(mode) else "other"
