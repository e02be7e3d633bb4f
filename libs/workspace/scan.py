"""The scan: names and signatures of everything beneath a folder, read once.

Nodes are rows of a few arrays: about 70 bytes each, a fifteenth of a dict's size. The children of a folder are
consecutive rows ordered by name, so that a name is found by bisection. A scan never changes, so all sessions of a
folder share it; a `Tree` adds the changes of one session's stage.
"""

from __future__ import annotations

import errno
import os
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Literal

from libs.workspace import ctimes, ignore_rules, names, reserved
from libs.workspace.ignore_rules import Rules
from libs.workspace.reserved import IGNORE_FILE
from libs.workspace.safe_dir import LISTED, SafeDir
from libs.workspace.signature import Signature, kind_of

Listed = list[tuple[str, Signature]]
ROOT = 0
RACY_NS = 10_000_000
"""A file changed this recently may change again within one tick of the clock and keep its mtime (kernels before 6.13).
"""
Absence = Literal["hidden", "odd", "ignored"]
INO, MODE, SIZE = map(Signature._fields.index, ("ino", "mode", "size"))


Check = Callable[[], None]


def no_check() -> None:
    """Never stop."""


class Scan:
    """One scan of a folder. Rows are node numbers; row 0 is the folder itself."""

    def __init__(self, root: Path, top: Signature) -> None:
        self.root = root
        self.sealed: dict[int, str] = {}
        """Folders that could not be read completely, and why: other mounts, no permission."""
        self.whole: dict[int, str] = {}
        """Folders that are one item and were not read, with their kind (`reserved`)."""
        self.reserved: list[int] = []
        """Nodes that bulk selections skip."""
        self.absent: dict[int, dict[str, Absence]] = {}
        """Names that are not nodes, by folder, with the reason."""
        self.problems: list[str] = []
        """Problems in the ignore files, as sentences."""
        self._renames: Mapping[tuple[int, int], int] = {}
        self._far: dict[int, Signature] = {}
        """Signatures with a time beyond the years 1677 to 2262, which a column does not hold."""
        self._columns = tuple(array("Q" if field == "ino" else "q") for field in Signature._fields)
        self._parents, self._first, self._last, self._ends = array("i"), array("i"), array("i"), array("Q")
        self._names: bytes | bytearray = bytearray()
        self._append(ROOT, b"", top)

    @classmethod
    def of(cls, root: Path, check: Check = no_check) -> Scan:
        """Read names and signatures; no content is read, no link followed, no other mount entered. `check` is called at
        each folder and may raise, which stops the scan.
        """
        scan = cls._of(root, check=check)
        assert scan is not None
        return scan

    @classmethod
    def small(cls, root: Path, most: int) -> Scan | None:
        """Scan a folder of at most `most` entries without waiting; None if it has more, or a file has just changed."""
        return cls._of(root, most)

    @classmethod
    def _of(cls, root: Path, most: int | None = None, check: Check = no_check) -> Scan | None:
        root = Path(os.path.abspath(root))  # noqa: PTH100 - resolve() would follow a link that the caller did not check
        with SafeDir.open(root) as safe_dir:
            started = time.time_ns()
            scan = cls(root, Signature.of(os.fstat(safe_dir.fd)))
            recent = scan._read(safe_dir, started - RACY_NS, most, check)
            # Reading a file again would mean a wait of one tick, which the caller cannot afford.
            if most is not None and (recent or len(scan) > most):
                return None
            scan._names = bytes(scan._names)
            scan._settle(safe_dir, recent)
            scan._renames = ctimes.recall(safe_dir)
        return scan

    def __len__(self) -> int:
        return len(self._parents)

    @property
    def nbytes(self) -> int:
        """Memory that the scan takes, in bytes."""
        arrays = (*self._columns, self._parents, self._first, self._last, self._ends)
        return sum(len(each) * each.itemsize for each in arrays) + len(self._names)

    def same(self, other: Scan) -> bool:
        """Return whether both scans found the same."""
        return self.root == other.root and self._found() == other._found()

    def parent(self, node: int) -> int:
        return self._parents[node]

    def name(self, node: int) -> str:
        return self._raw(node).decode()

    def path(self, node: int) -> str:
        parts = []
        while node != ROOT:
            parts.append(self.name(node))
            node = self._parents[node]
        return "/".join(reversed(parts))

    def signature(self, node: int) -> Signature:
        return self._far.get(node) or Signature(*(column[node] for column in self._columns))

    def before_renames(self, node: int) -> Signature:
        """Return the signature with the ctime that the file had before Suma renamed it and put it back."""
        found = self.signature(node)
        for _ in range(len(self._renames)):
            before = self._renames.get((found.ino, found.ctime_ns))
            if before is None:
                break
            found = found._replace(ctime_ns=before)
        return found

    def kind(self, node: int) -> str:
        return self.whole.get(node) or kind_of(self._columns[MODE][node])

    def inode(self, node: int) -> int:
        return self._columns[INO][node]

    def size(self, node: int) -> int:
        return self._columns[SIZE][node]

    def inside(self, folder: int) -> range:
        """Return the nodes in a folder, ordered by name; none if it is not a folder."""
        return range(self._first[folder], self._last[folder])

    def child(self, folder: int, name: str) -> int | None:
        key, end = name.encode("utf-8", "surrogatepass"), self._last[folder]
        found = bisect_left(range(end), key, self._first[folder], end, key=self._raw)
        return found if found < end and self._raw(found) == key else None

    def _found(self) -> tuple[object, ...]:
        seen = self.sealed, self.whole, self.absent, self.problems, self._far
        return self._columns, self._parents, self._ends, self._names, seen

    def _raw(self, node: int) -> bytes:
        return bytes(self._names[self._ends[node - 1] if node else 0 : self._ends[node]])

    def _held(self, node: int, found: Signature) -> Signature:
        """Return what the columns can hold of a signature, and keep the rest."""
        self._far.pop(node, None)
        held = found._replace(mtime_ns=_within(found.mtime_ns), ctime_ns=_within(found.ctime_ns))
        if held != found:
            self._far[node] = found
        return held

    def _append(self, parent: int, name: bytes, found: Signature) -> None:
        for column, value in zip(self._columns, self._held(len(self), found), strict=True):
            column.append(value)
        self._names += name
        self._ends.append(len(self._names))
        self._parents.append(parent)
        self._first.append(0)
        self._last.append(0)

    def _read(self, safe_dir: SafeDir, racy: int, most: int | None, check: Check) -> list[int]:
        """Read folder by folder, until there are more than `most` nodes; return the files whose mtime is at or after
        `racy`.
        """
        recent, pending = list[int](), [(ROOT, "", tuple[Rules, ...]())]
        while pending and (most is None or len(self) <= most):
            check()
            folder, path, rules = pending.pop()
            listed = list(self._listed(safe_dir, folder, path, most))
            # Never the root: a session may work in a repository, and only those below it are one item.
            if folder != ROOT and (kind := reserved.whole_by_content([name for name, _ in listed])):
                self.whole[folder] = kind
                self.reserved.append(folder)
                continue
            rules = self._ruled(safe_dir, path, rules, listed)
            self._first[folder] = len(self)
            for name, found in self._admitted(folder, path, rules, listed):
                node = len(self)
                self._append(folder, name.encode(), found)
                if reserved.by_name(name):
                    self.reserved.append(node)
                    if found.is_directory:
                        self.whole[node] = reserved.BUNDLE
                elif found.is_directory:
                    pending.append((node, names.join(path, name), rules))
                # Written in this very tick, a file could change once more without a new time.
                if max(found.mtime_ns, found.ctime_ns) >= racy and not found.is_directory:
                    recent.append(node)
            self._last[folder] = len(self)
        return recent

    def _ruled(self, safe_dir: SafeDir, path: str, rules: tuple[Rules, ...], listed: Listed) -> tuple[Rules, ...]:
        """Return the ignore rules for the contents of a folder: those above it, and its own."""
        if not any(name == IGNORE_FILE for name, _ in listed):
            return rules
        own, problems = ignore_rules.read(safe_dir, path)
        self.problems += problems
        if own is None:
            return rules
        # Each name below is matched against all of them: an unpacked archive may bring any number of such files.
        if sum(level.lines for level in (*rules, own)) > ignore_rules.LINES_MOST:
            self.problems.append(
                f"{names.join(path, IGNORE_FILE)} was ignored: there are too many rules with those above."
            )
            return rules
        return (*rules, own)

    def _admitted(self, folder: int, path: str, rules: tuple[Rules, ...], listed: Listed) -> Listed:
        """Return the entries of a folder that become nodes."""
        absent = {name: why for name, found in listed if (why := _absence(path, name, found, rules))}
        if not absent:
            return listed
        self.absent[folder] = absent
        return [entry for entry in listed if entry[0] not in absent]

    def _listed(self, safe_dir: SafeDir, folder: int, path: str, most: int | None) -> Iterator[tuple[str, Signature]]:
        """Yield the names in a folder, in order, each with its signature; of a larger folder some `most` + 1 names."""
        try:
            fd = safe_dir.at(path, LISTED)
        except OSError as error:
            self._unread(folder, error)
            return
        try:
            # Sorted, so that `child` can bisect and equal folders give equal scans.
            for name, raw in sorted((_text(raw), raw) for raw in _names(fd, most)):
                found = Signature.at(fd, raw)
                if found is not None:
                    yield name, found
        except OSError as error:
            self._unread(folder, error)
        finally:
            os.close(fd)

    def _unread(self, folder: int, error: OSError) -> None:
        if error.errno == errno.EXDEV:
            self.sealed[folder] = "another file system is mounted here"
        elif error.errno in (errno.EACCES, errno.EPERM):
            self.sealed[folder] = "it cannot be read"
        # ENOENT, ENOTDIR, ELOOP: it was replaced during the scan; a commit that touches it will find the conflict.
        elif error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise error

    def _settle(self, safe_dir: SafeDir, recent: list[int]) -> None:
        """Read files again that changed within the last tick, after the clock has moved on: git's racy-entry rule."""
        if not recent:
            return
        time.sleep(RACY_NS / 1e9)
        for node in recent:
            found = safe_dir.signature(self.path(node))
            for column, value in zip(self._columns, self._held(node, found) if found else (), strict=False):
                column[node] = value


def _absence(path: str, name: str, found: Signature, rules: tuple[Rules, ...]) -> Absence | None:
    """Return why an entry is not a node; None if it is one."""
    if reserved.hidden(name):
        return "hidden"
    if not name.isprintable() and names.ODD.search(name):
        return "odd"
    if not rules:
        return None
    here = names.join(path, name) + ("/" if found.is_directory else "")
    return "ignored" if ignore_rules.ignored(here, rules) else None


def _names(fd: int, most: int | None) -> list[str]:
    if most is None:
        return os.listdir(fd)
    with os.scandir(fd) as entries:
        return [entry.name for entry in islice(entries, most + 1)]


def _text(raw: str) -> str:
    return raw if raw.isascii() and "\\" not in raw else names.encode(os.fsencode(raw))


def _within(ns: int) -> int:
    return max(-(1 << 63), min(ns, (1 << 63) - 1))
