"""Trees: the files of a folder, and the files that it holds after a change.

An expected tree is computed from the tree before and the named changes. Where a case leaves a choice (which of two
copies stays), several trees are right. Only trees are compared: the steps that led to one do not count.
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
from functools import lru_cache
from pathlib import Path
from posixpath import basename, dirname, join
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from services.cli.evals.folders import inside

HEAD_BYTES = 64 * 1024
"""Files of the cases differ in their first bytes or in length, so the bulk is not read."""
OWN = ".suma"
"""Suma's own folder is not part of the tree."""
ORDERS_MOST = 720


class Unfit(ValueError):
    """A change does not fit the tree."""


class Changes(BaseModel):
    """The changes that a case names. README.md gives the meaning of each field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    created: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()
    moved: dict[str, str] = Field(default_factory=dict)
    numbered: dict[str, str] = Field(default_factory=dict)
    written: dict[str, str] = Field(default_factory=dict)
    copied: dict[str, str] = Field(default_factory=dict)
    packed: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @field_validator("created")
    @classmethod
    def _folders(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for path in value:
            if not path.endswith("/"):
                raise ValueError(f"{path}: a created folder must end with /; use `written` for a file")
        return value

    @field_validator("written", "copied", "packed")
    @classmethod
    def _inside(cls, value: dict[str, Any]) -> dict[str, Any]:
        for path in value:
            inside(path)
        return value

    @field_validator("moved")
    @classmethod
    def _targets(cls, value: dict[str, str]) -> dict[str, str]:
        for path in value.values():
            inside(path)
        return value

    @field_validator("numbered")
    @classmethod
    def _numbers(cls, value: dict[str, str]) -> dict[str, str]:
        for pattern in value.values():
            try:
                numbered = pattern.format(n=1) != pattern.format(n=2)
            except (KeyError, IndexError, ValueError):
                numbered = False
            if not numbered:
                raise ValueError(f"{pattern!r} is not a name with a number, such as 'Trip {{n:03}}.jpg'")
        return value

    @property
    def changes(self) -> bool:
        return any(getattr(self, name) for name in Changes.model_fields)


@dataclass(frozen=True, slots=True)
class Node:
    """A file or folder: `content` identifies its bytes, `day` is its modification date (UTC)."""

    content: str
    day: str = ""

    @property
    def folder(self) -> bool:
        return self.content == FOLDER


FOLDER, NOTHING = "folder", Node("")
PACKED, WRITTEN = "packed:", "written:"
Tree = Mapping[str, Node]


def seen(root: Path) -> dict[str, Node]:
    """Read the tree of a real folder."""
    found: dict[str, Node] = {}
    for place, inner, files in os.walk(root):
        here = os.path.relpath(place, root)
        if here == "." and OWN in inner:
            inner.remove(OWN)
        below = "" if here == "." else f"{here}/"
        found |= {below + name: Node(FOLDER) for name in inner}
        found |= {below + name: _file(Path(place, name)) for name in files}
    return found


def _file(path: Path) -> Node:
    state = path.lstat()
    if not stat.S_ISREG(state.st_mode):
        return Node(f"link to {path.readlink()}" if stat.S_ISLNK(state.st_mode) else "neither file nor folder")
    signature = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    day = datetime.fromtimestamp(state.st_mtime, UTC).date().isoformat()
    return Node(f"{state.st_size}:{_head(path, signature)}", day)


@lru_cache(maxsize=10_000)
def _head(path: Path, _signature: tuple[int, ...]) -> str:
    """Return the digest of a file's first bytes, read once for as long as its signature stays the same."""
    with path.open("rb") as file:
        return hashlib.sha256(file.read(HEAD_BYTES)).hexdigest()[:16]


def ought(tree: Tree, expected: Changes) -> Iterator[dict[str, Node]]:
    """Yield each tree that is right. Raises Unfit if a change does not fit the tree."""
    for kept in itertools.product(*expected.one_of):
        gone = [path for group in expected.one_of for path in group if path not in kept]
        for order in _orders(tree, expected):
            yield _Draft.of(tree).changed(expected, gone, order)


def equal(wanted: Tree, root: Path, now: Tree) -> bool:
    """Compare a wanted tree with the real one: archives by their entries, written files by their text."""
    if wanted.keys() != now.keys():
        return False
    return all(_same(node, root / path, now[path]) for path, node in wanted.items())


def difference(wanted: Tree, now: Tree) -> str:
    """Describe the missing and the surplus paths."""
    missing, more = sorted(wanted.keys() - now.keys()), sorted(now.keys() - wanted.keys())
    paths = [f"-{path}" for path in missing] + [f"+{path}" for path in more]
    return " ".join(paths[:12]) or "other contents"


def matching(tree: Tree, pattern: str) -> list[str]:
    """List the path itself, or the files that match a pattern: `*` stays within a folder, `**` does not.

    Raises Unfit if there is none.
    """
    literal = pattern.rstrip("/")
    if literal in tree:
        return [literal]
    shape = re.compile(_regular(pattern))
    found = sorted(path for path, node in tree.items() if not node.folder and shape.fullmatch(path))
    if not found:
        raise Unfit(f"{pattern!r} does not exist")
    return found


def _regular(pattern: str) -> str:
    words = re.split(r"(\*\*|\*|\?)", pattern)
    return "".join({"**": ".*", "*": "[^/]*", "?": "[^/]"}.get(word, re.escape(word)) for word in words)


@dataclass
class _Draft:
    """A copy of a tree, to which changes are applied."""

    before: Tree
    after: dict[str, Node]

    @classmethod
    def of(cls, tree: Tree) -> Self:
        return cls(tree, dict(tree))

    def changed(self, expected: Changes, gone: Sequence[str], order: Mapping[str, str]) -> dict[str, Node]:
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

    def _moves(self, expected: Changes, gone: Sequence[str]) -> Iterator[tuple[str, str]]:
        for pattern, target in expected.moved.items():
            for path in matching(self.before, pattern):
                if path not in gone:
                    new = join(target, basename(path)) if target.endswith("/") else target
                    yield path, _dated(new, self.before[path].day)

    def _move(self, moves: Mapping[str, str]) -> None:
        """Move all at once, so that two files may swap names."""
        taken = {path: self._taken(path) for path in moves}
        for path, new in moves.items():
            for below, node in taken[path].items():
                self._put(new + below.removeprefix(path), node)

    def _taken(self, path: str) -> dict[str, Node]:
        below = {here: node for here, node in self.after.items() if here == path or here.startswith(f"{path}/")}
        if not below:
            raise Unfit(f"{path!r} is already deleted or moved")
        for here in below:
            del self.after[here]
        return below

    def _remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            if path not in self.after:
                raise Unfit(f"{path!r} is deleted twice")
            self._taken(path)

    def _put(self, path: str, node: Node) -> None:
        if path in self.after and not (node.folder and self.after[path].folder):
            raise Unfit(f"{path!r} already exists")
        self.after[path] = node
        above = dirname(path)
        while above and above not in self.after:
            self.after[above] = Node(FOLDER)
            above = dirname(above)


@contextmanager
def _field(name: str) -> Iterator[None]:
    """Put the field's name in front of an error."""
    try:
        yield
    except Unfit as error:
        raise Unfit(f"{name}: {error}") from None


def _dated(name: str, day: str) -> str:
    return name.replace("{date}", day).replace("{month}", day[:7]).replace("{year}", day[:4])


def _orders(tree: Tree, expected: Changes) -> Iterator[dict[str, str]]:
    """Yield the ways to number the files."""
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
    """List the names of the files in an archive, without their folders."""
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
