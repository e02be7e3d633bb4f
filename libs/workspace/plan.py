"""The plan: a net change as renames between the tree and slots, each inode at most once.

A *slot* is a name in the transaction's folder. What leaves its place goes from its path before to its slot, deepest
first; what takes a place goes from its slot to its path after, shallowest first; what is overwritten in place trades
places with its slot. So swaps, chains, cycles, renames of case only and a folder moved below its own child need no
thought, and the pre-image of everything is the old inode itself. The same plan read backwards (`inverted`) is the
rollback of a commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from libs.workspace.diff import Diff, Entry, Net, below_removed, net, place
from libs.workspace.names import lineage, parent
from libs.workspace.signature import Signature, kind_of
from libs.workspace.stage import Stage
from libs.workspace.view import Body

NOWHERE = Signature(0, 0, 0, 0)
"""Of what is not written yet; staging fills it in."""


@dataclass(frozen=True)
class Item:
    """One inode's way: from `before` (None: it is new) through its slot to `after` (None: it stays there, out of the
    tree)."""

    slot: str
    before: str | None
    after: str | None
    signature: Signature
    inside: dict[str, Signature] | None = None
    """For a folder that comes or goes as a whole: what must lie in it then, by relative path."""

    def inverted(self) -> Item:
        return replace(self, before=self.after, after=self.before)

    @property
    def paths(self) -> Iterator[str]:
        return (path for path in (self.before, self.after) if path is not None)


@dataclass(frozen=True)
class Swap:
    """New content at a path: the old inode and the new one trade places."""

    slot: str
    before: str
    after: str
    """The same file's path once everything has moved."""
    old: Signature
    new: Signature

    def inverted(self) -> Swap:
        return Swap(self.slot, self.after, self.before, self.new, self.old)

    @property
    def paths(self) -> Iterator[str]:
        return iter((self.before, self.after))


@dataclass(frozen=True)
class Times:
    """The mtime of a folder whose entries change: what undoing restores, and what finishing sets (None: what the
    system sets)."""

    before: str | None
    after: str | None
    mtime_before: int | None
    mtime_after: int | None


@dataclass(frozen=True)
class Plan:
    """All of one transaction."""

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
    mtime_ns: int = 0
    """What the file's time of change is to be; 0 for now."""


@dataclass(frozen=True)
class Draft:
    """A plan whose new inodes are still to be written."""

    plan: Plan
    fresh: tuple[Fresh, ...]

    @property
    def wanted(self) -> tuple[Fresh, ...]:
        """What is still part of the plan."""
        slots = self.plan.slots
        return tuple(fresh for fresh in self.fresh if fresh.slot in slots)


class Routes:
    """Where a path of before is after, and the other way, by the nearest thing on its way that moves."""

    def __init__(self, plan: Plan) -> None:
        self.leaving = {item.before: item for item in plan.items if item.before is not None}
        self.arriving = {item.after: item for item in plan.items if item.after is not None}
        self.swaps = plan.swaps

    def forward(self, path: str) -> str | None:
        """None where it is taken out of the tree."""
        for above in lineage(path):
            if item := self.leaving.get(above):
                return None if item.after is None else item.after + path[len(above) :]
        return path

    def backward(self, path: str) -> str | None:
        """None where it is new."""
        for above in lineage(path):
            if item := self.arriving.get(above):
                return None if item.before is None else item.before + path[len(above) :]
        return path

    def folders(self) -> Iterator[tuple[str | None, str | None]]:
        """Each folder whose entries change, as its path before and after; new ones have no mtime to keep and are not
        among them."""
        pairs: set[tuple[str | None, str | None]] = set()
        for path, item in self.leaving.items():
            pairs.add((parent(path), self.forward(parent(path))))
            # Some file systems touch the mtime of a folder that gets another parent.
            if item.after is not None and item.signature.is_directory:
                pairs.add((path, item.after))
        pairs |= {(self.backward(parent(path)), parent(path)) for path in self.arriving}
        pairs |= {(parent(swap.before), parent(swap.after)) for swap in self.swaps}
        return iter(pair for pair in pairs if pair[0] is not None)


def draft(stage: Stage, trading: bool = True) -> Draft:
    """The net change of a stage. Without `trading`, for file systems that cannot exchange, an overwritten file
    leaves and another arrives."""
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
        if trading and node not in moved:
            swaps.append(Swap(f"n{node}", before, after, stage.base_signature(node), NOWHERE))
        else:
            items += [
                Item(f"o{node}", before, None, stage.base_signature(node)),
                Item(f"n{node}", None, after, NOWHERE),
            ]
    return Draft(Plan(tuple(items), tuple(swaps)), tuple(fresh))


def narrowed(diff: Diff, plan: Plan) -> Diff:
    """The diff of what a plan does, after something was left out of it."""
    placed = {path for part in plan.parts if (path := part.after) is not None}
    entries = [entry for entry in diff.entries if entry.change != "deleted" and entry.path in placed]
    gone = {item.before: item for item in plan.items if item.after is None}
    for entry in diff.of("deleted"):
        if item := gone.get(entry.path):
            entries.append(_cut(entry, item))
        else:
            entries += [_cut(entry, item) for path, item in gone.items() if path and path.startswith(f"{entry.path}/")]
    freed = sum(entry.size for entry in entries if entry.change == "deleted")
    return Diff(diff.version, tuple(sorted(entries, key=place)), freed)


def _cut(entry: Entry, item: Item) -> Entry:
    held = [item.signature, *(item.inside or {}).values()]
    size = sum(found.size for found in held if kind_of(found.mode) == "file")
    return replace(entry, path=item.before or "", kind=kind_of(item.signature.mode), size=size, items=len(held))


def _removed(stage: Stage, change: Net, node: int) -> Item:
    top, found = stage.base_path(node), stage.base_signature(node)
    if not found.is_directory:
        return Item(f"o{node}", top, None, found)
    below = (here for here in below_removed(change, node) if here != node)
    inside = {stage.base_path(here)[len(top) + 1 :]: stage.base_signature(here) for here in below}
    return Item(f"o{node}", top, None, found, inside)


def _moved(stage: Stage, node: int) -> Item:
    return Item(f"o{node}", stage.base_path(node), stage.tree.path(node), stage.base_signature(node))


def _created(stage: Stage, node: int) -> Item:
    inside: dict[str, Signature] | None = {} if stage.tree.attrs(node)["kind"] == "directory" else None
    return Item(f"n{node}", None, stage.tree.path(node), NOWHERE, inside)


def _fresh(stage: Stage, node: int, like: str | None = None) -> Fresh:
    attrs = stage.tree.attrs(node)
    path, body, mtime_ns = stage.tree.path(node), stage.contents.get(node), attrs["mtime_ns"]
    return Fresh(f"n{node}", path, attrs["kind"], attrs["mode"] & 0o7777, body, like, mtime_ns)


def _depth(path: str | None) -> int:
    return path.count("/") if path else 0
