"""Reasons why a completed turn changed nothing. Clients offer what follows, and the next request may refer to them."""

from __future__ import annotations

from collections.abc import Sequence

from libs.events import DENIED, MORE_BELOW, Json, PlanApproved, StepState, reasons, refused
from services.conversation_worker.domain import subfolder_hints
from services.conversation_worker.turn.state import CommitResult, StepRun

UNDO_WANTED = "UNDO_WANTED"
"""The person wants a rollback, which their client offers."""
DECLINED = "DECLINED"
"""No tool can do what was asked for, or it is refused; the answer says why."""


def of(commit_result: CommitResult | None, steps: Sequence[StepRun]) -> str | None:
    """Return the code of the reason why nothing was changed; None if something was, or if the turn only read."""
    if commit_result is not None:
        return DENIED if not (commit_result.operations or commit_result.left_out) else None
    if any(refused(run.state, run.error) for run in steps):
        return DENIED
    if failed := next((code for run in steps if run.error and (code := reasons.code(run.error))), None):
        return failed
    done = all(run.state is StepState.SUCCEEDED for run in steps)
    return MORE_BELOW if done and subfolder_hints.only(shown(steps)) else None


def of_answer(plan: PlanApproved) -> str | None:
    """Return the code of an answer that needed no plan."""
    if plan.undo:
        return UNDO_WANTED
    return DECLINED if plan.declined else None


def shown(steps: Sequence[StepRun]) -> list[Json]:
    """Return the result of each step that is small enough to be inline."""
    return [run.data.json_ for run in steps if run.data is not None]
