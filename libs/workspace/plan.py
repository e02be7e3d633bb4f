"""The plan: a net change as renames between the tree and slots, each inode at most once.

A *slot* is a name in the transaction's folder. An item that leaves its place is renamed from its path before to its
slot, deepest first. An item that takes a place is renamed from its slot to its path after, shallowest first. A file
that is overwritten in place is exchanged with its slot. So swaps, chains, cycles, case-only renames and a folder moved
below its own child are no special cases, and the old inode is the pre-image. The inverted plan (`inverted`) is the
rollback of a commit, and inverted again its redo.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from libs.workspace.diff import Diff, Entry, Net, below_removed, net, place
from libs.workspace.names import join, lineage, parent
from libs.workspace.signature import Signature, kind_of
from libs.workspace.stage import Stage
from libs.workspace.view import Body

UNWRITTEN = Signature(0, 0, 0, 0)
"""Placeholder for what is not written yet; staging replaces it."""


@dataclass(frozen=True)
class Item:
    """The way of one inode: from `before` (None: new) through its slot to `after` (None: it stays in the slot)."""

    slot: str
    before: str | None
    after: str | None
    signature: Signature
    inside: dict[str, Signature] | None = None
    """Expected contents of a folder that is created or removed as a whole, by relative path."""

    def inverted(self) -> Item:
        inside = None if self.inside is None else moved(self.inside)
        return replace(self, before=self.after, after=self.before, signature=self.signature.moved(), inside=inside)

    @property
    def paths(self) -> Iterator[str]:
        return (path for path in (self.before, self.after) if path is not None)


@dataclass(frozen=True)
class Swap:
    """New content at a path: the old and the new inode are exchanged."""

    slot: str
    before: str
    after: str
    """The same file's path after all moves."""
    old: Signature
    new: Signature

    def inverted(self) -> Swap:
        return Swap(self.slot, self.after, self.before, self.new.moved(), self.old.moved())

    @property
    def paths(self) -> Iterator[str]:
        return iter((self.before, self.after))


@dataclass(frozen=True)
class Times:
    """The mtimes of a folder whose entries change: what undoing restores, and what finishing sets (None: leave it to
    the system).
    """

    before: str | None
    after: str | None
    mtime_before: int | None
    mtime_after: int | None


@dataclass(frozen=True)
class Plan:
    """All renames and mtimes of one transaction."""

    items: tuple[Item, ...] = ()
    swaps: tuple[Swap, ...] = ()
    times: tuple[Times, ...] = ()

    def __len__(self) -> int:
        return len(self.items) + len(self.swaps)

    @property
    def parts(self) -> tuple[Item | Swap, ...]:
        return (*self.items, *self.swaps)

    def leaving(self) -> list[Item]:
        return sorted((item for item in self.items if item.before is not None), key=lambda item: -_depth(item.before))

    def arriving(self) -> list[Item]:
        return sorted((item for item in self.items if item.after is not None), key=lambda item: _depth(item.after))

    def inverted(self) -> Plan:
        items = tuple(item.inverted() for item in self.items)
        return Plan(items, tuple(swap.inverted() for swap in self.swaps))

    def only(self, slots: Iterable[str]) -> Plan:
        wanted = frozenset(slots)
        items = tuple(item for item in self.items if item.slot in wanted)
        return replace(self, items=items, swaps=tuple(swap for swap in self.swaps if swap.slot in wanted))

    @property
    def slots(self) -> frozenset[str]:
        return frozenset(part.slot for part in self.parts)


@dataclass(frozen=True)
class Fresh:
    """An inode that staging has to write into a slot, for a path. `like` is the path of the file that it replaces."""

    slot: str
    path: str
    kind: str
    mode: int
    body: Body | None = None
    like: str | None = None
    mtime_ns: int | None = None
    """The file's modification time; None for now."""


@dataclass(frozen=True)
class Draft:
    """A plan whose new inodes are still to be written."""

    plan: Plan
    fresh: tuple[Fresh, ...]

    @property
    def wanted(self) -> tuple[Fresh, ...]:
        """The inodes that are still part of the plan."""
        slots = self.plan.slots
        return tuple(fresh for fresh in self.fresh if fresh.slot in slots)


class Routes:
    """Conversion of paths before the plan to paths after it and back, by the nearest item above that moves."""

    def __init__(self, plan: Plan) -> None:
        self.leaving = {item.before: item for item in plan.items if item.before is not None}
        self.arriving = {item.after: item for item in plan.items if item.after is not None}
        self.swaps = plan.swaps

    def forward(self, path: str) -> str | None:
        """Return the path after the plan; None if it is taken out of the tree."""
        for above in lineage(path):
            if item := self.leaving.get(above):
                return None if item.after is None else item.after + path[len(above) :]
        return path

    def backward(self, path: str) -> str | None:
        """Return the path before the plan; None if it is new."""
        for above in lineage(path):
            if item := self.arriving.get(above):
                return None if item.before is None else item.before + path[len(above) :]
        return path

    def folders(self) -> Iterator[tuple[str | None, str | None]]:
        """Yield each folder whose entries change, as its paths before and after, without new ones, which have no mtime
        to keep.
        """
        pairs: set[tuple[str | None, str | None]] = set()
        for path, item in self.leaving.items():
            pairs.add((parent(path), self.forward(parent(path))))
            # Some file systems change the mtime of a folder that gets another parent.
            if item.after is not None and item.signature.is_directory:
                pairs.add((path, item.after))
        pairs |= {(self.backward(parent(path)), parent(path)) for path in self.arriving}
        pairs |= {(parent(swap.before), parent(swap.after)) for swap in self.swaps}
        return iter(pair for pair in pairs if pair[0] is not None)


def moved(inside: Mapping[str, Signature]) -> dict[str, Signature]:
    """Return the signatures of files in a renamed folder, or of files with another renamed hard link."""
    return {path: found.moved() for path, found in inside.items()}


def draft(stage: Stage, trading: bool = True) -> Draft:
    """Return the net change of a stage. Without `trading`, for file systems that cannot exchange names, an overwritten
    file leaves and another arrives.
    """
    change = net(stage)
    items: list[Item] = [_removed(stage, change, node) for node in change.removed]
    swaps: list[Swap] = []
    fresh: list[Fresh] = []
    moved, edited = set(change.moved), set(change.edited)
    items += [_created(stage, node) for node in change.created]
    fresh += [_fresh(stage, node) for node in change.created]
    items += [_moved(stage, node) for node in moved - edited]
    for node in edited:
        before, after = stage.base_path(node), stage.tree.path(node)
        fresh.append(_fresh(stage, node, like=before))
        # Preferred: at every moment a reader of the path finds the old file or the new one.
        if trading and node not in moved:
            swaps.append(Swap(f"n{node}", before, after, stage.base_signature(node), UNWRITTEN))
        else:
            items += [
                Item(f"o{node}", before, None, stage.base_signature(node)),
                Item(f"n{node}", None, after, UNWRITTEN),
            ]
    return Draft(Plan(tuple(items), tuple(swaps)), tuple(fresh))


def narrowed(diff: Diff, plan: Plan) -> Diff:
    """Return the diff of a plan from which something was excluded."""
    placed = {path for part in plan.parts if (path := part.after) is not None}
    entries = [entry for entry in diff.entries if entry.change != "deleted" and entry.path in placed]
    gone = {item.before: item for item in plan.items if item.after is None}
    for entry in diff.of("deleted"):
        if item := gone.get(entry.path):
            entries.append(_cut(entry, item))
        else:
            entries += [_cut(entry, item) for path, item in gone.items() if path and path.startswith(f"{entry.path}/")]
    return Diff(diff.version, tuple(sorted(entries, key=place)))


def _cut(entry: Entry, item: Item) -> Entry:
    held = [item.signature, *(item.inside or {}).values()]
    size = sum(found.size for found in held if kind_of(found.mode) == "file")
    return replace(entry, path=item.before or "", kind=kind_of(item.signature.mode), size=size, items=len(held))


def _removed(stage: Stage, change: Net, node: int) -> Item:
    top, found = stage.base_path(node), stage.base_signature(node)
    if not found.is_directory:
        return Item(f"o{node}", top, None, found)
    inside: dict[str, Signature] = {}
    for here in below_removed(change, node):
        path = stage.base_path(here)[len(top) + 1 :]
        inside |= {join(path, name): signature for name, signature in stage.held.get(here, {}).items()}
        if here != node:
            inside[path] = stage.base_signature(here)
    return Item(f"o{node}", top, None, found, inside)


def _moved(stage: Stage, node: int) -> Item:
    return Item(f"o{node}", stage.base_path(node), stage.tree.path(node), stage.base_signature(node))


def _created(stage: Stage, node: int) -> Item:
    inside: dict[str, Signature] | None = {} if stage.tree.kind(node) == "directory" else None
    return Item(f"n{node}", None, stage.tree.path(node), UNWRITTEN, inside)


def _fresh(stage: Stage, node: int, like: str | None = None) -> Fresh:
    attrs = stage.tree.attrs(node)
    path, body, mtime_ns = stage.tree.path(node), stage.contents.get(node), attrs["mtime_ns"]
    return Fresh(f"n{node}", path, attrs["kind"], attrs["mode"] & 0o7777, body, like, mtime_ns)


def _depth(path: str | None) -> int:
    return path.count("/") if path else 0
