"""The diff: what a stage would change in the end, as a person reads it before saying yes.

It compares where each touched node was with where it is, by number: two renames are one, and what came and went is
not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from libs.workspace.tree import Attrs, Tree
from libs.workspace.view import Body, Origin, Original


@dataclass(frozen=True)
class Entry:
    """One net change. `source` is where a moved thing was, or what a created one is a copy of; `items` counts what lies
    below a deleted folder, itself included."""

    change: str
    """created | changed | deleted | moved"""
    path: str
    source: str | None
    kind: str
    size: int
    reason: str = ""
    items: int = 1
    files: int = 0
    """What a folder holds that goes, or moves, with it, at any depth."""


@dataclass(frozen=True)
class Diff:
    """All net changes of a stage at a version, in order of path. `bytes_freed` is what the deleted files hold; the
    space itself returns when the history is pruned."""

    version: int
    entries: tuple[Entry, ...] = ()
    bytes_freed: int = 0

    def __len__(self) -> int:
        return len(self.entries)

    def of(self, change: str) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.change == change)

    @property
    def created(self) -> int:
        return len(self.of("created"))

    @property
    def changed(self) -> int:
        return len(self.of("changed"))

    @property
    def deleted(self) -> int:
        return sum(entry.items for entry in self.of("deleted"))

    @property
    def moved(self) -> int:
        return len(self.of("moved"))


class Staged(Protocol):
    """What a diff reads of a stage."""

    tree: Tree
    origins: dict[int, Origin]
    contents: dict[int, Body]
    fresh: set[int]

    @property
    def version(self) -> int: ...

    def base_path(self, node: int) -> str: ...


@dataclass(frozen=True)
class Net:
    """The touched nodes by their fate: numbers only, so that a plan can be made of it as well."""

    removed: tuple[int, ...]
    moved: tuple[int, ...]
    edited: tuple[int, ...]
    created: tuple[int, ...]
    inside: dict[int, list[int]]
    """Removed nodes by the folder that held them in the scan."""


def net(stage: Staged) -> Net:
    graph, origins = stage.tree.graph, stage.origins
    kept = [node for node in origins if node in graph]
    removed = [node for node in origins if node not in graph]
    inside: dict[int, list[int]] = {}
    for node in removed:
        inside.setdefault(origins[node].parent, []).append(node)
    return Net(
        removed=tuple(node for node in removed if not _gone(stage, origins[node].parent)),
        moved=tuple(node for node in kept if _place(stage.tree, node) != (origins[node].parent, origins[node].name)),
        edited=tuple(node for node in kept if node in stage.contents),
        created=tuple(sorted(node for node in stage.fresh if node in graph)),
        inside=inside,
    )


def diff(stage: Staged, reasons: Mapping[int, str]) -> Diff:
    """The net change with the reason of the last operation that touched each node."""
    change = net(stage)
    entries = sorted(_entries(stage, change, reasons), key=place)
    freed = sum(entry.size for entry in entries if entry.change == "deleted")
    return Diff(stage.version, tuple(entries), freed)


def place(entry: Entry) -> tuple[list[list[str | int]], str, str]:
    """Where it stands in a diff: by folder, and `img2` before `img10`."""
    parts = (re.split(r"(\d+)", part.casefold()) for part in entry.path.split("/"))
    natural = [[int(piece) if n % 2 else piece for n, piece in enumerate(part)] for part in parts]
    return natural, entry.path, entry.change


def _entries(stage: Staged, change: Net, reasons: Mapping[int, str]) -> Iterator[Entry]:
    tree = stage.tree
    for node in change.removed:
        held = [stage.origins[below].attrs for below in below_removed(change, node)]
        size = sum(attrs["size"] for attrs in held if attrs["kind"] == "file")
        kind, files = held[0]["kind"], sum(attrs["kind"] == "file" for attrs in held)
        reason = reasons.get(node, "")
        yield Entry("deleted", stage.base_path(node), None, kind, size, reason, len(held), _of_folder(kind, files))
    for node in change.created:
        yield _entry("created", tree.path(node), _copied(stage, node), tree.attrs(node), reasons.get(node, ""))
    for node in change.moved:
        moved = _entry("moved", tree.path(node), stage.base_path(node), tree.attrs(node), reasons.get(node, ""))
        files = sum(tree.attrs(below)["kind"] == "file" for below in tree.beneath(node))
        yield replace(moved, files=_of_folder(moved.kind, files))
    for node in change.edited:
        yield _entry("changed", tree.path(node), None, tree.attrs(node), reasons.get(node, ""))


def below_removed(change: Net, node: int) -> Iterator[int]:
    """A removed node and what goes with it, itself first; what was moved out of it is not among them."""
    pending = [node]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(change.inside.get(here, ()))


def _copied(stage: Staged, node: int) -> str | None:
    """Where the bytes of a new file lie that is a copy of one on the disk."""
    body = stage.contents.get(node)
    return stage.base_path(body.node) if isinstance(body, Original) else None


def _entry(change: str, path: str, source: str | None, attrs: Attrs, reason: str) -> Entry:
    size = attrs["size"] if attrs["kind"] == "file" else 0
    return Entry(change, path, source, attrs["kind"], size, reason)


def _of_folder(kind: str, files: int) -> int:
    return files if kind == "directory" else 0


def _gone(stage: Staged, node: int) -> bool:
    return node in stage.origins and node not in stage.tree.graph


def _place(tree: Tree, node: int) -> tuple[int, str]:
    return tree.parents[node], tree.attrs(node)["name"]
