"""Trees for workspace tests, and manifests that compare two trees to the byte."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import networkx as nx

from libs.workspace import names
from libs.workspace.operations import AnyOperation, Inline
from libs.workspace.signature import kind_of
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree

OLD = 1_600_000_000_000_000_000
"""An mtime long ago, in nanoseconds, so that no scan has to wait for the clock."""


class Fact(NamedTuple):
    """The properties of one name that a rollback must restore."""

    kind: str
    mode: int
    mtime_ns: int
    content: str
    attributes: tuple[tuple[str, bytes], ...]


def graph(tree: Tree) -> nx.DiGraph[int]:
    """Return a tree as a networkx graph (S4-24)."""
    made: nx.DiGraph[int] = nx.DiGraph()
    made.add_nodes_from((node, tree.attrs(node)) for node in tree)
    made.add_edges_from((folder, node) for folder in tree for node in tree.inside(folder))
    return made


def find(tree: Tree, path: str) -> int | None:
    """Return the node at a path; None if there is none."""
    return next((node for node in tree if tree.path(node) == path), None)


def grow(root: Path, files: dict[str, bytes | str | None]) -> Path:
    """Create files (content), folders (None) and links (`-> target`), each with an old mtime of its own."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir(exist_ok=True)
        elif isinstance(content, str) and content.startswith("-> "):
            path.symlink_to(content[3:])
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return aged(root)


def aged(root: Path) -> Path:
    paths = sorted(_beneath(os.fsencode(root)), key=len, reverse=True)
    for number, path in enumerate([*paths, os.fsencode(root)]):
        os.utime(path, ns=(OLD, OLD + number * 1_000_000_007), follow_symlinks=False)
    return root


def copied(source: Path) -> Path:
    """Copy the tree next to itself with the same bytes, modes, links and mtimes."""
    return Path(shutil.copytree(source, Path(tempfile.mkdtemp(dir=source.parent)) / "work", symlinks=True))


def manifest(root: Path) -> dict[bytes, Fact]:
    """Return everything in a tree except the hidden folder: type, mode, mtime, bytes, extended attributes, the root's
    own too.
    """
    top = os.fsencode(root)
    return {path[len(top) :]: _fact(path) for path in [top, *_beneath(top)]}


def shape(root: Path) -> dict[str, str]:
    """Return each path with its content, or with its kind if it has none: the expected disk after a commit."""
    facts = {names.encode(path[1:]): fact for path, fact in manifest(root).items() if path}
    return {path: fact.content if fact.kind == "file" else fact.kind for path, fact in facts.items()}


def staged_shape(stage: Stage) -> dict[str, str]:
    """Return the same for a stage."""
    found = {}
    for node in stage.walk("."):
        content = node.kind
        if node.kind == "file":
            content = hashlib.sha256(stage.read_content(node.path, 1 << 20).data).hexdigest()
        found[node.path] = content
    return found


def staged(root: Path, *operations: AnyOperation) -> Stage:
    stage = Stage(Tree.scan(root))
    for operation in operations:
        stage.apply(operation)
    return stage


def text(content: str) -> Inline:
    return Inline.of(content.encode())


def owner() -> None:
    """Do nothing: the fence of a process that still owns the workspace."""


class Killed:
    """A `step` that kills its process at the n-th call, without cleanup."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, point: str) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Counted:
    """A `step` that records the points."""

    def __init__(self) -> None:
        self.points: list[str] = []

    def __call__(self, point: str) -> None:
        self.points.append(point)


def forked(act: Callable[[], object]) -> int:
    """Run it in a child and wait: 0 if it returned, -9 if it was killed."""
    pid = born(act)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def born(act: Callable[[], object]) -> int:
    """Start a child that runs it; the caller waits for the child."""
    pid = os.fork()
    if pid:
        return pid
    try:
        act()
        os._exit(0)
    except BaseException:
        os._exit(1)


def _beneath(root: bytes) -> Iterator[bytes]:
    for folder, folders, files in os.walk(root):
        if folder == root and b".suma" in folders:
            folders.remove(b".suma")
        yield from (os.path.join(folder, name) for name in (*folders, *files))


def _fact(path: bytes) -> Fact:
    found = os.lstat(path)
    kind = kind_of(found.st_mode)
    content = kind
    if kind == "symlink":
        content = os.fsdecode(os.readlink(path))
    if kind == "file":
        with open(path, "rb") as stream:
            content = hashlib.sha256(stream.read()).hexdigest()
    attributes = tuple((name, os.getxattr(path, name, follow_symlinks=False)) for name in _attributes(path))
    return Fact(kind, found.st_mode, found.st_mtime_ns, content, attributes)


def _attributes(path: bytes) -> list[str]:
    try:
        return sorted(os.listxattr(path, follow_symlinks=False))
    except OSError:
        return []
