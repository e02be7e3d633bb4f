"""The tree: the workspace's files as a live graph (S4-24).

Nodes are integers and a path is derived by climbing, so that moving a folder of a hundred thousand files is one
edge. Beside the networkx graph stand two indexes, children by name and parent by node, because a path is looked up
far more often than a graph is. Nothing outside this class changes them; a `Stage` remembers how to undo what it asks
for.
"""

from __future__ import annotations

import errno
import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from libs.workspace import names
from libs.workspace.beneath import Beneath
from libs.workspace.scope import HIDDEN
from libs.workspace.signature import Signature, kind_of

if TYPE_CHECKING:
    import networkx as nx

Attrs = dict[str, Any]
"""name, kind, ino, size, mtime_ns, mode: the values of a networkx node."""

ROOT = 0
RACY_NS = 10_000_000
"""A file changed this short a time ago may change again within one tick of the clock and keep its mtime (kernels
before 6.13)."""


class Record(NamedTuple):
    """A node that was taken out, with what puts it back."""

    node: int
    parent: int
    attrs: Attrs


class Tree:
    """The graph of one folder, as one scan found it and as a stage changes it."""

    def __init__(self, root: Path, top: Signature) -> None:
        import networkx

        self.root = root
        self.graph: nx.DiGraph[int] = networkx.DiGraph()
        self.children: dict[int, dict[str, int]] = {ROOT: {}}
        self.parents: dict[int, int] = {}
        self.sealed: dict[int, str] = {}
        """Folders that could not be read whole, and why: other mounts, no permission."""
        self.born = 1
        """Nodes below this number are the scan's, the others a stage's."""
        self._next = 1
        self.graph.add_node(ROOT, **_attrs("", top))

    @classmethod
    def scan(cls, root: Path) -> Tree:
        """Read names and signatures of everything beneath `root`; no content, no link followed, no other mount
        entered."""
        root = Path(os.path.abspath(root))  # noqa: PTH100 - resolve() would follow a link that the caller did not check
        with Beneath.open(root) as door, _no_collection():
            started = time.time_ns()
            tree = cls(root, Signature.of(os.fstat(door.fd)))
            recent = tree._read(door, started - RACY_NS)
            tree._settle(door, recent)
        tree.born = tree._next
        return tree

    def path(self, node: int) -> str:
        parts = []
        while node != ROOT:
            parts.append(self.graph.nodes[node]["name"])
            node = self.parents[node]
        return "/".join(reversed(parts))

    def find(self, parts: tuple[str, ...]) -> int | None:
        node: int | None = ROOT
        for part in parts:
            node = self.children.get(node, {}).get(part) if node is not None else None
        return node

    def beneath(self, node: int) -> Iterator[int]:
        """The node and all below it, folders before what they hold, names in order."""
        pending = [node]
        while pending:
            here = pending.pop()
            yield here
            inside = self.children.get(here)
            if inside:
                pending.extend(inside[name] for name in sorted(inside, reverse=True))

    def attrs(self, node: int) -> Attrs:
        return self.graph.nodes[node]

    def signature(self, node: int) -> Signature:
        return signature(self.attrs(node))

    def holds(self, node: int, other: int) -> bool:
        """Whether `other` is the node or lies below it."""
        while other != node and other != ROOT:
            other = self.parents[other]
        return other == node

    def insert(self, parent: int, attrs: Attrs) -> int:
        node = self._next
        self._next += 1
        self.put_back([Record(node, parent, attrs)])
        return node

    def remove(self, node: int) -> list[Record]:
        """Take out a node with all below it; `put_back` of the answer restores it."""
        nodes = self.graph.nodes
        records = [Record(here, self.parents[here], nodes[here]) for here in self.beneath(node)]
        del self.children[self.parents[node]][nodes[node]["name"]]
        for record in records:
            self.children.pop(record.node, None)
            del self.parents[record.node]
        self.graph.remove_nodes_from([record.node for record in records])
        return records

    def put_back(self, records: list[Record]) -> None:
        """Place nodes, parents first."""
        self.graph.add_nodes_from((node, attrs) for node, _, attrs in records)
        self.graph.add_edges_from((parent, node) for node, parent, _ in records)
        for node, parent, attrs in records:
            self.parents[node] = parent
            self.children[parent][attrs["name"]] = node
            if attrs["kind"] == "directory":
                self.children[node] = {}

    def relocate(self, node: int, parent: int, name: str) -> None:
        attrs, old = self.attrs(node), self.parents[node]
        del self.children[old][attrs["name"]]
        self.graph.remove_edge(old, node)
        self.graph.add_edge(parent, node)
        attrs["name"], self.parents[node] = name, parent
        self.children[parent][name] = node

    def update(self, node: int, values: Attrs) -> None:
        self.attrs(node).update(values)

    def export(self) -> dict[str, Any]:
        """What `networkx.node_link_data(graph, edges="edges")` says, three times as fast (S4-26)."""
        return {
            "directed": True,
            "multigraph": False,
            "graph": {},
            "nodes": [{**attrs, "id": node} for node, attrs in self.graph.nodes(data=True)],
            "edges": [{"source": parent, "target": node} for parent, node in self.graph.edges()],
        }

    def _read(self, door: Beneath, racy: int) -> list[int]:
        """Fill the tree, folder by folder; the answer is the files whose mtime is at or after `racy`."""
        nodes, edges, recent = [], [], []
        pending = [(ROOT, "")]
        while pending:
            parent, path = pending.pop()
            inside = self.children[parent]
            for name, found in self._listed(door, parent, path):
                node, self._next = self._next, self._next + 1
                attrs = _attrs(name, found)
                nodes.append((node, attrs))
                edges.append((parent, node))
                inside[name], self.parents[node] = node, parent
                if attrs["kind"] == "directory":
                    self.children[node] = {}
                    pending.append((node, f"{path}/{name}" if path else name))
                elif found.st_mtime_ns >= racy:
                    recent.append(node)
        self.graph.add_nodes_from(nodes)
        self.graph.add_edges_from(edges)
        return recent

    def _listed(self, door: Beneath, folder: int, path: str) -> list[tuple[str, os.stat_result]]:
        try:
            with door.entries(path) as entries:
                return [found for entry in entries if (found := _look(entry)) and (path or found[0] != HIDDEN)]
        except OSError as error:
            if error.errno == errno.EXDEV:
                self.sealed[folder] = "another file system is mounted here"
            elif error.errno in (errno.EACCES, errno.EPERM):
                self.sealed[folder] = "it cannot be read"
            # ENOENT, ENOTDIR, ELOOP: it was swapped while we read; a commit that touches it will find the conflict.
            elif error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise
            return []

    def _settle(self, door: Beneath, recent: list[int]) -> None:
        """Look again at files that changed within the last tick, once the clock has moved on: git's racy-entry rule."""
        if not recent:
            return
        time.sleep(RACY_NS / 1e9)
        for node in recent:
            found = door.signature(self.path(node))
            if found is not None:
                self.attrs(node).update(found._asdict(), kind=kind_of(found.mode))


def signature(attrs: Attrs) -> Signature:
    return Signature(attrs["ino"], attrs["size"], attrs["mtime_ns"], attrs["mode"])


def _look(entry: os.DirEntry[str]) -> tuple[str, os.stat_result] | None:
    """The entry's name as text and its stat; None where it vanished."""
    name = entry.name
    if not name.isascii() or "\\" in name:
        name = names.encode(os.fsencode(name))
    try:
        return name, entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _attrs(name: str, found: os.stat_result | Signature) -> Attrs:
    ino, size, mtime_ns, mode = found if isinstance(found, Signature) else Signature.of(found)
    return {"name": name, "kind": kind_of(mode), "ino": ino, "size": size, "mtime_ns": mtime_ns, "mode": mode}


@contextmanager
def _no_collection() -> Iterator[None]:
    """The collector would walk the growing graph again and again: a fifth of the scan (measured)."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
