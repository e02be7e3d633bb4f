"""Recovery: a transaction that a killed or replaced process left is finished or undone, never both or in part (A25).

It reads the transaction's folder alone. Without an intent nothing has happened. With `committed` or `aborted` only
housekeeping is left. With `undoing` it continues to undo; otherwise the caller decides. Recovery may itself be killed
and run again at any point.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from libs.workspace.engine import CommitAborted, Engine, Fence, Hooks, Step, no_fence, no_step
from libs.workspace.errors import HistoryGone, PathConflict
from libs.workspace.journal import ABORTED, COMMITTED, INTENT, UNDOING, Folder, Outcome
from libs.workspace.lock import lock
from libs.workspace.reserved import HIDDEN
from libs.workspace.safe_dir import SafeDir
from libs.workspace.transaction import Workplace

Decision = Literal["undo", "finish"]


@dataclass(frozen=True)
class Recovered:
    """The outcome of recovery. `unrestored` lists paths whose place is taken; their old content is kept."""

    commit_id: str
    outcome: Outcome
    unrestored: tuple[PathConflict, ...] = ()
    late: tuple[PathConflict, ...] = ()


def recover(
    root: Path,
    decide: Decision = "undo",
    *,
    fence: Fence = no_fence,
    step: Step = no_step,
    hold: Callable[[Path], AbstractContextManager[None]] = lock,
) -> list[Recovered]:
    """Settle every interrupted transaction of a workspace, or none if one raises Forged.

    Pass `hold=seize` if the former owner is paused and not dead.
    """
    hooks = Hooks(fence, step)
    with SafeDir.open(root) as safe_dir:
        if safe_dir.signature(HIDDEN) is None:
            return []
    with hold(root), Workplace.open(root, hooks) as place:
        # Read every intent before anything is touched: one that is forged stops the whole recovery.
        for id in place.journal.pending():
            with place.journal.find("txn", id) as folder:
                if folder is not None and folder.holds(INTENT):
                    folder.intent()
        place.journal.sweep()
        return [_settle(place, id, decide) for id in place.journal.pending()]


def _settle(place: Workplace, id: str, decide: Decision) -> Recovered:
    place.hooks.fence()
    # Create a new generation first: from here on the former owner, if it is only paused, holds a dead folder.
    with place.journal.renewed("txn", id) as own:
        assert own is not None
        place.hooks.step("renewed")
        # No intent, so nothing in the tree was touched: only temporary files are left.
        if not own.holds(INTENT):
            place.journal.discard(own)
            return Recovered(id, place.journal.noted(id))
        intent = own.intent()
        if intent.store == id:
            return _continue(place, Engine(place.safe_dir, own, own, intent.plan, place.hooks), decide)
        with place.journal.renewed("history", intent.store) as store:
            if store is None:
                raise HistoryGone(f"{id} was interrupted, and the history of {intent.store} is gone")
            place.hooks.step("renewed store")
            return _continue(place, Engine(place.safe_dir, own, store, intent.plan, place.hooks), decide)


def _continue(place: Workplace, engine: Engine, decide: Decision) -> Recovered:
    # `committed` decides, whatever the caller asks for: the commit may have been reported already.
    if engine.own.holds(COMMITTED) or (decide == "finish" and not _undoing(engine.own) and _finished(engine)):
        return Recovered(engine.own.id, "committed", (), place.archive_committed(engine))
    if not engine.own.holds(ABORTED):
        engine.backward()
    place.archive_undone(engine)
    return Recovered(engine.own.id, "undone", tuple(engine.unrestored))


def _undoing(own: Folder) -> bool:
    return own.holds(UNDOING) or own.holds(ABORTED)


def _finished(engine: Engine) -> bool:
    """Return True if the plan could still be applied; otherwise it was undone."""
    try:
        engine.forward()
    except CommitAborted:
        return False
    return True
