"""The diff: the net change of a stage, as a person reads it before approving it.

It compares the old and the new place of each touched node by number: two renames count as one, and a node that was
created and deleted again does not appear. What cannot be seen again afterwards comes first (architecture.md 10):
deletions, then files that are overwritten, changed, moved and created.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from libs.workspace.reserved import WHOLE
from libs.workspace.signature import Signature, kind_of
from libs.workspace.tree import Attrs, Tree
from libs.workspace.view import Body, Original

RISKS = ("deleted", "overwritten", "changed", "moved", "created")
"""The kinds of change, the riskiest first."""


@dataclass(frozen=True)
class Entry:
    """One net change. `source` is the old path of a moved file, or the original of a copy; `items` counts everything
    below a deleted folder, itself included. An overwritten file is deleted, and another one takes its path.
    """

    change: str
    """One of RISKS."""
    path: str
    source: str | None
    kind: str
    size: int
    reason: str = ""
    items: int = 1
    files: int = 0
    """Number of files at any depth in a deleted or moved folder."""
    same_as: str | None = None
    """The path of the file with the same bytes that stays, for a deleted duplicate."""
    replaced: int = 0
    """The size of the file that it overwrites."""

    @property
    def folder(self) -> str:
        """The folder in which it ends, or in which it was; empty for the workspace itself."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True)
class Group:
    """The changes of one kind in one folder. `things` counts what deleted folders hold, too; `size` is in bytes."""

    change: str
    folder: str
    count: int
    things: int
    size: int


@dataclass(frozen=True)
class Diff:
    """All net changes of a stage at a version, the riskiest first, then by path."""

    version: int
    entries: tuple[Entry, ...] = ()

    def __len__(self) -> int:
        return len(self.entries)

    def of(self, change: str) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.change == change)

    @property
    def things(self) -> int:
        """The number of files and folders that change, with everything in deleted folders."""
        return sum(entry.items for entry in self.entries)

    @property
    def bytes_freed(self) -> int:
        """The size of the deleted and overwritten files; their space is free only after the history is pruned."""
        return sum(entry.replaced + (entry.size if entry.change == "deleted" else 0) for entry in self.entries)

    @property
    def counts(self) -> dict[str, int]:
        """The number of changes of each kind; of deletions, with everything in deleted folders."""
        return {kind: sum(one.items if kind == "deleted" else 1 for one in self.of(kind)) for kind in RISKS}

    @property
    def groups(self) -> tuple[Group, ...]:
        """The changes by kind and folder, in the order of the entries."""
        found: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in self.entries:
            found[entry.change, entry.folder].append(entry)
        groups = [
            Group(change, folder, len(of), sum(one.items for one in of), sum(one.size for one in of))
            for (change, folder), of in found.items()
        ]
        return tuple(sorted(groups, key=lambda group: (RISKS.index(group.change), _natural(group.folder))))


class Staged(Protocol):
    """The parts of a stage that a diff reads."""

    tree: Tree
    touched: set[int]
    contents: dict[int, Body]
    held: dict[int, dict[str, Signature]]
    fresh: set[int]
    twins: dict[int, int]

    @property
    def version(self) -> int: ...

    def base_path(self, node: int) -> str: ...


@dataclass(frozen=True)
class Net:
    """The touched nodes by kind of change. It holds numbers only, so that a plan can be made from it as well."""

    removed: tuple[int, ...]
    moved: tuple[int, ...]
    edited: tuple[int, ...]
    created: tuple[int, ...]
    inside: dict[int, list[int]]
    """Removed nodes by the folder that held them in the scan."""


def net(stage: Staged) -> Net:
    tree, base = stage.tree, stage.tree.base
    kept = sorted(node for node in stage.touched if node in tree)
    removed = sorted(node for node in stage.touched if node not in tree)
    inside: dict[int, list[int]] = {}
    for node in removed:
        inside.setdefault(base.parent(node), []).append(node)
    return Net(
        removed=tuple(node for node in removed if not _gone(stage, base.parent(node))),
        moved=tuple(node for node in kept if tree.place(node) != (base.parent(node), base.name(node))),
        edited=tuple(node for node in kept if node in stage.contents),
        created=tuple(sorted(node for node in stage.fresh if node in tree)),
        inside=inside,
    )


def diff(stage: Staged, reasons: Mapping[int, str]) -> Diff:
    """Return the net change, each entry with the reason of the last operation that touched its node."""
    change = net(stage)
    return Diff(stage.version, tuple(sorted(_overwriting(_entries(stage, change, reasons)), key=place)))


def place(entry: Entry) -> tuple[int, list[list[str | int]], str]:
    """Return the sort key of an entry: by risk, then by folder, and `img2` before `img10`."""
    return RISKS.index(entry.change), _natural(entry.path), entry.path


def _natural(path: str) -> list[list[str | int]]:
    parts = (re.split(r"([0-9]+)", part.casefold()) for part in path.split("/"))
    return [[int(piece) if n % 2 else piece for n, piece in enumerate(part)] for part in parts]


def _overwriting(entries: Iterator[Entry]) -> list[Entry]:
    """Join the deletion of a file with the file that takes its path."""
    found = [*entries]
    deleted = {entry.path: entry for entry in found if entry.change == "deleted" and entry.kind == "file"}
    placed = {entry.path for entry in found if entry.change in ("created", "moved") and entry.kind == "file"}
    over = {path: entry.size for path, entry in deleted.items() if path in placed}
    kept = (entry for entry in found if entry.path not in over or entry.change != "deleted")
    return [replace(one, change="overwritten", replaced=over[one.path]) if one.path in over else one for one in kept]


def _entries(stage: Staged, change: Net, reasons: Mapping[int, str]) -> Iterator[Entry]:
    tree = stage.tree
    for node in change.removed:
        held = [found for below in below_removed(change, node) for found in _held(stage, below)]
        sizes = [found.size for found in held if kind_of(found.mode) == "file"]
        kind, size, files = kind_of(held[0].mode), sum(sizes), len(sizes)
        path, reason = stage.base_path(node), reasons.get(node, "")
        counts, stays = (len(held), _of_folder(kind, files)), _stays(stage, node)
        yield Entry("deleted", path, None, kind, size, reason, *counts, same_as=stays)
    for node in change.created:
        yield _entry("created", tree.path(node), _copied(stage, node), tree.attrs(node), reasons.get(node, ""))
    for node in change.moved:
        moved = _entry("moved", tree.path(node), stage.base_path(node), tree.attrs(node), reasons.get(node, ""))
        files = sum(tree.kind(below) == "file" for below in tree.beneath(node))
        yield replace(moved, files=_of_folder(moved.kind, files))
    for node in change.edited:
        yield _entry("changed", tree.path(node), None, tree.attrs(node), reasons.get(node, ""))


def _held(stage: Staged, node: int) -> Iterator[Signature]:
    """Yield the signatures of a removed node and of its contents that are not nodes."""
    yield stage.tree.base.signature(node)
    yield from stage.held.get(node, {}).values()


def below_removed(change: Net, node: int) -> Iterator[int]:
    """Yield a removed node, then the nodes that are removed with it; not the nodes that were moved out of it."""
    pending = [node]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(change.inside.get(here, ()))


def _stays(stage: Staged, node: int) -> str | None:
    """Return where the file with a deleted duplicate's bytes will be; None if the node is no duplicate of one."""
    twin = stage.twins.get(node)
    return stage.tree.path(twin) if twin is not None and twin in stage.tree else None


def _copied(stage: Staged, node: int) -> str | None:
    """Return the path of the original, if a new file is a copy of one on the disk."""
    body = stage.contents.get(node)
    return stage.base_path(body.node) if isinstance(body, Original) else None


def _entry(change: str, path: str, source: str | None, attrs: Attrs, reason: str) -> Entry:
    size = attrs["size"] if attrs["kind"] == "file" else 0
    kind = "directory" if attrs["kind"] in WHOLE else attrs["kind"]
    return Entry(change, path, source, kind, size, reason)


def _of_folder(kind: str, files: int) -> int:
    return files if kind == "directory" else 0


def _gone(stage: Staged, node: int) -> bool:
    return node in stage.touched and node not in stage.tree
