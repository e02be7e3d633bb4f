"""A turn as its events tell it: the one fold behind what each protocol shows of a turn.

The view is to the surfaces what `session/reduce.ts` is to the web application. An event type without a case below fails
the type check; an event of a newer release changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import assert_never

from libs.events import (
    ApprovalClosed,
    ApprovalRequested,
    Args,
    ClarificationReplied,
    ClarificationRequested,
    MemoriesRecalled,
    MessageCompleted,
    Plan,
    PlanProposed,
    StepChanged,
    TurnAnalysed,
    TurnDegraded,
    TurnEnded,
    TurnQueued,
    TurnStarted,
    Usage,
    WorkspaceChanged,
)
from services.gateway.multimodal.jobs import asset_of
from services.gateway.multimodal.models import JobAsset
from services.gateway.sessions import outcomes
from services.gateway.sessions.store import Numbered


@dataclass(frozen=True, slots=True)
class TurnView:
    """The state of a turn after event `seq` of its session."""

    seq: int = 0
    state: str = "running"
    plan: Plan | None = None
    steps: Mapping[int, StepChanged] = field(default_factory=dict)
    """The last change of each step of the plan, by its ordinal."""
    step: StepChanged | None = None
    """The last change of any step."""
    made: Mapping[str, JobAsset] = field(default_factory=dict)
    """The assets that the steps of all its plans made, by id."""
    usage: Usage | None = None
    """The answer's; None before it."""

    @classmethod
    def of(cls, events: Iterable[Numbered]) -> TurnView:
        """Return the view after these events of one turn."""
        return reduce(fold, events, cls())

    def args(self, step_id: str) -> Args:
        """Return the planned arguments of a step."""
        steps = self.plan.steps if self.plan is not None else ()
        return next((step.args for step in steps if step.step_id == step_id), {})


def fold(view: TurnView, item: Numbered) -> TurnView:
    """Return the view after one more event."""
    view = replace(view, seq=item.seq)
    match item.event:
        case TurnQueued():
            return replace(view, state="queued")
        case TurnStarted():
            return replace(view, state="running")
        case PlanProposed(plan=plan):
            return replace(view, plan=plan, steps={})
        case StepChanged() as step:
            view = replace(view, step=step, steps={**view.steps, step.ordinal: step})
            made = asset_of(step)
            return view if made is None else replace(view, made={**view.made, made.asset_id: made})
        case ApprovalRequested():
            return replace(view, state="awaiting_approval")
        case ClarificationRequested():
            return replace(view, state="awaiting_clarification")
        case ApprovalClosed(outcome=outcome):
            return view if outcome == outcomes.STALE else replace(view, state="running")
        case ClarificationReplied(instead=instead):
            return view if instead else replace(view, state="running")
        case MessageCompleted(usage=usage):
            return replace(view, usage=usage)
        case TurnEnded(state=state):
            return replace(view, state=state)
        case TurnDegraded() | TurnAnalysed() | MemoriesRecalled() | WorkspaceChanged() | None:
            return view
        case event:
            assert_never(event)
