"""The commit: a stage's net change carried to the disk, all of it or none (DESIGN §9, A25, A26).

Look for conflicts; write what is new into slots and sync; write the intent and sync; let the engine move names;
sync; mark it committed; keep the old inodes as history. Until the intent stands there is nothing to recover but
litter, and from then on the transaction's folder alone says how it goes on.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from libs.errors import Rejected
from libs.workspace.beneath import Beneath, exchange, place, syncfs
from libs.workspace.conflicts import conflicts, hard_links, unlike
from libs.workspace.diff import Diff
from libs.workspace.engine import Fence, Step, Watch, no_step
from libs.workspace.errors import AlreadyCommitted, Clash, CommitConflict, Unfinished, Unsupported
from libs.workspace.exclusion import Excluded, without
from libs.workspace.journal import ABORTED, COMMITTED, MARK, Folder, Intent, Journal, Outcome
from libs.workspace.lock import lock
from libs.workspace.plan import Draft, Plan, Routes, Times, draft, narrowed
from libs.workspace.scope import HIDDEN
from libs.workspace.stage import Stage
from libs.workspace.staging import Staging
from libs.workspace.transaction import Workplace
from libs.workspace.view import Blobs, Original


@dataclass(frozen=True)
class Committed:
    """What a commit did. `operations` counts files and folders that were made, moved, replaced or removed as one;
    `late` names files that someone still wrote to after they were taken out; `warnings` says what a person should
    know."""

    commit_id: str
    operations: int
    diff: Diff
    late: tuple[Clash, ...] = ()
    warnings: tuple[str, ...] = ()


def commit(
    root: Path,
    stage: Stage,
    *,
    commit_id: str,
    fence: Fence,
    exclude: Iterable[str] = (),
    blobs: Blobs | None = None,
    step: Step = no_step,
) -> Committed:
    """Carry the stage to the disk, without what touches the excluded paths. The stage's tree is of the past then:
    scan again.

    CommitConflict: someone changed files, nothing was overwritten. AlreadyCommitted: it was done before. Unfinished:
    recover first. Whatever `fence` raises passes through, with nothing touched after it; a recovery by the new owner
    decides.
    """
    watch = Watch(fence, step)
    with lock(root), Workplace.open(root, watch) as place:
        _refuse_repeated(place, commit_id)
        _refuse_foreign(stage, place.door)
        with place.journal.begin(commit_id) as folder:
            excluded, source = Excluded.of(stage.tree.root, exclude).with_copies(stage), blobs or stage.blobs
            intent = place.prepared(folder, lambda: _intent(place, folder, stage, excluded, source))
            late = place.run(folder, folder, intent.plan)
    return Committed(commit_id, len(intent.plan), intent.diff, late, intent.warnings)


def outcome(root: Path, commit_id: str) -> Outcome:
    """How a commit or rollback ended; "absent" if it never changed anything. Unfinished, if it must be recovered
    first."""
    with Beneath.open(root) as door:
        if door.signature(HIDDEN) is None:
            return "absent"
        with Journal.open(door) as journal:
            return _outcome(journal, commit_id)


def committed(root: Path, commit_id: str) -> Committed | None:
    """The answer that a commit gave, from its journal, for a request that comes again; None when there is none to
    give."""
    with Beneath.open(root) as door, Journal.open(door) as journal, journal.find("history", commit_id) as folder:
        if folder is None:
            return None
        intent = folder.intent()
        return Committed(commit_id, len(intent.plan), intent.diff, (), intent.warnings)


def _outcome(journal: Journal, commit_id: str) -> Outcome:
    if journal.marked("history", commit_id, COMMITTED) or journal.marked("txn", commit_id, COMMITTED):
        return "committed"
    if journal.marked("txn", commit_id, ABORTED):
        return "undone"
    if commit_id in journal.pending():
        raise Unfinished(f"{commit_id} was interrupted and must be recovered first")
    return journal.noted(commit_id)


def _intent(place: Workplace, folder: Folder, stage: Stage, excluded: Excluded, blobs: Blobs) -> Intent:
    """Everything that can be refused or can fail without having touched the tree."""
    sketch = draft(stage, trading=_trades(folder))
    plan = without(sketch.plan, excluded, also=stage.outdated)
    _refuse_conflicts(stage, replace(sketch, plan=plan), place.door, excluded)
    place.watch.step("checked")
    plan = Staging(stage, place.door, folder, blobs, place.watch).write(replace(sketch, plan=plan))
    syncfs(folder.fd)
    place.watch.step("staged")
    plan = replace(plan, times=_times(plan, place.door))
    return Intent(folder.id, folder.id, plan, narrowed(stage.diff(), plan), tuple(hard_links(plan, place.door)))


def _refuse_repeated(place: Workplace, commit_id: str) -> None:
    if MARK in commit_id:
        raise Rejected(f"{commit_id!r} names a rollback")
    place.refuse_unfinished()
    if _outcome(place.journal, commit_id) == "committed":
        raise AlreadyCommitted(f"{commit_id} was committed before")


def _refuse_foreign(stage: Stage, door: Beneath) -> None:
    if stage.tree.attrs(0)["ino"] != os.fstat(door.fd).st_ino:
        raise Rejected("the stage is of another folder")


def _refuse_conflicts(stage: Stage, sketch: Draft, door: Beneath, excluded: Excluded) -> None:
    stale = [Clash(path, reason) for path, reason in sorted(stage.outdated.items()) if not excluded.covers(path)]
    if found := [*stale, *conflicts(sketch.plan, door), *_changed_sources(stage, sketch, door)]:
        raise CommitConflict(found)


def _changed_sources(stage: Stage, sketch: Draft, door: Beneath) -> Iterator[Clash]:
    """Copies whose original is not what it was; they are left out by their own path."""
    for fresh in sketch.wanted:
        if isinstance(fresh.body, Original):
            source, expected = stage.base_path(fresh.body.node), stage.base_signature(fresh.body.node)
            if clash := unlike(door, source, expected):
                yield Clash(fresh.path, f"its original {source} {clash.reason}")


def _times(plan: Plan, door: Beneath) -> tuple[Times, ...]:
    """A changed folder's mtime becomes the moment of the commit, so that a rollback can tell whether it was changed
    since."""
    now = time.time_ns()
    return tuple(Times(before, after, mtime_of(door, before), now) for before, after in Routes(plan).folders())


def mtime_of(door: Beneath, path: str | None) -> int | None:
    """None where the folder is not there, or not to be reached."""
    try:
        found = door.signature(path) if path is not None else None
    except OSError:
        return None
    return found.mtime_ns if found else None


def _trades(folder: Folder) -> bool:
    """Whether this file system can exchange two names, tried on two markers. That it refuses to replace is a must."""
    try:
        place(folder.fd, f".{COMMITTED}", folder.fd, f".{ABORTED}")
    except FileExistsError:
        return _exchanges(folder)
    except OSError as error:
        raise Unsupported(f"this file system cannot rename without replacing: {error.strerror}") from error
    raise Unsupported("this file system replaces files when told not to")


def _exchanges(folder: Folder) -> bool:
    try:
        exchange(folder.fd, f".{COMMITTED}", folder.fd, f".{ABORTED}")
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            return False
        raise
    return True
