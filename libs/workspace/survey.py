"""Surveys of a folder: walking with filters, duplicates by content, and what fills it. All over the staged view."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase

from libs.workspace import names
from libs.workspace.beneath import Beneath
from libs.workspace.errors import Changed
from libs.workspace.operations import Blob
from libs.workspace.shelf import hashed
from libs.workspace.tree import ROOT
from libs.workspace.view import Node, Original, View

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
    """What a walk yields; what is not given does not narrow. `pattern` is a glob over the name, sizes are bytes,
    depth 1 is the folder's own."""

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
    """Files with the same bytes, in order of path."""

    sha256: str
    size: int
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Duplicates:
    """The groups, largest waste first, and the files that could not be compared because they changed or cannot be
    read."""

    groups: tuple[Group, ...]
    unreadable: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    @property
    def wasted(self) -> int:
        """Bytes that the second and further files of each group take."""
        return sum(group.size * (len(group.paths) - 1) for group in self.groups)


@dataclass(frozen=True)
class Extent:
    """How many files, and how many bytes."""

    count: int = 0
    size: int = 0

    def plus(self, size: int) -> Extent:
        return Extent(self.count + 1, self.size + size)


@dataclass(frozen=True)
class Statistics:
    """What a folder holds, counted below it at every depth."""

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
    """Files that share their size with another: an upper bound, nothing is read."""


def walk(view: View, path: str, filters: Filters | None = None) -> Iterator[Node]:
    """Every node below a folder that the filters admit, folders before what they hold."""
    filters = filters or Filters()
    pending = [(child, 1) for child in _inside(view, view.directory(path))]
    while pending:
        node, depth = pending.pop()
        described = view.describe(node)
        if filters.admit(described):
            yield described
        if filters.max_depth is None or depth < filters.max_depth:
            pending.extend((child, depth + 1) for child in _inside(view, node))


def find_duplicates(view: View, path: str) -> Duplicates:
    """Files of the same bytes: by size first, so that only possible twins are read. Empty files and hard links waste
    nothing."""
    unreadable: list[str] = []
    groups = [
        Group(sha256, size, tuple(sorted(view.tree.path(node) for node in twins)))
        for size, alike in _by_size(view, view.directory(path)).items()
        for sha256, twins in _by_hash(view, alike, unreadable).items()
        if len(twins) > 1
    ]
    groups.sort(key=lambda group: (-group.size * (len(group.paths) - 1), group.paths))
    return Duplicates(tuple(groups), tuple(sorted(unreadable)))


def statistics(view: View, path: str, largest: int = 10) -> Statistics:
    """One pass over the graph; nothing is read."""
    top = view.directory(path)
    nodes = [view.describe(node) for node in view.tree.beneath(top) if node != top]
    files = [node for node in nodes if node.kind == "file"]
    dated = sorted((node for node in files if node.modified_at), key=lambda node: (node.modified_at, node.path))
    sizes = Counter(node.size for node in files if node.size)
    return Statistics(
        files=len(files),
        directories=sum(node.kind == "directory" for node in nodes),
        symlinks=sum(node.kind == "symlink" for node in nodes),
        size=sum(node.size for node in files),
        extensions=_extents((node.extension, node.size) for node in files),
        categories=_extents((CATEGORY_OF.get(node.extension, "other"), node.size) for node in files),
        largest=tuple(sorted(files, key=lambda node: (-node.size, node.path))[:largest]),
        oldest=dated[0] if dated else None,
        newest=dated[-1] if dated else None,
        empty_files=tuple(node.path for node in files if not node.size),
        empty_directories=tuple(_hollow(view, top)),
        likely_duplicates=sum(count for count in sizes.values() if count > 1),
    )


def digest(view: View, door: Beneath, node: int) -> str:
    """SHA-256 of a file of the staged view; the scan's files are read once."""
    body = view.contents.get(node, Original(node))
    if isinstance(body, Blob):
        return body.sha256
    if not isinstance(body, Original):
        return hashlib.sha256(body.raw).hexdigest()
    if body.node not in view.hashes:
        with view.original(door, body.node) as stream:
            view.hashes[body.node] = hashed(stream)
    return view.hashes[body.node]


def _inside(view: View, node: int) -> list[int]:
    inside = view.tree.children.get(node)
    return [inside[name] for name in sorted(inside, reverse=True)] if inside else []


def _by_size(view: View, top: int) -> dict[int, list[int]]:
    """Sizes that several inodes share; of hard links to one inode the first counts."""
    alike: dict[int, dict[int, int]] = defaultdict(dict)
    for node in view.tree.beneath(top):
        attrs = view.tree.attrs(node)
        if attrs["kind"] == "file" and attrs["size"]:
            alike[attrs["size"]].setdefault(attrs["ino"] or -node, node)
    return {size: list(twins.values()) for size, twins in alike.items() if len(twins) > 1}


def _by_hash(view: View, nodes: list[int], unreadable: list[str]) -> dict[str, list[int]]:
    twins: dict[str, list[int]] = defaultdict(list)
    with Beneath.open(view.tree.root) as door:
        for node in nodes:
            try:
                twins[digest(view, door, node)].append(node)
            except Changed:
                unreadable.append(view.tree.path(node))
    return twins


def _extents(sized: Iterable[tuple[str, int]]) -> dict[str, Extent]:
    extents: dict[str, Extent] = {}
    for key, size in sized:
        extents[key] = extents.get(key, Extent()).plus(size)
    return dict(sorted(extents.items()))


def _hollow(view: View, top: int) -> Iterator[str]:
    for node in view.tree.beneath(top):
        if node not in (top, ROOT) and view.tree.children.get(node) == {}:
            yield names.shown(view.tree.path(node))
