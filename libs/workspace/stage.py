"""The stage: operations upon the graph alone, each undoable, so that any earlier version is one call away (S4-25,
S4-26).

A version is a length of the log. `snapshot` therefore costs nothing, and `rollback` as much as there is to undo. The
log, not the graph, is what a caller keeps: `replay` makes the stage again on a later scan, and marks what someone
changed in between.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import assert_never

from libs.errors import Rejected
from libs.workspace import survey
from libs.workspace.diff import Diff, diff
from libs.workspace.errors import AlreadyExists, InvalidPath, Sealed, WrongKind
from libs.workspace.names import shown
from libs.workspace.operations import (
    AnyOperation,
    Batch,
    Blob,
    Content,
    Copy,
    Create,
    Delete,
    Inline,
    Move,
    Operation,
    Rename,
    Write,
)
from libs.workspace.scope import checked_name, resolve
from libs.workspace.shelf import Shelf
from libs.workspace.survey import Duplicates, Filters, Statistics
from libs.workspace.tree import ROOT, Attrs, Tree
from libs.workspace.view import Body, Node, Origin, Original, View

REGULAR, DIRECTORY = stat.S_IFREG, stat.S_IFDIR


@dataclass(frozen=True)
class Applied:
    """What an operation did. `operation` is the one to keep in the log: it carries the signatures that it rests on."""

    version: int
    operation: Operation
    paths: tuple[str, ...]
    """Where the things that it made, changed or moved are now; for a deletion, where they were."""


@dataclass
class _Edit:
    """One operation in progress: what undoes it, the nodes that it is about, and what they were when it met them."""

    inverses: list[Callable[[], object]] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    met: dict[str, tuple[int, str]] = field(default_factory=dict)

    def undo(self) -> None:
        for inverse in reversed(self.inverses):
            inverse()


@dataclass(frozen=True)
class _Logged:
    operation: AnyOperation
    edit: _Edit


class Stage(View):
    """A tree and the operations upon it. Not for several threads at once."""

    def __init__(self, tree: Tree, shelf: Shelf | None = None) -> None:
        self.shelf = shelf or Shelf()
        super().__init__(tree, self.shelf.path)
        self.fresh: set[int] = set()
        """Nodes that the stage made; some may be gone again."""
        self.copied: dict[int, int] = {}
        """Copies, folders among them, and what of the scan each was made from."""
        self.outdated: dict[str, str] = {}
        """Paths on the disk that were changed after they were staged, as a replay found, with what happened."""
        self._log: list[_Logged] = []

    @classmethod
    def replay(cls, tree: Tree, operations: Iterable[Operation | AnyOperation], shelf: Shelf | None = None) -> Stage:
        """The stage that a log describes, upon a newer scan. What no longer fits is in `outdated` and stops a
        commit; versions stay."""
        stage = cls(tree, shelf)
        for operation in operations:
            stage._redo(_plain(operation))
        return stage

    @property
    def version(self) -> int:
        return len(self._log)

    @property
    def made(self) -> tuple[str, ...]:
        """What the stage made and still holds, by path."""
        return tuple(self.tree.path(node) for node in self.fresh if node in self.tree.graph)

    def snapshot(self) -> int:
        """A version to roll back to: O(1)."""
        return self.version

    def apply(self, operation: Operation | AnyOperation) -> Applied:
        """Take the operation into the graph, all of it or, when it is refused, none."""
        operation, edit = _plain(operation), _Edit()
        try:
            self._perform(operation, edit)
        except Exception:
            edit.undo()
            raise
        self._log.append(_Logged(operation, edit))
        seen = {path: met for path, (_, met) in edit.met.items()}
        return Applied(self.version, Operation(operation.model_copy(update={"seen": seen})), tuple(edit.paths))

    def rollback(self, version: int) -> tuple[AnyOperation, ...]:
        """Back to a version, at the price of what is undone; the answer is the operations dropped, oldest first."""
        if not 0 <= version <= self.version:
            raise Rejected(f"there is no version {version} of this stage")
        dropped = self._log[version:]
        for logged in reversed(dropped):
            logged.edit.undo()
        del self._log[version:]
        return tuple(logged.operation for logged in dropped)

    @property
    def blobs_needed(self) -> set[Blob]:
        """Every staged content that is a blob, also what is deleted again."""
        return {body for body in self.contents.values() if isinstance(body, Blob)}

    def check_whole(self, path: str) -> None:
        """Raises `Sealed` where a part of this could not be read: what is copied or packed would lack it."""
        self._refuse_sealed(self.locate(path))

    def diff(self) -> Diff:
        return diff(self, {node: entry.operation.reason for entry in self._log for node in entry.edit.nodes})

    def walk(self, path: str, filters: Filters | None = None) -> Iterator[Node]:
        return survey.walk(self, path, filters)

    def find_duplicates(self, path: str) -> Duplicates:
        return survey.find_duplicates(self, path)

    def statistics(self, path: str) -> Statistics:
        return survey.statistics(self, path)

    def _redo(self, operation: AnyOperation) -> None:
        try:
            self.apply(operation)
        except Rejected as error:
            # The log's numbers are versions: a place is kept for what no longer applies.
            self._log.append(_Logged(operation, _Edit()))
            self.outdated |= dict.fromkeys(_named(operation), f"no longer as it was staged: {error}")
            return
        for path, (node, found) in self._log[-1].edit.met.items():
            if operation.seen.get(path, found) != found:
                self.outdated[self.base_path(node)] = "was changed after it was staged"

    def _perform(self, operation: AnyOperation, edit: _Edit) -> None:
        match operation:
            case Create():
                self._create(operation, edit)
            case Write():
                self._write(operation, edit)
            case Move():
                self._move(operation, edit)
            case Rename():
                self._rename(operation, edit)
            case Copy():
                self._copy(operation, edit)
            case Delete():
                self._delete(operation, edit)
            case Batch():
                for single in operation.operations:
                    self._perform(single, edit)
            case _:
                assert_never(operation)

    def _create(self, operation: Create, edit: _Edit) -> None:
        parent, name = self._vacancy(operation.path)
        content = operation.content or Inline(base64="")
        kind, bits, usual = ("directory", DIRECTORY, 0o755) if operation.directory else ("file", REGULAR, 0o644)
        mode = bits | (usual if operation.mode is None else operation.mode)
        attrs = _attrs(name, kind, _size(content), mode) | {"mtime_ns": operation.mtime_ns}
        node = self._insert(edit, parent, attrs)
        if not operation.directory:
            self._fill(edit, node, content)
        edit.paths.append(self.tree.path(node))

    def _write(self, operation: Write, edit: _Edit) -> None:
        node = self._subject(operation.path)
        attrs = self.tree.attrs(node)
        if attrs["kind"] != "file":
            raise WrongKind(f"{operation.path} is not a file")
        self._meet(edit, node)
        kept = {key: attrs[key] for key in ("size", "mode", "mtime_ns")}
        mode = attrs["mode"] & 0o1777 if operation.mode is None else operation.mode
        edit.inverses.append(partial(self.tree.update, node, kept))
        # Set-user-id is not inherited by bytes that nobody vouched for; the kernel drops it on a write, too.
        self.tree.update(node, {"size": _size(operation.content), "mode": REGULAR | mode, "mtime_ns": 0})
        self._fill(edit, node, operation.content)
        self._done(edit, node)

    def _move(self, operation: Move, edit: _Edit) -> None:
        node = self._subject(operation.path)
        self._relocate(edit, node, *self._destination(node, operation.target))

    def _rename(self, operation: Rename, edit: _Edit) -> None:
        node, name = self._subject(operation.path), checked_name(operation.new_name)
        resolve(self.tree.root, f"{self.tree.path(node).rpartition('/')[0] or '.'}/{name}")
        self._relocate(edit, node, self.tree.parents[node], name)

    def _relocate(self, edit: _Edit, node: int, parent: int, name: str) -> None:
        self._refuse_sealed(node)
        self._meet(edit, node)
        old = self.tree.parents[node], self.tree.attrs(node)["name"]
        if (parent, name) != old:
            self._refuse_taken(parent, name)
            self.tree.relocate(node, parent, name)
            edit.inverses.append(partial(self.tree.relocate, node, *old))
        self._done(edit, node)

    def _copy(self, operation: Copy, edit: _Edit) -> None:
        node = self._subject(operation.path)
        parent, name = self._destination(node, operation.target)
        self._refuse_taken(parent, name)
        self._refuse_sealed(node)
        self._meet(edit, node, whole=True)
        copies = {self.tree.parents[node]: parent}
        for here in list(self.tree.beneath(node)):
            called = name if here == node else self.tree.attrs(here)["name"]
            copies[here] = self._clone(edit, here, copies[self.tree.parents[here]], called)
        edit.paths.append(self.tree.path(copies[node]))

    def _clone(self, edit: _Edit, node: int, parent: int, name: str) -> int:
        """A copy of the node alone."""
        attrs = self.tree.attrs(node)
        if attrs["kind"] == "other":
            raise WrongKind(f"{self.tree.path(node)} is a device, pipe or socket and cannot be copied")
        copy = self._insert(
            edit, parent, attrs | {"name": name, "ino": 0, "mtime_ns": 0, "mode": attrs["mode"] & ~0o6000}
        )
        original = node if node < self.tree.born else self.copied.get(node)
        if original is not None:
            edit.inverses.append(partial(self.copied.pop, copy))
            self.copied[copy] = original
        if attrs["kind"] != "directory":
            self._fill(edit, copy, self.contents.get(node, Original(node)))
        return copy

    def _delete(self, operation: Delete, edit: _Edit) -> None:
        node = self._subject(operation.path)
        self._refuse_sealed(node)
        self._meet(edit, node, whole=True)
        edit.nodes.append(node)
        edit.paths.append(self.tree.path(node))
        edit.inverses.append(partial(self.tree.put_back, self.tree.remove(node)))

    def _insert(self, edit: _Edit, parent: int, attrs: Attrs) -> int:
        node = self.tree.insert(parent, attrs)
        self.fresh.add(node)
        edit.inverses.append(partial(self.tree.remove, node))
        edit.nodes.append(node)
        return node

    def _fill(self, edit: _Edit, node: int, body: Body) -> None:
        old = self.contents.get(node)
        edit.inverses.append(
            partial(self.contents.pop, node) if old is None else partial(self.contents.update, {node: old})
        )
        self.contents[node] = body

    def _done(self, edit: _Edit, node: int) -> None:
        edit.nodes.append(node)
        edit.paths.append(self.tree.path(node))

    def _subject(self, path: str) -> int:
        """The node that an operation is about; the workspace itself is not for moving."""
        node = self.locate(path)
        if node == ROOT:
            raise WrongKind("the workspace itself cannot be changed")
        return node

    def _vacancy(self, path: str) -> tuple[int, str]:
        *above, name = resolve(self.tree.root, path) or ("",)
        parent = self.directory("/".join(above) or ".")
        self._refuse_taken(parent, checked_name(name))
        return parent, name

    def _destination(self, node: int, target: str) -> tuple[int, str]:
        """The folder and name that a target means: a folder that exists is moved into, as everyone expects of mv."""
        *above, name = resolve(self.tree.root, target) or (".",)
        parent = self.directory("/".join(above) or ".")
        inside = parent if name == "." else self.tree.children[parent].get(name)
        if inside is not None and inside != node and inside in self.tree.children:
            parent, name = inside, self.tree.attrs(node)["name"]
        if self.tree.holds(node, parent):
            raise InvalidPath(f"{shown(self.tree.path(node))} cannot go into itself")
        return parent, checked_name(name)

    def _refuse_taken(self, parent: int, name: str) -> None:
        if name not in self.tree.children[parent]:
            return
        folder = shown(self.tree.path(parent))
        raise AlreadyExists(f"{folder}/{name} exists already; nothing is replaced by a move, copy or create")

    def _refuse_sealed(self, node: int) -> None:
        for folder, why in self.tree.sealed.items():
            if folder in self.tree.graph and self.tree.holds(node, folder):
                raise Sealed(f"{shown(self.tree.path(folder))}: {why}")

    def _meet(self, edit: _Edit, node: int, whole: bool = False) -> None:
        """Note what a node of the scan was, before the first operation changes it, and what this operation found."""
        nodes = list(self.tree.beneath(node)) if whole else [node]
        base = [here for here in nodes if here < self.tree.born]
        if base:
            edit.met.setdefault(self.tree.path(node), (base[0], self._fingerprint(node, base)))
        for here in base:
            if here not in self.origins:
                attrs = self.tree.attrs(here)
                self.origins[here] = Origin(self.tree.parents[here], attrs["name"], dict(attrs))

    def _fingerprint(self, node: int, base: Sequence[int]) -> str:
        if base == [node]:
            return self.base_signature(node).text()
        listed = sorted(f"{self.tree.path(here)}\0{self.base_signature(here).text()}" for here in base)
        return hashlib.sha256("\n".join(listed).encode()).hexdigest()


def _plain(operation: Operation | AnyOperation) -> AnyOperation:
    return operation.root if isinstance(operation, Operation) else operation


def _named(operation: AnyOperation) -> list[str]:
    """The paths that an operation names as its subjects, as a person would exclude them."""
    if isinstance(operation, Batch):
        return [path for single in operation.operations for path in _named(single)]
    return [operation.path.removeprefix("./").rstrip("/")]


def _size(content: Content) -> int:
    return len(content.raw) if isinstance(content, Inline) else content.size


def _attrs(name: str, kind: str, size: int, mode: int) -> Attrs:
    return {"name": name, "kind": kind, "ino": 0, "size": size, "mtime_ns": 0, "mode": mode}
