"""Queries on the staged view of a folder: walks, duplicates by content, and totals."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from libs.workspace import names
from libs.workspace.blob_cache import hashed
from libs.workspace.errors import Changed, Unreadable
from libs.workspace.operations import Blob
from libs.workspace.reserved import IGNORE_FILE, WHOLE
from libs.workspace.safe_dir import SafeDir
from libs.workspace.view import Node, Original, View, extension_of

NAMED_MOST = 20


@dataclass(frozen=True)
class Group:
    """Files with the same bytes, ordered by path."""

    sha256: str
    size: int
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Duplicates:
    """The groups, largest waste first, and the files that were not compared because they changed or are unreadable."""

    groups: tuple[Group, ...]
    unreadable: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)


@dataclass(frozen=True)
class Totals:
    """Counts of a folder's contents at every depth."""

    files: int
    directories: int
    size: int
    extensions: frozenset[str]


def walk(view: View, path: str) -> Iterator[Node]:
    """Yield every node below a folder, folders before their contents."""
    pending = list(reversed(view.tree.inside(view.readable(path))))
    while pending:
        node = pending.pop()
        yield view.describe(node)
        pending.extend(reversed(view.tree.inside(node)))


def find_duplicates(view: View, path: str) -> Duplicates:
    """Return files with the same bytes. Only files of equal size are read. Empty files and hard links waste nothing."""
    unreadable: list[str] = []
    groups = [
        Group(sha256, size, tuple(sorted(view.tree.path(node) for node in twins)))
        for size, alike in _by_size(view, view.readable(path)).items()
        for sha256, twins in _by_hash(view, alike, unreadable).items()
        if len(twins) > 1
    ]
    groups.sort(key=lambda group: (-group.size * (len(group.paths) - 1), group.paths))
    return Duplicates(tuple(groups), tuple(sorted(unreadable)))


def totals(view: View, path: str) -> Totals:
    """Return counts without what a bulk selection leaves alone. Hard links to one file have its size once."""
    tree, kinds, sizes, extensions = view.tree, Counter[str](), dict[int, int](), set[str]()
    alone = set(tree.base.reserved)
    for node in tree.beneath(view.directory(path)):
        if node in alone:
            continue
        kind = tree.kind(node)
        kinds[kind] += 1
        if kind == "file":
            sizes[view.inode(node)] = tree.size(node)
            extensions.add(extension_of(tree.name(node)))
    return Totals(kinds["file"], kinds["directory"] - 1, sum(sizes.values()), frozenset(extensions))


def left_alone(
    view: View,
    tops: Iterable[str],
    *,
    recursive: bool,
    named: Callable[[Node], bool] = lambda node: False,
    unread: Iterable[str] = (),
) -> dict[str, Any]:
    """Return what a selection in some folders skipped, as tool results carry it; empty if nothing was skipped.

    Shape: `repositories`, folders that are one item, `odd`, escaped paths, and `unread`, the given paths and folders
    that could not be read completely, at most 20 of each; `files`, the count of files that are skipped by their names;
    `ignored`, the count of entries that an ignore file excludes.
    """
    tree, folders = view.tree, [view.directory(path) for path in tops]

    def within(folder: int) -> bool:
        return folder in tree and any(tree.holds(top, folder) if recursive else top == folder for top in folders)

    kept = (node for node in tree.base.reserved if node in tree and within(tree.parent(node)))
    skipped = [node for node in map(view.describe, kept) if node.left_alone and not named(node)]
    absent = [(folder, *entry) for folder in filter(within, tree.base.absent) for entry in tree.absent(folder).items()]
    odd = sorted(names.escaped(names.join(tree.path(folder), name)) for folder, name, why in absent if why == "odd")
    sealed = (folder for folder in tree.sealed if within(folder))
    result = {
        "repositories": sorted(node.path for node in skipped if node.kind in WHOLE)[:NAMED_MOST],
        "files": sum(node.kind not in WHOLE and node.name != IGNORE_FILE for node in skipped),
        "ignored": sum(why == "ignored" for _, _, why in absent),
        "odd": odd[:NAMED_MOST],
        "unread": sorted({*unread, *map(tree.path, sealed)})[:NAMED_MOST],
    }
    return result if any(result.values()) else {}


def digest(view: View, safe_dir: SafeDir, node: int) -> str:
    """Return the SHA-256 of a file of the staged view; files of the scan are read once."""
    body = view.contents.get(node, Original(node))
    if isinstance(body, Blob):
        return body.sha256
    if not isinstance(body, Original):
        return hashlib.sha256(body.raw).hexdigest()
    if body.node not in view.hashes:
        with view.original(safe_dir, body.node) as stream:
            view.hashes[body.node] = hashed(stream)
    return view.hashes[body.node]


def _by_size(view: View, top: int) -> dict[int, list[int]]:
    """Return nodes by size, for sizes that several inodes share; only the first of hard links to one inode counts."""
    alike: dict[int, dict[int, int]] = defaultdict(dict)
    for node in view.tree.beneath(top):
        attrs = view.tree.attrs(node)
        if attrs["kind"] == "file" and attrs["size"]:
            alike[attrs["size"]].setdefault(view.inode(node), node)
    return {size: list(twins.values()) for size, twins in alike.items() if len(twins) > 1}


def _by_hash(view: View, nodes: list[int], unreadable: list[str]) -> dict[str, list[int]]:
    twins: dict[str, list[int]] = defaultdict(list)
    with SafeDir.open(view.tree.root) as safe_dir:
        for node in nodes:
            try:
                twins[digest(view, safe_dir, node)].append(node)
            except (Changed, Unreadable):
                unreadable.append(view.tree.path(node))
    return twins
