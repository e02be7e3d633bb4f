"""The rollback: a commit's inverted plan, run by the same engine as another transaction (A24, A26).

A redo is the rollback of rollbacks: the commit's plan again. The inodes out of the tree are in the commit's folder, so
the slots are the commit's. Each transaction over a part turns it, so those with an odd number are rolled back. A path
that changed since is a conflict and is never overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from libs.workspace.blob_cache import hashed
from libs.workspace.commit import mtime_of
from libs.workspace.conflicts import conflicts, hard_links, kept_conflicts
from libs.workspace.diff import Diff
from libs.workspace.engine import Fence, Hooks, Step, no_step
from libs.workspace.errors import CommitConflict, HistoryGone, NoSuchCommit, PathConflict
from libs.workspace.exclusion import Excluded, without
from libs.workspace.journal import COMMITTED, MARK, Folder, Intent, Journal
from libs.workspace.lock import lock
from libs.workspace.names import parent
from libs.workspace.plan import Plan, Routes, Times
from libs.workspace.safe_dir import SafeDir
from libs.workspace.transaction import Workplace

NO_DIFF = Diff(0)


@dataclass(frozen=True)
class RolledBack:
    """The result of a rollback or redo. `operations` is 0 and `rollback_id` None if nothing was left to do."""

    commit_id: str
    rollback_id: str | None
    operations: int
    late: tuple[PathConflict, ...] = ()
    warnings: tuple[str, ...] = ()


def rollback(
    root: Path,
    commit_id: str,
    *,
    fence: Fence,
    exclude: Iterable[str] = (),
    request: str | None = None,
    step: Step = no_step,
) -> RolledBack:
    """Restore what a commit changed: bytes, names, modes, mtimes of files and folders, attributes. Repeating it is
    safe: restored parts stay as they are. A repeated `request` returns the result of its first run.

    Raises:
        CommitConflict: files changed since the commit.
        HistoryGone: the history of the commit was pruned.
    """
    with _opened(root, commit_id, fence, step) as (place, store):
        plan, excluded = store.intent().plan, Excluded.of(root.absolute(), exclude)
        done = plan.only(plan.slots - _rolled_back(place.journal, store).slots)
        return _inverted(place, store, done, excluded, request)


def redo(
    root: Path,
    commit_id: str,
    *,
    fence: Fence,
    exclude: Iterable[str] = (),
    request: str | None = None,
    step: Step = no_step,
) -> RolledBack:
    """Make the changes of a commit again that were rolled back. Repeats and raises like `rollback`; a duplicate whose
    twin has other bytes by now is a conflict, too.
    """
    with _opened(root, commit_id, fence, step) as (place, store):
        done, excluded = _rolled_back(place.journal, store), Excluded.of(root.absolute(), exclude)
        return _inverted(place, store, done, excluded, request, twins=store.intent().diff)


@contextmanager
def _opened(root: Path, commit_id: str, fence: Fence, step: Step) -> Iterator[tuple[Workplace, Folder]]:
    with lock(root), Workplace.open(root, Hooks(fence, step)) as place:
        place.refuse_unfinished()
        with _stored(place.journal, commit_id) as store:
            yield place, store


def _inverted(
    place: Workplace, store: Folder, done: Plan, excluded: Excluded, request: str | None, *, twins: Diff = NO_DIFF
) -> RolledBack:
    """Invert what is done, but for what is excluded; `twins` names the duplicates that a redo deletes."""
    for earlier in _later(place.journal, store.id):
        if request is not None and earlier.request == request:
            return RolledBack(store.id, earlier.id, len(earlier.plan), (), earlier.warnings)
    plan = done.inverted()
    wanted = without(plan, excluded) if len(plan) else plan
    # Everything was inverted before: a repeated request changes nothing.
    if not len(wanted):
        return RolledBack(store.id, None, 0)

    def intent() -> Intent:
        found = [*conflicts(wanted, place.safe_dir), *kept_conflicts(wanted, store.safe_dir)]
        # The bytes last, and only if nothing else is in the way: whole files are read.
        if found := found or [*_unequal(place, wanted, Routes(plan), twins)]:
            raise CommitConflict(found)
        place.hooks.step("checked")
        checked = replace(wanted, times=tuple(_times(wanted, done, place.safe_dir)))
        return Intent(own.id, store.id, checked, NO_DIFF, tuple(hard_links(checked, place.safe_dir)), request)

    with place.begin(_next(place.journal, store.id)) as own:
        prepared = place.prepared(own, intent)
        late = place.run(own, store, prepared.plan)
    return RolledBack(store.id, own.id, len(wanted), late, prepared.warnings)


@contextmanager
def _stored(journal: Journal, commit_id: str) -> Iterator[Folder]:
    with journal.find("history", commit_id) as store:
        if store is not None and store.holds(COMMITTED) and MARK not in commit_id:
            yield store
            return
    # The outcome is kept longer than the history: it tells a pruned commit from an unknown one.
    if journal.noted(commit_id) == "committed":
        raise HistoryGone()
    raise NoSuchCommit(f"{commit_id} is not in the history of this folder")


def _rolled_back(journal: Journal, store: Folder) -> Plan:
    """Return what is rolled back now, with the times of folders before and after."""
    slots: frozenset[str] = frozenset()
    times: dict[str | None, Times] = {}
    for intent in _later(journal, store.id):
        if slots.isdisjoint(intent.plan.slots):
            times |= {one.before: one for one in intent.plan.times}
        slots ^= intent.plan.slots
    return replace(store.intent().plan.inverted().only(slots), times=tuple(times.values()))


def _later(journal: Journal, commit_id: str) -> Iterator[Intent]:
    """Yield the rollbacks and redos of a commit, oldest first."""
    for id in sorted(journal.history(f"{commit_id}{MARK}"), key=lambda id: (len(id), id)):
        with journal.find("history", id) as folder:
            if folder is not None and folder.holds(COMMITTED):
                yield folder.intent()


def _next(journal: Journal, commit_id: str) -> str:
    return f"{commit_id}{MARK}{len(journal.history(f'{commit_id}{MARK}')) + 1}"


def _unequal(place: Workplace, wanted: Plan, routes: Routes, diff: Diff) -> Iterator[PathConflict]:
    """Yield duplicates that a redo deletes again, and whose twin no longer has their bytes."""
    gone = {item.before for item in wanted.items if item.after is None}
    hashes: dict[str, str] = {}
    for entry in diff.of("deleted"):
        stays = entry.same_as and routes.backward(entry.same_as)
        if entry.path not in gone or stays is None:
            continue
        for path in (entry.path, stays):
            place.hooks.fence()
            hashes[path] = hashes.get(path) or _hash(place.safe_dir, path)
        if hashes[entry.path] != hashes[stays]:
            yield PathConflict(entry.path, "no longer has the same bytes as the file that stays")


def _hash(safe_dir: SafeDir, path: str) -> str:
    """Return the hash of a file; of one that cannot be read, no hash at all."""
    try:
        with os.fdopen(safe_dir.at(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
            return hashed(stream)
    except OSError:
        return path


def _times(wanted: Plan, done: Plan, safe_dir: SafeDir) -> Iterator[Times]:
    """Restore a folder's old mtime if nothing changed it since, and if everything that was done in it is inverted."""
    slots = wanted.slots
    left = [part for part in done.parts if part.slot not in slots]
    before = {parent(part.before) for part in left if part.before is not None}
    after = {parent(part.after) for part in left if part.after is not None}
    for times in done.times:
        found = mtime_of(safe_dir, times.after)
        whole = times.before not in before and times.after not in after
        unchanged = times.after is None or found == times.mtime_after
        yield Times(times.after, times.before, found, times.mtime_before if whole and unchanged else None)
    # Folders that the commit created are removed, but must get their present mtime if the rollback itself is undone.
    known = {times.after for times in done.times}
    for here, there in Routes(wanted).folders():
        if here not in known:
            yield Times(here, there, mtime_of(safe_dir, here), None)
