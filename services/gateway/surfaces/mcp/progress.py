"""A turn's events in a few words, for the progress of a call."""

from __future__ import annotations

from libs.events import (
    ApprovalClosed,
    ApprovalRequested,
    ClarificationRequested,
    PlanProposed,
    StepChanged,
    TurnQueued,
    TurnStarted,
    WorkspaceChanged,
)
from services.gateway.sessions.store import Numbered


def words_of(item: Numbered, session_id: str) -> str:
    """Return what an event means for a person who waits; empty for what says nothing to them."""
    match item.event:
        case TurnQueued(position=position):
            return f"waiting for {position} earlier turns"
        case TurnStarted():
            return "started"
        case PlanProposed(plan=plan) if plan.steps:
            return f"plan: {'; '.join(step.description for step in plan.steps[:10])}"[:500]
        case StepChanged() as step:
            said = step.summary or step.error or ""
            return f"{step.ordinal}. {step.description}: {step.state} {said}".strip()[:500]
        case ApprovalRequested(title=asked) | ClarificationRequested(question=asked):
            return f"asks: {asked}"[:500]
        case ApprovalClosed(outcome=outcome):
            return outcome
        case WorkspaceChanged(change=change):
            return f"files {change}"
        case _:
            return f"turn {item.turn_id} of session {session_id}" if item.type == "message.accepted" else ""
