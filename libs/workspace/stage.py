"""The stage: operations on the graph alone, each undoable, so that it can return to any earlier version (S4-25, S4-26).

A version is a length of the log. So `snapshot` costs nothing, and `rollback` as much as there is to undo. Callers keep
the log, not the graph: `replay` rebuilds the stage on a later scan and marks the changes in between.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import assert_never

from libs.errors import Rejected
from libs.workspace import queries
from libs.workspace.blob_cache import BlobCache
from libs.workspace.diff import Diff, diff
from libs.workspace.errors import AlreadyExists, Holding, InvalidPath, Sealed, WrongKind
from libs.workspace.names import escaped, shown
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
from libs.workspace.queries import Duplicates, Totals
from libs.workspace.reserved import WHOLE
from libs.workspace.safe_dir import SafeDir
from libs.workspace.scope import checked_name, resolve
from libs.workspace.signature import Signature
from libs.workspace.tree import ROOT, Attrs, Tree
from libs.workspace.view import Body, Node, Original, View

REGULAR, DIRECTORY = stat.S_IFREG, stat.S_IFDIR
ENTRY_BYTES, HASH_BYTES = 1000, 250
"""Memory of an operation or a content, and of a hash, in bytes (measured)."""


@dataclass(frozen=True)
class Applied:
    """The result of an operation. `operation` is the one to keep in the log: it carries the signatures that it depends
    on.
    """

    version: int
    operation: Operation
    paths: tuple[str, ...]
    """Present paths of what it created, changed or moved; for a deletion, the former paths."""


@dataclass
class _Edit:
    """One operation in progress: its inverses, the affected nodes, and their signatures before it."""

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
    """A tree and the operations on it. Not thread-safe."""

    def __init__(self, tree: Tree, cache: BlobCache | None = None) -> None:
        self.blob_cache = cache or BlobCache()
        super().__init__(tree, self.blob_cache.path)
        self.fresh: set[int] = set()
        """Nodes that the stage created; some may be deleted again."""
        self.copied: dict[int, int] = {}
        """Copies, folders included, each with its original in the scan."""
        self.twins: dict[int, int] = {}
        """Files that are deleted because another one has the same bytes, each with the file that stays."""
        self.outdated: dict[str, str] = {}
        """Paths on the disk that changed after they were staged, as found by a replay, with the kind of change."""
        self._log: list[_Logged] = []

    @classmethod
    def replay(
        cls, tree: Tree, operations: Iterable[Operation | AnyOperation], cache: BlobCache | None = None
    ) -> Stage:
        """Rebuild the stage from its log on a newer scan. Operations that no longer apply are in `outdated` and stop a
        commit; versions keep their numbers.
        """
        stage = cls(tree, cache)
        for operation in operations:
            stage._redo(_plain(operation))
        return stage

    @property
    def version(self) -> int:
        return len(self._log)

    @property
    def made(self) -> tuple[str, ...]:
        """Paths of what the stage created and still holds."""
        return tuple(self.tree.path(node) for node in self.fresh if node in self.tree)

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes besides the scan, which other stages may share."""
        inline = sum(len(body.base64) for body in self.contents.values() if isinstance(body, Inline))
        entries = ENTRY_BYTES * (len(self._log) + len(self.contents))
        return self.tree.nbytes + entries + inline + HASH_BYTES * len(self.hashes)

    def snapshot(self) -> int:
        """Return the present version, to roll back to: O(1)."""
        return self.version

    def apply(self, operation: Operation | AnyOperation) -> Applied:
        """Apply the whole operation to the graph; if it is refused, nothing changes."""
        operation, edit = _plain(operation), _Edit()
        try:
            self._perform(operation, edit)
        except Exception:
            edit.undo()
            raise
        # Only now: a refused operation must leave no version behind.
        self._log.append(_Logged(operation, edit))
        seen = {path: met for path, (_, met) in edit.met.items()}
        return Applied(self.version, Operation(operation.model_copy(update={"seen": seen})), tuple(edit.paths))

    def rollback(self, version: int) -> tuple[AnyOperation, ...]:
        """Return to a version, at a cost proportional to the undone operations; return those, oldest first."""
        if not 0 <= version <= self.version:
            raise Rejected(f"there is no version {version} of this stage")
        dropped = self._log[version:]
        for logged in reversed(dropped):
            logged.edit.undo()
        del self._log[version:]
        return tuple(logged.operation for logged in dropped)

    @property
    def bytes_to_write(self) -> int:
        """Bytes that a commit writes to the disk before its first rename."""
        return sum(self.tree.attrs(node)["size"] for node in self.contents if node in self.tree)

    @property
    def blobs_needed(self) -> set[Blob]:
        """Every staged content that is a blob, including contents deleted again."""
        return {body for body in self.contents.values() if isinstance(body, Blob)}

    def check_whole(self, path: str) -> None:
        """Check that everything below could be read: a copy or an archive would otherwise be incomplete.

        Raises:
            Sealed: a part could not be read.
        """
        if (folder := self.sealed_in(path)) is not None:
            raise Sealed(f"{shown(self.tree.path(folder))}: {self.tree.sealed[folder]}")

    def contents_of(self, path: str) -> dict[str, Signature]:
        """Return everything in a folder that is one item, by relative path, as it is on the disk now."""
        return self._listing(self.base_path(self.locate(path)))

    def diff(self) -> Diff:
        return diff(self, {node: entry.operation.reason for entry in self._log for node in entry.edit.nodes})

    def walk(self, path: str) -> Iterator[Node]:
        return queries.walk(self, path)

    def find_duplicates(self, path: str) -> Duplicates:
        return queries.find_duplicates(self, path)

    def totals(self, path: str) -> Totals:
        return queries.totals(self, path)

    def _redo(self, operation: AnyOperation) -> None:
        try:
            self.apply(operation)
        except Rejected as error:
            # Positions in the log are versions, so an operation that no longer applies keeps its entry.
            self._log.append(_Logged(operation, _Edit()))
            self.outdated |= dict.fromkeys(_named(operation), f"no longer as it was staged: {error}")
            return
        # It still applies, but to other files than the person has seen.
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
        # New content does not inherit set-user-id; the kernel drops it on a write, too.
        self.tree.update(node, {"size": _size(operation.content), "mode": REGULAR | mode, "mtime_ns": None})
        self._fill(edit, node, operation.content)
        self._done(edit, node)

    def _move(self, operation: Move, edit: _Edit) -> None:
        node = self._subject(operation.path)
        self._relocate(edit, node, *self._destination(node, operation.target))

    def _rename(self, operation: Rename, edit: _Edit) -> None:
        node, name = self._subject(operation.path), checked_name(operation.new_name)
        resolve(self.tree.root, f"{self.tree.path(node).rpartition('/')[0] or '.'}/{name}")
        self._relocate(edit, node, self.tree.parent(node), name)

    def _relocate(self, edit: _Edit, node: int, parent: int, name: str) -> None:
        # Moving a folder moves what could not be read in it too, and no one has seen or approved that.
        self._refuse_sealed(node)
        self._meet(edit, node)
        old = self.tree.place(node)
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
        self._refuse_holding(node)
        self._meet(edit, node, whole=True)
        copies = {self.tree.parent(node): parent}
        for here in list(self.tree.beneath(node)):
            called = name if here == node else self.tree.name(here)
            copies[here] = self._clone(edit, here, copies[self.tree.parent(here)], called)
        edit.paths.append(self.tree.path(copies[node]))

    def _clone(self, edit: _Edit, node: int, parent: int, name: str) -> int:
        """Copy the node alone."""
        attrs = self.tree.attrs(node)
        if attrs["kind"] == "other":
            raise WrongKind(f"{self.tree.path(node)} is a device, pipe or socket and cannot be copied")
        if attrs["kind"] in WHOLE:
            raise WrongKind(f"{self.tree.path(node)} is a {attrs['kind']} and is moved or deleted whole, never copied")
        copy = self._insert(
            edit,
            parent,
            # Without set-user-id and set-group-id, which `cp` drops too.
            attrs | {"name": name, "ino": 0, "mtime_ns": None, "ctime_ns": 0, "mode": attrs["mode"] & ~0o6000},
        )
        # A copy of a copy has the file of the scan as its original: the commit compares that one.
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
        self._refuse_holding(node)
        self._hold(edit, node)
        if operation.same_as is not None:
            self._pair(edit, node, operation.same_as)
        self._meet(edit, node, whole=True)
        edit.nodes.append(node)
        edit.paths.append(self.tree.path(node))
        edit.inverses.append(partial(self.tree.put_back, self.tree.remove(node)))

    def _insert(self, edit: _Edit, parent: int, attrs: Attrs) -> int:
        node = self.tree.insert(parent, attrs)
        self.fresh.add(node)
        edit.inverses.append(partial(self.tree.forget, node))
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
        """Return the node at an operation's path; the workspace itself cannot be changed."""
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
        """Return the folder and name of a target. An existing folder is moved into, like `mv` does."""
        *above, name = resolve(self.tree.root, target) or (".",)
        parent = self.directory("/".join(above) or ".")
        inside = parent if name == "." else self.child(parent, name)
        if inside is not None and inside != node and self.tree.kind(inside) == "directory":
            parent, name = inside, self.tree.name(node)
        if self.tree.holds(node, parent):
            raise InvalidPath(f"{shown(self.tree.path(node))} cannot be moved or copied into itself")
        return parent, checked_name(name)

    def _refuse_taken(self, parent: int, name: str) -> None:
        if self.tree.child(parent, name) is None and name not in self.tree.absent(parent):
            return
        folder = shown(self.tree.path(parent))
        raise AlreadyExists(f"{folder}/{name} already exists; a move, copy or create never replaces it")

    def _refuse_sealed(self, node: int) -> None:
        if self.tree.sealed:
            self.check_whole(shown(self.tree.path(node)))

    def _refuse_holding(self, node: int) -> None:
        if found := self.tree.holding(node):
            raise Holding(
                f"{shown(self.tree.path(node))} contains {escaped(found)}, which is never deleted or copied with it"
            )

    def _hold(self, edit: _Edit, node: int) -> None:
        """List the contents of folders that are one item before deleting them: a commit must know all that goes."""
        for here in self.tree.beneath(node):
            if self.tree.kind(here) in WHOLE:
                edit.inverses.append(partial(self.held.pop, here))
                self.held[here] = self._listing(self.base_path(here))

    def _pair(self, edit: _Edit, node: int, same_as: str) -> None:
        """Record which file stays because of a deleted one: the commit compares their bytes again."""
        stays = self._subject(same_as)
        if {self.tree.kind(node), self.tree.kind(stays)} != {"file"} or stays == node:
            raise WrongKind(f"{shown(self.tree.path(node))} and {same_as} are not two files")
        edit.inverses.append(partial(self.twins.pop, node))
        self.twins[node] = stays

    def _listing(self, path: str) -> dict[str, Signature]:
        try:
            with SafeDir.open(self.tree.root) as safe_dir:
                return safe_dir.listing(path)
        except OSError as error:
            raise Sealed(f"{path}: it cannot be read: {error.strerror}") from error

    def _meet(self, edit: _Edit, node: int, whole: bool = False) -> None:
        """Record the signatures of a scanned node before its first change, and what this operation found."""
        nodes = list(self.tree.beneath(node)) if whole else [node]
        base = [here for here in nodes if here < self.tree.born]
        if base:
            edit.met.setdefault(self.tree.path(node), (base[0], self._fingerprint(node, base)))
        self.touched.update(base)

    def _fingerprint(self, node: int, base: Sequence[int]) -> str:
        if base == [node]:
            return self.tree.base.before_renames(node).text()
        listed = sorted(f"{self.tree.path(here)}\0{self.tree.base.before_renames(here).text()}" for here in base)
        return hashlib.sha256("\n".join(listed).encode()).hexdigest()


def _plain(operation: Operation | AnyOperation) -> AnyOperation:
    return operation.root if isinstance(operation, Operation) else operation


def _named(operation: AnyOperation) -> list[str]:
    """Return the paths that an operation names as its subjects, as a person would exclude them."""
    if isinstance(operation, Batch):
        return [path for single in operation.operations for path in _named(single)]
    return [operation.path.removeprefix("./").rstrip("/")]


def _size(content: Content) -> int:
    return len(content.raw) if isinstance(content, Inline) else content.size


def _attrs(name: str, kind: str, size: int, mode: int) -> Attrs:
    return {"name": name, "kind": kind, "ino": 0, "size": size, "mtime_ns": None, "ctime_ns": 0, "mode": mode}
