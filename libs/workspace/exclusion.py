"""Exclusion: a plan without the parts that touch certain paths, if the rest does not depend on them (A26).

A path covers everything below it. A removed folder stays if something in it stays, and what stays is never overwritten.
If the rest needs a place or a folder that the exclusion keeps, `CannotExclude` names what else to exclude.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from libs.workspace.errors import CannotExclude
from libs.workspace.names import join, lineage
from libs.workspace.plan import Item, Plan, Routes, Swap
from libs.workspace.scope import resolve
from libs.workspace.signature import Signature
from libs.workspace.stage import Stage


@dataclass(frozen=True)
class Excluded:
    """Excluded paths, with everything below them."""

    paths: frozenset[str]

    @classmethod
    def of(cls, root: Path, paths: Iterable[str]) -> Excluded:
        return cls(frozenset("/".join(resolve(root, path)) for path in paths))

    def with_copies(self, stage: Stage) -> Excluded:
        """Add the copies of excluded files that changed after they were staged: the approved diff did not show those
        bytes.
        """
        stale = {path for path in stage.outdated if self.covers(path)}
        copies = stage.copied.items() if stale else ()
        made = {
            stage.tree.path(copy)
            for copy, original in copies
            if copy in stage.tree and not stale.isdisjoint(lineage(stage.base_path(original)))
        }
        return Excluded(self.paths | made)

    def covers(self, path: str) -> bool:
        return "" in self.paths or any(above in self.paths for above in lineage(path))

    def touches(self, part: Item | Swap) -> bool:
        return any(self.covers(path) for path in part.paths)


def without(plan: Plan, excluded: Excluded, also: Collection[str] = ()) -> Plan:
    """Return the rest of a plan, with `times` still to be computed. `also` are paths outside the plan that may be
    excluded.
    """
    if not excluded.paths:
        return plan
    _refuse_unknown(plan, excluded, also)
    # A file both moved and rewritten is two inodes with one number, `o7` and `n7`: they stay or go together.
    numbers = {part.slot[1:] for part in plan.parts if excluded.touches(part)}
    # A file that would be overwritten stays where nothing takes its place.
    places = {item.after for item in plan.items if item.slot[1:] in numbers and item.after is not None}
    numbers |= {item.slot[1:] for item in plan.items if item.after is None and item.before in places}
    dropped = [item for item in plan.items if item.slot[1:] in numbers]
    kept = [item for item in plan.items if item.slot[1:] not in numbers]
    # What stays must keep its folder: both the named paths and those that stay because of them.
    staying = excluded.paths | {item.before for item in dropped if item.before is not None}
    rest, spared = _spare(kept, staying)
    _refuse_dependent(rest, dropped, spared)
    return Plan(tuple(rest), tuple(swap for swap in plan.swaps if swap.slot[1:] not in numbers))


def _refuse_unknown(plan: Plan, excluded: Excluded, also: Collection[str]) -> None:
    """Refuse unknown paths: a misspelt one would exclude nothing, and the file meant to stay would be changed."""
    known = {"", *(above for part in plan.parts for path in part.paths for above in lineage(path))}
    known |= {above for path in also for above in lineage(path)}
    removed = {item.before for item in plan.items if _removed(item)}
    unknown = [path for path in excluded.paths if path not in known and removed.isdisjoint(lineage(path))]
    if unknown:
        raise CannotExclude(f"these are not part of the change: {', '.join(sorted(unknown))}")


def _spare(items: list[Item], staying: frozenset[str]) -> tuple[list[Item], list[Item]]:
    """Split each removed folder that holds something that stays into the parts that go; return all items and these
    folders.
    """
    holding = {above for path in staying for above in lineage(path)[1:]}
    spared = [item for item in items if _removed(item) and item.before in holding]
    slots = {item.slot for item in spared}
    rest = [item for item in items if item.slot not in slots]
    return [*rest, *(part for item in spared for part in _parts(item, staying, holding))], spared


def _removed(item: Item) -> bool:
    return item.after is None and item.inside is not None


def _parts(item: Item, staying: frozenset[str], holding: set[str]) -> Iterator[Item]:
    inside, stays = item.inside or {}, Excluded(staying)
    parts: dict[str, dict[str, Signature]] = {}
    for path in sorted(inside, key=lambda path: path.count("/")):
        whole = next((above for above in lineage(path) if above in parts), None)
        here = join(item.before or "", path)
        if whole is not None:
            parts[whole][path[len(whole) + 1 :]] = inside[path]
        elif here not in holding and not stays.covers(here):
            parts[path] = {}
    for number, (path, below) in enumerate(parts.items()):
        held = below if inside[path].is_directory else None
        yield Item(f"{item.slot}.{number}", join(item.before or "", path), None, inside[path], held)


def _refuse_dependent(rest: list[Item], dropped: list[Item], spared: list[Item]) -> None:
    routes = Routes(Plan(tuple(rest)))
    still = {routes.forward(item.before) for item in (*dropped, *spared) if item.before is not None}
    absent = {item.after for item in dropped if item.after is not None}
    needy = sorted({item.after for item in rest if item.after is not None and _denied(item.after, still, absent)})
    if needy:
        raise CannotExclude(
            f"the excluded paths keep a place or folder that these need; exclude them too: {', '.join(needy)}"
        )


def _denied(path: str, still: set[str | None], absent: set[str]) -> bool:
    return path in still or any(above in absent for above in lineage(path)[1:])
