"""The view: what the reading primitives see, the disk as the stage would leave it (S4-14).

A staged path need not be a file's path on the disk. Content is read from where the file really lies, through the
door that follows no links, and only while its signature is the scan's; otherwise `Changed` says so instead of
showing something else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from libs.workspace import names
from libs.workspace.beneath import Beneath
from libs.workspace.errors import BadContent, Changed, NoSuchPath, OutsideWorkspace, WrongKind
from libs.workspace.operations import Blob, Inline
from libs.workspace.scope import resolve
from libs.workspace.signature import Signature
from libs.workspace.tree import ROOT, Attrs, Tree, signature

Blobs = Callable[[str], BinaryIO | Path]
"""Opens the blob of a SHA-256."""


EMPTY: dict[str, int] = {}


@dataclass(frozen=True)
class Original:
    """Content that a file had in the scan: the source of a copy."""

    node: int


Body = Blob | Inline | Original


@dataclass(frozen=True)
class Node:
    """One file or folder of the staged view. `path` is relative, "." for the root; `modified_at` is None for what is
    only staged."""

    path: str
    name: str
    kind: str
    extension: str
    size: int
    mode: int
    modified_at: datetime | None


@dataclass(frozen=True)
class Excerpt:
    """The beginning of a file; `size` is that of the whole."""

    data: bytes
    size: int
    truncated: bool


class Origin(NamedTuple):
    """Where and what a node was in the scan."""

    parent: int
    name: str
    attrs: Attrs


def no_blobs(sha256: str) -> Path:
    """For a reader that was handed no object store."""
    raise BadContent(f"the blob {sha256} cannot be read here")


class View:
    """A tree with what was staged upon it. Reading changes nothing."""

    def __init__(self, tree: Tree, blobs: Blobs = no_blobs) -> None:
        self.tree = tree
        self.blobs = blobs
        self.origins: dict[int, Origin] = {}
        """The scan's facts about each node that an operation ever touched."""
        self.contents: dict[int, Body] = {}
        """The content of each file whose bytes are not those of its own inode."""
        self.hashes: dict[int, str] = {}
        """SHA-256 of the scan's files that were read so far."""

    def get_children(self, path: str) -> tuple[Node, ...]:
        inside = self.tree.children[self.directory(path)]
        return tuple(self.describe(inside[name]) for name in sorted(inside))

    def get_metadata(self, path: str) -> Node:
        return self.describe(self.locate(path))

    def read_content(self, path: str, limit: int = 64 * 1024) -> Excerpt:
        """At most `limit` bytes from the beginning."""
        node = self.locate(path)
        if self.tree.attrs(node)["kind"] != "file":
            raise WrongKind(f"{path} is not a file")
        with self.opened(node) as stream:
            data = stream.read(limit)
        size = self.tree.attrs(node)["size"]
        return Excerpt(data, size, size > len(data))

    def locate(self, path: str) -> int:
        """The node at a path of the staged view. A link on the way is a way out, and is refused."""
        node, parts = ROOT, resolve(self.tree.root, path)
        for part in parts:
            below = self.tree.children.get(node, EMPTY).get(part)
            if below is None:
                self._refuse_link(node, path)
                raise NoSuchPath(f"{path} does not exist")
            node = below
        return node

    def directory(self, path: str) -> int:
        node = self.locate(path)
        self._refuse_link(node, path)
        if self.tree.attrs(node)["kind"] != "directory":
            raise WrongKind(f"{path} is not a folder")
        return node

    def _refuse_link(self, node: int, path: str) -> None:
        if self.tree.attrs(node)["kind"] == "symlink":
            raise OutsideWorkspace(f"{path} goes through a symbolic link")

    def describe(self, node: int) -> Node:
        attrs = self.tree.attrs(node)
        name = attrs["name"]
        extension = PurePosixPath(name).suffix.lower() if attrs["kind"] == "file" else ""
        when = datetime.fromtimestamp(attrs["mtime_ns"] / 1e9, UTC) if attrs["mtime_ns"] else None
        path = names.shown(self.tree.path(node))
        return Node(path, name, attrs["kind"], extension, attrs["size"], attrs["mode"], when)

    def base_path(self, node: int) -> str:
        """Where one of the scan's nodes lies on the disk."""
        parts = []
        while node != ROOT:
            origin = self.origins.get(node)
            parts.append(origin.name if origin else self.tree.attrs(node)["name"])
            node = origin.parent if origin else self.tree.parents[node]
        return "/".join(reversed(parts))

    def base_signature(self, node: int) -> Signature:
        origin = self.origins.get(node)
        return signature(origin.attrs) if origin else self.tree.signature(node)

    @contextmanager
    def opened(self, node: int) -> Iterator[BinaryIO]:
        """The content of a file of the staged view."""
        body = self.contents.get(node, Original(node))
        if isinstance(body, Original):
            with Beneath.open(self.tree.root) as door, self.original(door, body.node) as stream:
                yield stream
        elif isinstance(body, Blob):
            with opened_blob(self.blobs(body.sha256)) as stream:
                yield stream
        else:
            yield BytesIO(body.raw)

    @contextmanager
    def original(self, door: Beneath, node: int) -> Iterator[BinaryIO]:
        """The bytes of one of the scan's files, checked before and after, so that a change meanwhile is never passed
        on as the file."""
        path, expected = self.base_path(node), self.base_signature(node)
        try:
            # O_NONBLOCK: a pipe that someone put here would otherwise hold us for ever.
            fd = door.at(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        except OSError as error:
            raise Changed(f"{path} cannot be read: {error.strerror}") from error
        with os.fdopen(fd, "rb", buffering=0) as stream:
            _refuse_changed(stream.fileno(), expected, path)
            yield stream
            _refuse_changed(stream.fileno(), expected, path)


def _refuse_changed(fd: int, expected: Signature, path: str) -> None:
    if not expected.matches(Signature.of(os.fstat(fd))):
        raise Changed(f"{path} was changed since the workspace was read")


@contextmanager
def opened_blob(source: BinaryIO | Path) -> Iterator[BinaryIO]:
    with source.open("rb") if isinstance(source, Path) else source as stream:
        yield stream
