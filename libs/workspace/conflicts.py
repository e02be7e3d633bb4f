"""Conflicts: whether what a plan rests on is still as it was, asked of the whole plan before its first operation
(A26)."""

from __future__ import annotations

import errno
import stat
from collections.abc import Iterator, Mapping

from libs.workspace import names
from libs.workspace.beneath import Beneath
from libs.workspace.errors import Clash
from libs.workspace.names import join, parent
from libs.workspace.plan import Item, Plan, Routes
from libs.workspace.signature import Signature

CHANGED, GONE, NEW, TAKEN = "was changed", "is gone", "is new", "exists already"


def conflicts(plan: Plan, door: Beneath) -> list[Clash]:
    """Everything that someone else changed, in order of path; empty where the plan may begin."""
    routes = Routes(plan)
    found = [clash for item in plan.items for clash in _of_item(item, door, routes)]
    found += [clash for swap in plan.swaps if (clash := unlike(door, swap.before, swap.old))]
    return sorted(found, key=lambda clash: clash.path)


def kept_conflicts(plan: Plan, store: Beneath) -> list[Clash]:
    """The same for what a rollback would put back: a late writer may still have held a file that was taken out."""
    restored = [item for item in plan.items if item.before is None]
    found = [Clash(item.after or "", reason) for item in restored if (reason := disturbed(store, item))]
    return found + [
        Clash(swap.after, CHANGED) for swap in plan.swaps if not swap.new.matches(store.signature(swap.slot))
    ]


def disturbed(store: Beneath, item: Item) -> str | None:
    """What happened to something in its slot."""
    if not item.signature.matches(store.signature(item.slot)):
        return "was written to after it was taken out"
    if item.inside is None:
        return None
    try:
        difference = next(differences(item.inside, store.listing(item.slot)), None)
    except OSError as error:
        return _strange(error)
    return f"{difference[0]} in it {difference[1]}" if difference else None


def differences(expected: Mapping[str, Signature], found: Mapping[str, Signature]) -> Iterator[tuple[str, str]]:
    """Relative paths that are not as they were, and how."""
    for path, signature in expected.items():
        if path not in found:
            yield path, GONE
        elif not signature.matches(found[path]):
            yield path, CHANGED
    yield from ((path, NEW) for path in found if path not in expected)


def hard_links(plan: Plan, door: Beneath) -> Iterator[str]:
    """Files whose other names will not see the new content, because the path gets a new inode."""
    for swap in plan.swaps:
        if door.stat(swap.before).st_nlink > 1:
            yield f"{swap.before} has other names (hard links); they keep the old content"


def _of_item(item: Item, door: Beneath, routes: Routes) -> Iterator[Clash]:
    if item.before is not None:
        clash = unlike(door, item.before, item.signature)
        if clash:
            yield clash
        elif item.after is None and item.inside is not None:
            yield from _of_folder(item, door, routes)
    if item.after is not None and (clash := _of_target(item.after, door, routes)):
        yield clash


def unlike(door: Beneath, path: str, expected: Signature) -> Clash | None:
    """What is wrong with a path, if anything."""
    try:
        found = door.signature(path)
    except OSError as error:
        return Clash(path, _strange(error))
    if found is None:
        return Clash(path, GONE)
    return None if expected.matches(found) else Clash(path, CHANGED)


def _of_folder(item: Item, door: Beneath, routes: Routes) -> Iterator[Clash]:
    """A folder that goes whole must hold what was seen in it, apart from what moves out first and is looked at on
    its own."""
    top = item.before or ""
    try:
        found = door.listing(top, skip=routes.leaving.__contains__)
    except OSError as error:
        yield Clash(top, _strange(error))
        return
    yield from (Clash(join(top, path), reason) for path, reason in differences(item.inside or {}, found))


def _of_target(path: str, door: Beneath, routes: Routes) -> Clash | None:
    """The place must be free, or be left by something of this plan. It is looked up where its folder lies now."""
    folder = routes.backward(parent(path)) if parent(path) else ""
    if folder is None:
        return None
    here = join(folder, path.rpartition("/")[2])
    if here in routes.leaving:
        return None
    try:
        if folder and not stat.S_ISDIR(door.stat(folder).st_mode):
            return Clash(path, f"its folder {CHANGED}")
        return Clash(path, TAKEN) if door.signature(here) else None
    except FileNotFoundError:
        return Clash(path, f"its folder {names.shown(folder)} {GONE}")
    except OSError as error:
        return Clash(path, _strange(error))


def _strange(error: OSError) -> str:
    match error.errno:
        case errno.ELOOP:
            return "is reached through a symbolic link now"
        case errno.EXDEV:
            return "is on another mount now"
        case _:
            return f"cannot be looked at: {error.strerror}"
