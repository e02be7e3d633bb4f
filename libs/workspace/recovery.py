"""The recovery: what a killed or replaced process left is finished or undone, never both, and never half (A25).

It asks the transaction's folder alone. Without an intent nothing has happened; with `committed` or `aborted` only
housekeeping is left; with `undoing` it goes on backwards; otherwise the caller decides. It may itself be killed and
run again at any point.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from libs.workspace.beneath import Beneath
from libs.workspace.engine import Engine, Fence, Halted, Step, Watch, no_fence, no_step
from libs.workspace.errors import Clash, HistoryGone
from libs.workspace.journal import ABORTED, COMMITTED, INTENT, UNDOING, Folder, Outcome
from libs.workspace.lock import lock
from libs.workspace.scope import HIDDEN
from libs.workspace.transaction import Workplace

Decision = Literal["undo", "finish"]


@dataclass(frozen=True)
class Recovered:
    """How an interrupted commit or rollback ended. `stuck` could not be put back because someone else has its place;
    it is kept."""

    commit_id: str
    outcome: Outcome
    stuck: tuple[Clash, ...] = ()
    late: tuple[Clash, ...] = ()


def recover(
    root: Path,
    decide: Decision = "undo",
    *,
    fence: Fence = no_fence,
    step: Step = no_step,
    hold: Callable[[Path], AbstractContextManager[None]] = lock,
) -> list[Recovered]:
    """Settle every interrupted transaction of a workspace. Pass `hold=seize` when its former owner is stopped, not
    dead."""
    watch = Watch(fence, step)
    with Beneath.open(root) as door:
        if door.signature(HIDDEN) is None:
            return []
    with hold(root), Workplace.open(root, watch) as place:
        place.journal.sweep()
        return [_settle(place, id, decide) for id in place.journal.pending()]


def _settle(place: Workplace, id: str, decide: Decision) -> Recovered:
    place.watch.fence()
    # A new generation first: from here on the former owner, if it still sleeps somewhere, holds a dead folder.
    with place.journal.renewed("txn", id) as own:
        assert own is not None
        place.watch.step("renewed")
        if not own.holds(INTENT):
            place.journal.discard(own)
            return Recovered(id, place.journal.noted(id))
        intent = own.intent()
        if intent.store == id:
            return _continue(place, Engine(place.door, own, own, intent.plan, place.watch), decide)
        with place.journal.renewed("history", intent.store) as store:
            if store is None:
                raise HistoryGone(f"{id} was interrupted, and the history of {intent.store} is gone")
            place.watch.step("renewed store")
            return _continue(place, Engine(place.door, own, store, intent.plan, place.watch), decide)


def _continue(place: Workplace, engine: Engine, decide: Decision) -> Recovered:
    if engine.own.holds(COMMITTED) or (decide == "finish" and not _undoing(engine.own) and _finished(engine)):
        return Recovered(engine.own.id, "committed", (), place.put_away_done(engine))
    if not engine.own.holds(ABORTED):
        engine.backward()
    place.put_away_undone(engine)
    return Recovered(engine.own.id, "undone", tuple(engine.stuck))


def _undoing(own: Folder) -> bool:
    return own.holds(UNDOING) or own.holds(ABORTED)


def _finished(engine: Engine) -> bool:
    """Forward where that is still possible; where it is not, it has been undone on the way."""
    try:
        engine.forward()
    except Halted:
        return False
    return True
