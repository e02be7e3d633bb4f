"""The tree: one scan of a folder with a stage's changes on top (S4-24).

Nodes are integers and a path is derived from the parents, so moving a folder of a hundred thousand files is one entry.
The scan is shared; a tree holds only the differences. Only this class changes them; a `Stage` records how to undo its
requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from libs.workspace import names, reserved
from libs.workspace.scan import ROOT, Absence, Scan

Attrs = dict[str, Any]
"""name, kind, ino, size, mtime_ns, mode: the values of a networkx node."""
CHANGED_BYTES, ABSENT_BYTES = 500, 250
"""Memory of a node that a stage changed, and of one that it moved or removed, in bytes (measured)."""

__all__ = ["ROOT", "Attrs", "Tree"]


class Tree:
    """One folder as a stage sees it."""

    def __init__(self, base: Scan) -> None:
        self.base, self.root = base, base.root
        self.sealed = dict(base.sealed)
        """Folders that could not be read completely, and why: other mounts, no permission."""
        self.born = len(base)
        """Nodes below this number are the scan's, the others a stage's."""
        self._next = self.born
        self._values: dict[int, Attrs] = {}
        """Values of the nodes that a stage created, and changed values of the scan's nodes."""
        self._places: dict[int, tuple[int, str]] = {}
        """Parent and name of nodes that a stage created or moved."""
        self._inside: dict[int, dict[str, int]] = {}
        """Nodes that a stage put into folders, by name."""
        self._away: set[int] = set()
        """Nodes of the scan that are no longer in their original place."""
        self._gone: set[int] = set()

    @classmethod
    def scan(cls, root: Path) -> Tree:
        return cls(Scan.of(root))

    def __contains__(self, node: int) -> bool:
        return node not in self._gone and (node < self.born or node in self._values)

    def __iter__(self) -> Iterator[int]:
        made = (node for node in self._values if node >= self.born)
        return (node for nodes in (range(self.born), made) for node in nodes if node not in self._gone)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes besides the scan."""
        changed, absent = len(self._values) + len(self._places), len(self._away) + len(self._gone)
        return CHANGED_BYTES * changed + ABSENT_BYTES * absent

    def place(self, node: int) -> tuple[int, str]:
        """Return the parent and the name."""
        return self._places.get(node) or (self.base.parent(node), self.base.name(node))

    def parent(self, node: int) -> int:
        place = self._places.get(node)
        return place[0] if place else self.base.parent(node)

    def name(self, node: int) -> str:
        place = self._places.get(node)
        return place[1] if place else self.base.name(node)

    def path(self, node: int) -> str:
        parts = []
        while node != ROOT:
            node, name = self.place(node)
            parts.append(name)
        return "/".join(reversed(parts))

    def child(self, folder: int, name: str) -> int | None:
        node = self._inside.get(folder, {}).get(name)
        if node is None and folder < self.born:
            node = self.base.child(folder, name)
            return None if node in self._away else node
        return node

    def inside(self, folder: int) -> Sequence[int]:
        """Return the nodes in a folder, ordered by name; none if it is not a folder."""
        held: Sequence[int] = self.base.inside(folder) if folder < self.born else ()
        if self._away:
            held = [node for node in held if node not in self._away]
        if added := self._inside.get(folder):
            held = sorted([*held, *added.values()], key=self.name)
        return held

    def beneath(self, node: int) -> Iterator[int]:
        """Yield the node and everything below it, folders before their contents, names in order."""
        pending = [node]
        while pending:
            here = pending.pop()
            yield here
            pending.extend(reversed(self.inside(here)))

    def kind(self, node: int) -> str:
        """Return file, directory, symlink or other, or a kind of `reserved.WHOLE`."""
        kind: str = self.base.kind(node) if node < self.born else self._values[node]["kind"]
        return kind

    def size(self, node: int) -> int:
        changed: int | None = self._values.get(node, {}).get("size")
        return self.base.size(node) if changed is None else changed

    def attrs(self, node: int) -> Attrs:
        """Return a node's values, for reading."""
        values = self._values.get(node, {})
        if node < self.born:
            values = {"kind": self.base.kind(node), **self.base.signature(node)._asdict(), **values}
        return {"name": self.name(node), **values}

    def absent(self, folder: int) -> Mapping[str, Absence]:
        """Return the names in a folder that are taken and are not nodes, with the reason."""
        return self.base.absent.get(folder, {})

    def holding(self, node: int) -> str | None:
        """Return a path below a folder that may not be deleted or copied with the folder; None if there is none."""
        for folder, missing in self.base.absent.items():
            if folder in self and self.holds(node, folder):
                return names.join(self.path(folder), next(iter(missing)))
        below = (here for here, kind in self.base.whole.items() if kind == reserved.REPOSITORY and here != node)
        found = next((here for here in below if here in self and self.holds(node, here)), None)
        return None if found is None else self.path(found)

    def repositories_below(self) -> dict[int, int]:
        """Return each folder that holds a repository, at any depth, with one of them."""
        held: dict[int, int] = {}
        for node, kind in self.base.whole.items():
            if kind != reserved.REPOSITORY or node not in self:
                continue
            folder = self.parent(node)
            while folder != ROOT and folder not in held:
                held[folder] = node
                folder = self.parent(folder)
        return held

    def holds(self, node: int, other: int) -> bool:
        """Return whether `other` is the node or lies below it."""
        while other != node and other != ROOT:
            other = self.parent(other)
        return other == node

    def insert(self, parent: int, attrs: Attrs) -> int:
        """Insert a new node; `forget` undoes it."""
        node = self._next
        self._next += 1
        self._values[node] = {key: value for key, value in attrs.items() if key != "name"}
        self._enter(node, parent, attrs["name"])
        return node

    def forget(self, node: int) -> None:
        self._leave(node)
        del self._values[node], self._places[node]

    def remove(self, node: int) -> list[int]:
        """Remove a node with everything below it; pass the result to `put_back` to restore it."""
        nodes = list(self.beneath(node))
        self._leave(node)
        self._gone.update(nodes)
        return nodes

    def put_back(self, nodes: list[int]) -> None:
        self._gone.difference_update(nodes)
        self._enter(nodes[0], *self.place(nodes[0]))

    def relocate(self, node: int, parent: int, name: str) -> None:
        self._leave(node)
        self._enter(node, parent, name)

    def update(self, node: int, values: Attrs) -> None:
        self._values.setdefault(node, {}).update(values)

    def export(self) -> dict[str, Any]:
        """Return the tree as `networkx.node_link_data(graph, edges="edges")` would (S4-26): its readers load it so."""
        return {
            "directed": True,
            "multigraph": False,
            "graph": {},
            "nodes": [{**self.attrs(node), "id": node} for node in self],
            "edges": [{"source": folder, "target": node} for folder in self for node in self.inside(folder)],
        }

    def _leave(self, node: int) -> None:
        parent, name = self.place(node)
        added = self._inside.get(parent, {})
        if added.get(name) == node:
            del added[name]
        else:
            self._away.add(node)

    def _enter(self, node: int, parent: int, name: str) -> None:
        # Back in its original place, so the node needs no entry: an undone move leaves the tree as scanned.
        if node < self.born and (parent, name) == (self.base.parent(node), self.base.name(node)):
            self._away.discard(node)
            self._places.pop(node, None)
            return
        self._inside.setdefault(parent, {})[name] = node
        self._places[node] = parent, name
