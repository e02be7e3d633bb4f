"""Queries on the staged view of a folder: filtered walks, duplicates by content, and statistics."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from libs.workspace import names
from libs.workspace.blob_cache import hashed
from libs.workspace.errors import Changed, Unreadable
from libs.workspace.operations import Blob
from libs.workspace.reserved import IGNORE_FILE, REPOSITORY
from libs.workspace.safe_dir import SafeDir
from libs.workspace.tree import ROOT
from libs.workspace.view import Node, Original, View, extension_of

NAMED_MOST = 20
CATEGORIES = {
    "documents": "pdf doc docx odt rtf txt md tex epub pages ppt pptx odp key",
    "tables": "csv tsv xls xlsx ods numbers parquet",
    "images": "jpg jpeg png gif bmp svg webp tif tiff heic raw ico",
    "audio": "mp3 wav flac aac ogg m4a opus",
    "video": "mp4 mkv mov avi webm m4v mpg",
    "archives": "zip tar gz tgz bz2 xz 7z rar zst",
    "code": "py js ts tsx jsx java c h cpp hpp rs go rb php sh sql html css ipynb",
    "data": "json yaml yml xml toml ini db sqlite log",
    "installers": "dmg pkg deb rpm exe msi appimage iso",
}
CATEGORY_OF = {f".{extension}": category for category, listed in CATEGORIES.items() for extension in listed.split()}


@dataclass(frozen=True)
class Filters:
    """Filters of a walk; an absent filter admits everything. `pattern` is a glob over the name, sizes are bytes, depth
    1 is the folder's own level.
    """

    kinds: frozenset[str] = frozenset()
    pattern: str = "*"
    extensions: frozenset[str] = frozenset()
    min_size: int = 0
    max_size: int | None = None
    modified_after: datetime | None = None
    modified_before: datetime | None = None
    max_depth: int | None = None

    def admit(self, node: Node) -> bool:
        return (
            (not self.kinds or node.kind in self.kinds)
            and fnmatchcase(node.name, self.pattern)
            and (not self.extensions or node.extension in self.extensions)
            and self.min_size <= node.size
            and (self.max_size is None or node.size <= self.max_size)
            and self._in_time(node.modified_at)
        )

    def _in_time(self, when: datetime | None) -> bool:
        if self.modified_after and (when is None or when < self.modified_after):
            return False
        return not (self.modified_before and (when is None or when > self.modified_before))


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
class Extent:
    """A number of files and their size in bytes."""

    count: int = 0
    size: int = 0

    def plus(self, size: int) -> Extent:
        return Extent(self.count + 1, self.size + size)


@dataclass(frozen=True)
class Totals:
    """Counts of a folder's contents at every depth."""

    files: int
    directories: int
    size: int
    extensions: frozenset[str]


@dataclass(frozen=True)
class Statistics:
    """Statistics of a folder's contents at every depth."""

    files: int = 0
    directories: int = 0
    symlinks: int = 0
    size: int = 0
    extensions: dict[str, Extent] = field(default_factory=dict)
    categories: dict[str, Extent] = field(default_factory=dict)
    largest: tuple[Node, ...] = ()
    oldest: Node | None = None
    newest: Node | None = None
    empty_files: tuple[str, ...] = ()
    empty_directories: tuple[str, ...] = ()
    likely_duplicates: int = 0
    """Files that share their size with another: an upper bound, as nothing is read."""


def walk(view: View, path: str, filters: Filters | None = None) -> Iterator[Node]:
    """Yield every node below a folder that the filters admit, folders before their contents."""
    filters = filters or Filters()
    pending = [(child, 1) for child in _inside(view, view.readable(path))]
    while pending:
        node, depth = pending.pop()
        described = view.describe(node)
        if filters.admit(described):
            yield described
        if filters.max_depth is None or depth < filters.max_depth:
            pending.extend((child, depth + 1) for child in _inside(view, node))


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
    """Return counts without times and paths: a tenth of the work of `statistics`."""
    tree, kinds, size, extensions = view.tree, Counter[str](), 0, set[str]()
    for node in tree.beneath(view.directory(path)):
        kind = tree.kind(node)
        kinds[kind] += 1
        if kind == "file":
            size += tree.size(node)
            extensions.add(extension_of(tree.name(node)))
    return Totals(kinds["file"], kinds["directory"] - 1, size, frozenset(extensions))


def statistics(view: View, path: str, largest: int = 10) -> Statistics:
    """Return statistics from one pass over the graph; nothing is read."""
    top, tally = view.directory(path), _Tally(largest)
    for node in view.tree.beneath(top):
        if node != top and not (described := view.describe(node)).left_alone:
            tally.add(described)
    return Statistics(
        files=tally.kinds["file"],
        directories=tally.kinds["directory"],
        symlinks=tally.kinds["symlink"],
        size=tally.size,
        extensions=dict(sorted(tally.extensions.items())),
        categories=dict(sorted(tally.categories.items())),
        largest=tally.top(),
        oldest=tally.oldest,
        newest=tally.newest,
        empty_files=tuple(tally.empty),
        empty_directories=tuple(_hollow(view, top)),
        likely_duplicates=sum(count for count in tally.sizes.values() if count > 1),
    )


def left_alone(
    view: View,
    tops: Iterable[str],
    *,
    recursive: bool,
    named: Callable[[Node], bool] = lambda node: False,
    unread: Iterable[str] = (),
) -> dict[str, Any]:
    """Return what a selection in some folders skipped, as tool results carry it; empty if nothing was skipped.

    Shape: `repositories`, paths, `odd`, escaped paths, and `unread`, the given paths and folders that could not be read
    completely, at most 20 of each; `files`, the count of files and folders that are skipped by their names; `ignored`,
    the count of entries that an ignore file excludes.
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
        "repositories": sorted(node.path for node in skipped if node.kind == REPOSITORY)[:NAMED_MOST],
        "files": sum(node.kind != REPOSITORY and node.name != IGNORE_FILE for node in skipped),
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


def _inside(view: View, node: int) -> list[int]:
    return list(reversed(view.tree.inside(node)))


def _by_size(view: View, top: int) -> dict[int, list[int]]:
    """Return nodes by size, for sizes that several inodes share; only the first of hard links to one inode counts."""
    alike: dict[int, dict[int, int]] = defaultdict(dict)
    for node in view.tree.beneath(top):
        attrs = view.tree.attrs(node)
        if attrs["kind"] == "file" and attrs["size"]:
            alike[attrs["size"]].setdefault(attrs["ino"] or -node, node)
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


class _Tally:
    """Running totals of a pass over nodes; keeping the nodes of 100,000 files would take 50 MB."""

    def __init__(self, largest: int) -> None:
        self._most = largest
        self._largest: list[Node] = []
        self.kinds: Counter[str] = Counter()
        self.sizes: Counter[int] = Counter()
        self.size = 0
        self.extensions: dict[str, Extent] = {}
        self.categories: dict[str, Extent] = {}
        self.oldest: Node | None = None
        self.newest: Node | None = None
        self.empty: list[str] = []

    def add(self, node: Node) -> None:
        self.kinds[node.kind] += 1
        if node.kind != "file":
            return
        self.size += node.size
        if node.size:
            self.sizes[node.size] += 1
        else:
            self.empty.append(node.path)
        for extents, key in (
            (self.extensions, node.extension),
            (self.categories, CATEGORY_OF.get(node.extension, "other")),
        ):
            extents[key] = extents.get(key, Extent()).plus(node.size)
        if node.modified_at:
            self.oldest = min(self.oldest or node, node, key=_dated)
            self.newest = max(self.newest or node, node, key=_dated)
        self._largest.append(node)
        if len(self._largest) > 100 * self._most:
            self._largest = list(self.top())

    def top(self) -> tuple[Node, ...]:
        """Return the largest files, largest first."""
        return tuple(sorted(self._largest, key=lambda node: (-node.size, node.path))[: self._most])


def _dated(node: Node) -> tuple[datetime | None, str]:
    return node.modified_at, node.path


def _hollow(view: View, top: int) -> Iterator[str]:
    for node in view.tree.beneath(top):
        if node in (top, ROOT) or view.tree.kind(node) != "directory":
            continue
        if not view.tree.inside(node) and not view.tree.absent(node) and node not in view.tree.sealed:
            yield names.shown(view.tree.path(node))
