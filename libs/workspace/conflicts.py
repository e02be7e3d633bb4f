"""Conflicts: checks, before a plan's first operation, that everything the plan relies on is unchanged (A26)."""

from __future__ import annotations

import errno
import stat
from collections.abc import Iterator, Mapping

from libs.workspace import names
from libs.workspace.errors import PathConflict
from libs.workspace.names import join, parent
from libs.workspace.plan import Item, Plan, Routes, moved
from libs.workspace.safe_dir import SafeDir
from libs.workspace.signature import Signature

CHANGED, GONE, NEW, TAKEN = "was changed", "is gone", "is new", "exists already"


def conflicts(plan: Plan, safe_dir: SafeDir) -> list[PathConflict]:
    """Return all changes by others, ordered by path; empty if the plan may start."""
    routes = Routes(plan)
    found = [conflict for item in plan.items for conflict in _of_item(item, safe_dir, routes)]
    found += [conflict for swap in plan.swaps if (conflict := unlike(safe_dir, swap.before, swap.old))]
    return sorted(found, key=lambda conflict: conflict.path)


def kept_conflicts(plan: Plan, store: SafeDir) -> list[PathConflict]:
    """Return conflicts in what a rollback would restore: a program may have written to a file taken out."""
    restored = [item for item in plan.items if item.before is None]
    found = [PathConflict(item.after or "", reason) for item in restored if (reason := disturbed(store, item))]
    return found + [
        PathConflict(swap.after, CHANGED) for swap in plan.swaps if not swap.new.matches(store.signature(swap.slot))
    ]


def disturbed(store: SafeDir, item: Item) -> str | None:
    """Return how something in its slot was changed; None if it is unchanged."""
    if not item.signature.moved().matches(store.signature(item.slot)):
        return "was written to after it was taken out"
    if item.inside is None:
        return None
    try:
        difference = next(differences(moved(item.inside), store.listing(item.slot)), None)
    except OSError as error:
        return _strange(error)
    return f"{difference[0]} in it {difference[1]}" if difference else None


def differences(expected: Mapping[str, Signature], found: Mapping[str, Signature]) -> Iterator[tuple[str, str]]:
    """Yield the relative paths that differ, with the kind of difference."""
    for path, signature in expected.items():
        if path not in found:
            yield path, GONE
        elif not signature.matches(found[path]):
            yield path, CHANGED
    yield from ((path, NEW) for path in found if path not in expected)


def hard_links(plan: Plan, safe_dir: SafeDir) -> Iterator[str]:
    """Warn of files whose other names keep the old content, because the path gets a new inode."""
    for swap in plan.swaps:
        if safe_dir.stat(swap.before).st_nlink > 1:
            yield f"{swap.before} has other names (hard links); they keep the old content"


def _of_item(item: Item, safe_dir: SafeDir, routes: Routes) -> Iterator[PathConflict]:
    if item.before is not None:
        conflict = unlike(safe_dir, item.before, item.signature)
        if conflict:
            yield conflict
        elif item.after is None and item.inside is not None:
            yield from _of_folder(item, safe_dir, routes)
    if item.after is not None and (conflict := _of_target(item.after, safe_dir, routes)):
        yield conflict


def unlike(safe_dir: SafeDir, path: str, expected: Signature) -> PathConflict | None:
    """Return how a path differs from its signature; None if it does not."""
    try:
        found = safe_dir.signature(path)
    except OSError as error:
        return PathConflict(path, _strange(error))
    if found is None:
        return PathConflict(path, GONE)
    return None if expected.matches(found) else PathConflict(path, CHANGED)


def _of_folder(item: Item, safe_dir: SafeDir, routes: Routes) -> Iterator[PathConflict]:
    """Check that a folder that is removed whole still holds what the scan saw. Entries that move out first are checked
    on their own.
    """
    top = item.before or ""
    try:
        found = safe_dir.listing(top, skip=routes.leaving.__contains__)
    except OSError as error:
        yield PathConflict(top, _strange(error))
        return
    yield from (PathConflict(join(top, path), reason) for path, reason in differences(item.inside or {}, found))


def _of_target(path: str, safe_dir: SafeDir, routes: Routes) -> PathConflict | None:
    """Check that the target is free, or that the plan itself vacates it. It is looked up where its folder is now."""
    folder = routes.backward(parent(path)) if parent(path) else ""
    if folder is None:
        return None
    here = join(folder, path.rpartition("/")[2])
    if here in routes.leaving:
        return None
    try:
        if folder and not stat.S_ISDIR(safe_dir.stat(folder).st_mode):
            return PathConflict(path, f"its folder {CHANGED}")
        return PathConflict(path, TAKEN) if safe_dir.signature(here) else None
    except FileNotFoundError:
        return PathConflict(path, f"its folder {names.shown(folder)} {GONE}")
    except OSError as error:
        return PathConflict(path, _strange(error))


def _strange(error: OSError) -> str:
    match error.errno:
        case errno.ELOOP:
            return "is reached through a symbolic link now"
        case errno.EXDEV:
            return "is on another mount now"
        case _:
            return f"cannot be read: {error.strerror}"
