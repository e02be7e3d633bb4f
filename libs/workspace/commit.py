"""The commit: writes a stage's net change to the disk, all of it or none (architecture.md 10, A25, A26).

Steps: look for conflicts; write new content into slots and sync; write the intent and sync; let the engine rename;
sync; mark the transaction committed; keep the old inodes as history. Before the intent exists there is nothing to
recover but temporary files. From then on the transaction's folder alone determines how to continue.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from libs.errors import Rejected
from libs.workspace.blob_cache import hashed
from libs.workspace.conflicts import conflicts, hard_links, unlike
from libs.workspace.diff import Diff
from libs.workspace.engine import Fence, Hooks, Step, no_step
from libs.workspace.errors import AlreadyCommitted, Changed, CommitConflict, PathConflict, Unfinished, Unsupported
from libs.workspace.exclusion import Excluded, without
from libs.workspace.journal import ABORTED, COMMITTED, MARK, Folder, Intent, Journal, Outcome
from libs.workspace.lock import lock
from libs.workspace.plan import Draft, Plan, Routes, Times, draft, narrowed
from libs.workspace.reserved import HIDDEN
from libs.workspace.safe_dir import UNKNOWN, SafeDir, exchange, place, syncfs
from libs.workspace.stage import Stage
from libs.workspace.staging import Staging
from libs.workspace.transaction import Workplace
from libs.workspace.view import Original


@dataclass(frozen=True)
class Committed:
    """The result of a commit. `operations` counts the files and folders that were created, moved, replaced or removed
    as one. `late` names files that another program still wrote to after they were taken out. `warnings` are for the
    person.
    """

    commit_id: str
    operations: int
    diff: Diff
    late: tuple[PathConflict, ...] = ()
    warnings: tuple[str, ...] = ()


def commit(
    root: Path,
    stage: Stage,
    *,
    commit_id: str,
    fence: Fence,
    exclude: Iterable[str] = (),
    step: Step = no_step,
) -> Committed:
    """Write the stage to the disk, without everything that touches the excluded paths. The stage's tree is outdated
    afterwards: scan again.

    Errors of `fence` pass through, and nothing is touched after them; a recovery by the new owner decides.

    Raises:
        CommitConflict: another program changed files; nothing was overwritten.
        AlreadyCommitted: this commit was made before.
        Unfinished: recover the workspace first.
    """
    hooks = Hooks(fence, step)
    with lock(root), Workplace.open(root, hooks) as place:
        _refuse_repeated(place, commit_id)
        # The path may lead to another folder by now; the inode does not.
        _refuse_foreign(stage, place.safe_dir)
        with place.begin(commit_id) as folder:
            excluded = Excluded.of(stage.tree.root, exclude).with_copies(stage)
            intent = place.prepared(folder, lambda: _intent(place, folder, stage, excluded))
            late = place.run(folder, folder, intent.plan)
    return Committed(commit_id, len(intent.plan), intent.diff, late, intent.warnings)


def outcome(root: Path, commit_id: str) -> Outcome:
    """Return how a commit or rollback ended; "absent" if it never changed anything.

    Raises:
        Unfinished: it was interrupted and must be recovered first.
    """
    with SafeDir.open(root) as safe_dir:
        if safe_dir.signature(HIDDEN) is None:
            return "absent"
        with Journal.open(safe_dir) as journal:
            return _outcome(journal, commit_id)


def committed(root: Path, commit_id: str) -> Committed | None:
    """Return the answer of an earlier commit from its journal, for a repeated request; None if there is none."""
    with (
        SafeDir.open(root) as safe_dir,
        Journal.open(safe_dir) as journal,
        journal.find("history", commit_id) as folder,
    ):
        if folder is None:
            return None
        intent = folder.intent()
        return Committed(commit_id, len(intent.plan), intent.diff, (), intent.warnings)


def without_excluded(stage: Stage, exclude: Iterable[str]) -> Diff:
    """Return what a commit of this stage without these paths does. Changes nothing; raises like `commit`."""
    excluded = Excluded.of(stage.tree.root, exclude).with_copies(stage)
    return narrowed(stage.diff(), without(draft(stage).plan, excluded, also=stage.outdated))


def _outcome(journal: Journal, commit_id: str) -> Outcome:
    # In `txn` too: a process that dies between the mark and the archive has committed.
    if journal.marked("history", commit_id, COMMITTED) or journal.marked("txn", commit_id, COMMITTED):
        return "committed"
    if journal.marked("txn", commit_id, ABORTED):
        return "undone"
    if commit_id in journal.pending():
        raise Unfinished(f"{commit_id} was interrupted and must be recovered first")
    return journal.noted(commit_id)


def _intent(place: Workplace, folder: Folder, stage: Stage, excluded: Excluded) -> Intent:
    """Run all steps that can be refused or can fail before the tree is touched; return the intent."""
    sketch = draft(stage, trading=_trades(folder))
    plan = without(sketch.plan, excluded, also=stage.outdated)
    _refuse_conflicts(stage, replace(sketch, plan=plan), place.safe_dir, excluded)
    # Last of the checks, since it reads whole files: a stat alone cannot show that two files are still the same.
    if found := list(_unequal(stage, excluded, place.hooks)):
        raise CommitConflict(found)
    place.hooks.step("checked")
    plan = Staging(stage, place.safe_dir, folder, place.hooks).write(replace(sketch, plan=plan))
    # One sync of the file system is cheaper than one for each of a thousand new files.
    syncfs(folder.fd)
    place.hooks.step("staged")
    # Last, since staging may take minutes: an undo must not reset the mtime of a folder that changed meanwhile.
    plan = replace(plan, times=_times(plan, place.safe_dir))
    return Intent(folder.id, folder.id, plan, narrowed(stage.diff(), plan), tuple(hard_links(plan, place.safe_dir)))


def _refuse_repeated(place: Workplace, commit_id: str) -> None:
    # Such an id would be counted among another commit's rollbacks.
    if MARK in commit_id:
        raise Rejected(f"{commit_id!r} is the id of a rollback and not of a commit")
    place.refuse_unfinished()
    if _outcome(place.journal, commit_id) == "committed":
        raise AlreadyCommitted(f"{commit_id} was committed before")


def _refuse_foreign(stage: Stage, safe_dir: SafeDir) -> None:
    if stage.tree.attrs(0)["ino"] != os.fstat(safe_dir.fd).st_ino:
        raise Rejected("the stage belongs to another folder; scan this folder again")


def _refuse_conflicts(stage: Stage, sketch: Draft, safe_dir: SafeDir, excluded: Excluded) -> None:
    stale = [PathConflict(path, reason) for path, reason in sorted(stage.outdated.items()) if not excluded.covers(path)]
    if found := [*stale, *conflicts(sketch.plan, safe_dir), *_changed_sources(stage, sketch, safe_dir)]:
        raise CommitConflict(found)


def _unequal(stage: Stage, excluded: Excluded, hooks: Hooks) -> Iterator[PathConflict]:
    """Read duplicates that will be deleted again; yield those that no longer have the same bytes as the file that
    stays.
    """
    hashes: dict[int, str] = {}
    for node, stays in stage.twins.items():
        path = stage.base_path(node) if node < stage.tree.born else stage.tree.path(node)
        if node in stage.tree or excluded.covers(path):
            continue
        try:
            for one in (node, stays):
                # Hashing a large file takes long: the lease may be lost meanwhile.
                hooks.fence()
                hashes[one] = hashes.get(one) or _hash(stage, one)
        except Changed as error:
            yield PathConflict(path, f"cannot be compared again: {error}")
            continue
        if hashes[node] != hashes[stays]:
            yield PathConflict(path, "no longer has the same bytes as the file that stays")


def _hash(stage: Stage, node: int) -> str:
    with stage.opened(node) as stream:
        return hashed(stream)


def _changed_sources(stage: Stage, sketch: Draft, safe_dir: SafeDir) -> Iterator[PathConflict]:
    """Yield copies whose original has changed; each is excluded by its own path."""
    for fresh in sketch.wanted:
        if isinstance(fresh.body, Original):
            source, expected = stage.base_path(fresh.body.node), stage.base_signature(fresh.body.node)
            if conflict := unlike(safe_dir, source, expected):
                yield PathConflict(fresh.path, f"its original {source} {conflict.reason}")


def _times(plan: Plan, safe_dir: SafeDir) -> tuple[Times, ...]:
    """Set a changed folder's mtime to the time of the commit, so that a rollback can tell whether it changed since."""
    now = time.time_ns()
    return tuple(Times(before, after, mtime_of(safe_dir, before), now) for before, after in Routes(plan).folders())


def mtime_of(safe_dir: SafeDir, path: str | None) -> int | None:
    """Return a folder's mtime; None if it does not exist or cannot be reached."""
    try:
        found = safe_dir.signature(path) if path is not None else None
    except OSError:
        return None
    return found.mtime_ns if found else None


def _trades(folder: Folder) -> bool:
    """Return whether this file system can exchange two names, tried on two markers.

    Raises:
        Unsupported: it ignores RENAME_NOREPLACE, without which a commit could replace another program's file.
    """
    try:
        place(folder.fd, f".{COMMITTED}", folder.fd, f".{ABORTED}")
    except FileExistsError:
        return _exchanges(folder)
    raise Unsupported("this file system ignores RENAME_NOREPLACE")


def _exchanges(folder: Folder) -> bool:
    try:
        exchange(folder.fd, f".{COMMITTED}", folder.fd, f".{ABORTED}")
    except OSError as error:
        if error.errno in UNKNOWN:
            return False
        raise
    return True
