"""Trees: what a folder holds, and what it ought to hold once a request has been carried out.

A tree that ought to be is computed from the one before, by the changes that a case names; where a case leaves a choice
(which of two copies stays), there are several. Then trees are compared, and how one came about is nobody's business.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import stat
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from posixpath import basename, dirname, join
from typing import Self

from services.cli.evaluating.cases import BadCases, Expected

HEAD_BYTES = 64 * 1024
"""Files of the cases differ within their first bytes, or in length; the bulk of a film need not be read."""
OWN = ".suma"
"""Where Suma keeps what it took out is not part of the folder."""
ORDERS_MOST = 720


@dataclass(frozen=True, slots=True)
class Node:
    """A file or folder: `content` says what is in it, `day` when that was last changed."""

    content: str
    day: str = ""

    @property
    def folder(self) -> bool:
        return self.content == FOLDER


FOLDER, NOTHING = "folder", Node("")
PACKED, WRITTEN = "packed:", "written:"
Tree = Mapping[str, Node]


def seen(root: Path) -> dict[str, Node]:
    """What is there now."""
    found: dict[str, Node] = {}
    for place, inner, files in os.walk(root):
        here = Path(place)
        if here == root and OWN in inner:
            inner.remove(OWN)
        found |= {str((here / name).relative_to(root)): Node(FOLDER) for name in inner}
        found |= {str((here / name).relative_to(root)): _file(here / name) for name in files}
    return found


def _file(path: Path) -> Node:
    state = path.lstat()
    if not stat.S_ISREG(state.st_mode):
        return Node(f"link to {path.readlink()}" if stat.S_ISLNK(state.st_mode) else "neither file nor folder")
    with path.open("rb") as file:
        head = hashlib.sha256(file.read(HEAD_BYTES)).hexdigest()[:16]
    day = datetime.fromtimestamp(state.st_mtime, UTC).date().isoformat()
    return Node(f"{state.st_size}:{head}", day)


def ought(tree: Tree, expected: Expected) -> Iterator[dict[str, Node]]:
    """Every tree that would be right. Raises BadCases where the changes do not fit the tree."""
    for kept in itertools.product(*expected.one_of):
        gone = [path for group in expected.one_of for path in group if path not in kept]
        for order in _orders(tree, expected):
            yield _Draft.of(tree).changed(expected, gone, order)


def equal(wanted: Tree, root: Path, now: Tree) -> bool:
    """Is what is there now what was wanted? Archives are judged by their entries, written files by their text."""
    if wanted.keys() != now.keys():
        return False
    return all(_same(node, root / path, now[path]) for path, node in wanted.items())


def difference(wanted: Tree, now: Tree) -> str:
    """What is missing and what is too much, for a person."""
    missing, more = sorted(wanted.keys() - now.keys()), sorted(now.keys() - wanted.keys())
    said = [f"-{path}" for path in missing] + [f"+{path}" for path in more]
    return " ".join(said[:12]) or "other contents"


def matching(tree: Tree, pattern: str) -> list[str]:
    """The path itself, or the files that a pattern names: `*` stays within a folder, `**` does not.

    Raises BadCases where there is none.
    """
    literal = pattern.rstrip("/")
    if literal in tree:
        return [literal]
    shape = re.compile(_regular(pattern))
    found = sorted(path for path, node in tree.items() if not node.folder and shape.fullmatch(path))
    if not found:
        raise BadCases(f"{pattern!r} is not there")
    return found


def _regular(pattern: str) -> str:
    words = re.split(r"(\*\*|\*|\?)", pattern)
    return "".join({"**": ".*", "*": "[^/]*", "?": "[^/]"}.get(word, re.escape(word)) for word in words)


@dataclass
class _Draft:
    """A tree on its way to another."""

    before: Tree
    after: dict[str, Node]

    @classmethod
    def of(cls, tree: Tree) -> Self:
        return cls(tree, dict(tree))

    def changed(self, expected: Expected, gone: Sequence[str], order: Mapping[str, str]) -> dict[str, Node]:
        with _field("packed"):
            for path, names in expected.packed.items():
                self._put(path, Node(PACKED + "\n".join(sorted(names))))
        with _field("copied"):
            for source, path in expected.copied.items():
                self._put(path, self.before[matching(self.before, source)[0]])
        with _field("deleted"):
            for pattern in (*expected.deleted, *gone):
                self._remove(matching(self.before, pattern))
        with _field("moved"):
            self._move({**dict(self._moves(expected, gone)), **order})
        with _field("written"):
            for path, text in expected.written.items():
                self._put(path, Node(WRITTEN + text))
        with _field("created"):
            for path in expected.created:
                self._put(path.rstrip("/"), Node(FOLDER))
        return self.after

    def _moves(self, expected: Expected, gone: Sequence[str]) -> Iterator[tuple[str, str]]:
        for pattern, target in expected.moved.items():
            for path in matching(self.before, pattern):
                if path not in gone:
                    new = join(target, basename(path)) if target.endswith("/") else target
                    yield path, _dated(new, self.before[path].day)

    def _move(self, moves: Mapping[str, str]) -> None:
        """All at once, so that names may be exchanged."""
        taken = {path: self._taken(path) for path in moves}
        for path, new in moves.items():
            for below, node in taken[path].items():
                self._put(new + below.removeprefix(path), node)

    def _taken(self, path: str) -> dict[str, Node]:
        below = {here: node for here, node in self.after.items() if here == path or here.startswith(f"{path}/")}
        if not below:
            raise BadCases(f"{path!r} is moved, and deleted or moved before")
        for here in below:
            del self.after[here]
        return below

    def _remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            if path not in self.after:
                raise BadCases(f"{path!r} is deleted twice")
            self._taken(path)

    def _put(self, path: str, node: Node) -> None:
        if path in self.after and not (node.folder and self.after[path].folder):
            raise BadCases(f"{path!r} is there already")
        self.after[path] = node
        above = dirname(path)
        while above and above not in self.after:
            self.after[above] = Node(FOLDER)
            above = dirname(above)


@contextmanager
def _field(name: str) -> Iterator[None]:
    """What is wrong is said with the field that it is in."""
    try:
        yield
    except BadCases as error:
        raise BadCases(f"{name}: {error}") from None


def _dated(name: str, day: str) -> str:
    return name.replace("{date}", day).replace("{month}", day[:7]).replace("{year}", day[:4])


def _orders(tree: Tree, expected: Expected) -> Iterator[dict[str, str]]:
    """The ways to number files."""
    if not expected.numbered:
        yield {}
        return
    pattern, target = next(iter(expected.numbered.items()))
    for paths in itertools.islice(itertools.permutations(matching(tree, pattern)), ORDERS_MOST):
        yield {path: target.format(n=number) for number, path in enumerate(paths, 1)}


def _same(wanted: Node, path: Path, now: Node) -> bool:
    if wanted.content.startswith(PACKED):
        return _entries(path) == sorted(wanted.content.removeprefix(PACKED).split("\n"))
    if wanted.content.startswith(WRITTEN):
        return not now.folder and _text(path) == wanted.content.removeprefix(WRITTEN).strip()
    return replace(wanted, day="") == replace(now, day="")


def _entries(path: Path) -> list[str]:
    """The names of the files in an archive; below which folder it keeps them is its own affair."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                return sorted(basename(entry.filename) for entry in packed.infolist() if not entry.is_dir())
        with tarfile.open(path) as packed_tar:
            return sorted(basename(entry.name) for entry in packed_tar if entry.isfile())
    except (OSError, tarfile.TarError, zipfile.BadZipFile):
        return []


def _text(path: Path) -> str:
    return path.read_text("utf-8", errors="replace").strip()
