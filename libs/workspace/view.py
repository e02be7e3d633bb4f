"""The view: the disk as the stage would leave it, for the reading tools (S4-14).

A staged path may differ from the file's path on the disk. Content is read from the real path, through a `SafeDir` that
follows no links, and only while the signature matches the scan. Otherwise `Changed` is raised, so that other content is
never shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from libs.texts import composed
from libs.workspace import names, reserved
from libs.workspace.errors import BadContent, Changed, NoSuchPath, OutsideWorkspace, Sealed, Unreadable, WrongKind
from libs.workspace.operations import Blob, Inline
from libs.workspace.safe_dir import SafeDir
from libs.workspace.scope import resolve
from libs.workspace.signature import Signature
from libs.workspace.tree import ROOT, Tree

_WHOLE = {reserved.REPOSITORY: "a repository", reserved.BUNDLE: "a folder of dependencies, a cache or an application"}
Blobs = Callable[[str], BinaryIO | Path]
"""Opens the blob of a SHA-256."""


@dataclass(frozen=True)
class Original:
    """Content that a file had in the scan: the source of a copy."""

    node: int


Body = Blob | Inline | Original


@dataclass(frozen=True, slots=True)
class Node:
    """One file or folder of the staged view. `path` is relative, "." for the root; `kind` is file, directory, symlink,
    other, or repository or bundle for a folder that is one item; `modified_at` is None for files that exist only in the
    stage.
    """

    path: str
    name: str
    kind: str
    extension: str
    size: int
    mode: int
    modified_at: datetime | None
    inode: int = 0
    """A number that only hard links to the same file share."""

    @property
    def is_folder(self) -> bool:
        """True if it is a folder on the disk."""
        return self.kind == "directory" or self.kind in reserved.WHOLE

    @property
    def left_alone(self) -> bool:
        """True if only a request that names it applies to it."""
        return reserved.skipped(self.kind, self.name)


@dataclass(frozen=True)
class Excerpt:
    """The beginning of a file; `size` is that of the whole."""

    data: bytes
    size: int
    truncated: bool


def moment(ns: int) -> datetime:
    """Return the time of so many nanoseconds since 1970, or the nearest one in the years 1 to 9999."""
    seconds = ns / 1_000_000_000
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.max.replace(tzinfo=UTC) if seconds > 0 else datetime.min.replace(tzinfo=UTC)


def no_blobs(sha256: str) -> Path:
    """Refuse every blob: the default of a reader without an object store."""
    raise BadContent(f"the blob {sha256} cannot be read here")


class View:
    """A tree with its staged content. Reading changes nothing."""

    def __init__(self, tree: Tree, blobs: Blobs = no_blobs) -> None:
        self.tree = tree
        self.blobs = blobs
        self.touched: set[int] = set()
        """Nodes of the scan that any operation has affected."""
        self.contents: dict[int, Body] = {}
        """The content of each file whose bytes are not those of its own inode."""
        self.held: dict[int, dict[str, Signature]] = {}
        """Contents of folders that are one item and will be deleted, by folder and relative path, as seen at the
        deletion.
        """
        self.hashes: dict[int, str] = {}
        """SHA-256 of the scan's files that were read so far."""

    def get_children(self, path: str) -> tuple[Node, ...]:
        return tuple(map(self.describe, self.tree.inside(self.readable(path))))

    def names_in(self, path: str) -> set[str]:
        """Return every name that is taken in a folder, including names that are not part of the workspace."""
        folder = self.directory(path)
        return {*map(self.tree.name, self.tree.inside(folder)), *self.tree.absent(folder)}

    def is_empty(self, path: str) -> bool:
        """Return whether a folder is completely empty, also on the disk."""
        return self.directory(path) not in self.tree.sealed and not self.names_in(path)

    def get_metadata(self, path: str) -> Node:
        return self.describe(self.locate(path))

    def read_content(self, path: str, limit: int = 64 * 1024) -> Excerpt:
        """Read at most `limit` bytes from the beginning."""
        node = self.locate(path)
        if self.tree.kind(node) != "file":
            raise WrongKind(f"{path} is not a file")
        with self.opened(node) as stream:
            data = stream.read(limit)
        size = self.tree.attrs(node)["size"]
        return Excerpt(data, size, size > len(data))

    def locate(self, path: str) -> int:
        """Return the node at a path of the staged view. A link on the way is refused: it may leave the workspace."""
        node, parts = ROOT, resolve(self.tree.root, path)
        for part in parts:
            below = self.child(node, part)
            if below is None:
                self._refuse_link(node, path)
                raise NoSuchPath(f"{path} does not exist")
            node = below
        return node

    def child(self, folder: int, name: str) -> int | None:
        """Return the node of this name, or the only one whose name differs in the form of its letters."""
        found = self.tree.child(folder, name)
        if found is not None or name.isascii():
            return found
        alike = [node for node in self.tree.inside(folder) if composed(self.tree.name(node)) == composed(name)]
        return alike[0] if len(alike) == 1 else None

    def directory(self, path: str) -> int:
        node = self.locate(path)
        self._refuse_link(node, path)
        kind = self.tree.kind(node)
        if kind in reserved.WHOLE:
            raise WrongKind(f"{path} is {_WHOLE[kind]}: it is one item here; work in it as a folder of its own")
        if kind != "directory":
            raise WrongKind(f"{path} is not a folder")
        return node

    def readable(self, path: str) -> int:
        """Return the folder at a path. Raises `Sealed` if nothing in it could be read."""
        node = self.directory(path)
        if node in self.tree.sealed and not self.tree.inside(node):
            raise Sealed(f"{path}: {self.tree.sealed[node]}")
        return node

    def sealed_in(self, path: str) -> int | None:
        """Return a folder at or below a path that could not be read completely."""
        node = self.locate(path) if self.tree.sealed else ROOT
        return next((one for one in self.tree.sealed if one in self.tree and self.tree.holds(node, one)), None)

    def _refuse_link(self, node: int, path: str) -> None:
        if self.tree.kind(node) == "symlink":
            raise OutsideWorkspace(f"{path} goes through a symbolic link")

    def describe(self, node: int) -> Node:
        attrs = self.tree.attrs(node)
        name = attrs["name"]
        extension = extension_of(name) if attrs["kind"] == "file" else ""
        when = moment(attrs["mtime_ns"]) if attrs["mtime_ns"] is not None else None
        path = names.shown(self.tree.path(node))
        return Node(path, name, attrs["kind"], extension, attrs["size"], attrs["mode"], when, self.inode(node))

    def inode(self, node: int) -> int:
        """Return a number that only hard links to one file share; a file that the stage made or changed has none."""
        staged = node >= self.tree.born or node in self.contents
        return -node if staged else self.tree.base.inode(node)

    def links(self, path: str) -> int:
        """Return how many names (hard links) the file at a path has on the disk now; 0 if it is not there yet."""
        node = self.locate(path)
        if self.inode(node) < 0:
            return 0
        with SafeDir.open(self.tree.root) as safe_dir, suppress(OSError):
            return safe_dir.stat(self.base_path(node)).st_nlink
        return 0

    def base_path(self, node: int) -> str:
        """Return the path on the disk of one of the scan's nodes."""
        return self.tree.base.path(node)

    def base_signature(self, node: int) -> Signature:
        return self.tree.base.signature(node)

    @contextmanager
    def opened(self, node: int) -> Iterator[BinaryIO]:
        """Yield the content of a file of the staged view."""
        body = self.contents.get(node, Original(node))
        if isinstance(body, Original):
            with SafeDir.open(self.tree.root) as safe_dir, self.original(safe_dir, body.node) as stream:
                yield stream
        elif isinstance(body, Blob):
            with opened_blob(self.blobs(body.sha256)) as stream:
                yield stream
        else:
            yield BytesIO(body.raw)

    @contextmanager
    def original(self, safe_dir: SafeDir, node: int) -> Iterator[BinaryIO]:
        """Yield the bytes of one of the scan's files. Its signature is checked before and after, so that changed
        content is never returned as the file.
        """
        path, expected = self.base_path(node), self.base_signature(node)
        try:
            # O_NONBLOCK: opening a pipe in this place would otherwise block for ever.
            fd = safe_dir.at(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        except PermissionError as error:
            raise Unreadable(f"{path} cannot be read: {error.strerror}") from error
        except OSError as error:
            raise Changed(f"{path} cannot be read: {error.strerror}") from error
        with os.fdopen(fd, "rb", buffering=0) as stream:
            _refuse_changed(stream.fileno(), expected, path)
            yield stream
            _refuse_changed(stream.fileno(), expected, path)


def extension_of(name: str) -> str:
    """Return `PurePosixPath(name).suffix` in lower case, ten times as fast: a large folder has 100,000 names."""
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else ""


def _refuse_changed(fd: int, expected: Signature, path: str) -> None:
    if not expected.matches(Signature.of(os.fstat(fd))):
        raise Changed(f"{path} was changed since the workspace was read")


@contextmanager
def opened_blob(source: BinaryIO | Path) -> Iterator[BinaryIO]:
    with source.open("rb") if isinstance(source, Path) else source as stream:
        yield stream
