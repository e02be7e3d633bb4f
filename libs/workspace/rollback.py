"""The rollback: a commit's inverted plan, run by the same engine as another transaction (A24, A26).

The old inodes are still in the commit's folder, so the slots are the commit's. Parts that an earlier, partial rollback
restored are not rolled back again. A path that changed since is a conflict and is never overwritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

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


@dataclass(frozen=True)
class RolledBack:
    """The result of a rollback. `operations` is 0 and `rollback_id` None if the whole commit was rolled back before."""

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
    hooks = Hooks(fence, step)
    with lock(root), Workplace.open(root, hooks) as place:
        place.refuse_unfinished()
        if request is not None and (done := _already(place.journal, commit_id, request)) is not None:
            return done
        with _stored(place.journal, commit_id) as store:
            original = store.intent().plan
            plan = _remaining(place.journal, commit_id, original).inverted()
            wanted = without(plan, Excluded.of(root.absolute(), exclude)) if len(plan) else plan
            # Everything was rolled back before: a repeated request changes nothing.
            if not len(wanted):
                return RolledBack(commit_id, None, 0)
            with place.begin(_next(place.journal, commit_id)) as own:
                intent = place.prepared(own, lambda: _intent(place, own, store, wanted, original, request))
                late = place.run(own, store, intent.plan)
            return RolledBack(commit_id, own.id, len(wanted), late, intent.warnings)


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


def _remaining(journal: Journal, commit_id: str, plan: Plan) -> Plan:
    """Return the part of the plan that earlier rollbacks left in effect."""
    slots = set(plan.slots)
    for id in journal.history(f"{commit_id}{MARK}"):
        with journal.find("history", id) as folder:
            if folder is not None and folder.holds(COMMITTED):
                slots -= folder.intent().plan.slots
    return plan.only(slots)


def _already(journal: Journal, commit_id: str, request: str) -> RolledBack | None:
    for id in journal.history(f"{commit_id}{MARK}"):
        with journal.find("history", id) as folder:
            if folder is not None and folder.holds(COMMITTED) and (intent := folder.intent()).request == request:
                return RolledBack(commit_id, id, len(intent.plan), (), intent.warnings)
    return None


def _next(journal: Journal, commit_id: str) -> str:
    return f"{commit_id}{MARK}{len(journal.history(f'{commit_id}{MARK}')) + 1}"


def _intent(place: Workplace, own: Folder, store: Folder, wanted: Plan, original: Plan, request: str | None) -> Intent:
    if found := [*conflicts(wanted, place.safe_dir), *kept_conflicts(wanted, store.safe_dir)]:
        raise CommitConflict(found)
    place.hooks.step("checked")
    plan = replace(wanted, times=tuple(_times(wanted, original, place.safe_dir)))
    return Intent(own.id, store.id, plan, Diff(0), tuple(hard_links(plan, place.safe_dir)), request)


def _times(wanted: Plan, original: Plan, safe_dir: SafeDir) -> Iterator[Times]:
    """Restore a folder's old mtime if nothing changed it since, and if everything that the commit did in it is
    restored.
    """
    slots = wanted.slots
    left = [part for part in original.parts if part.slot not in slots]
    before = {parent(part.before) for part in left if part.before is not None}
    after = {parent(part.after) for part in left if part.after is not None}
    for times in original.times:
        found = mtime_of(safe_dir, times.after)
        whole = times.before not in before and times.after not in after
        unchanged = times.after is None or found == times.mtime_after
        yield Times(times.after, times.before, found, times.mtime_before if whole and unchanged else None)
    # Folders that the commit created are removed, but must get their present mtime if the rollback itself is undone.
    known = {times.after for times in original.times}
    for here, there in Routes(wanted).folders():
        if here not in known:
            yield Times(here, there, mtime_of(safe_dir, here), None)
