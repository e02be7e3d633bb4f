"""conversation.outbound: what viewers see of a session, projected by the gateway as one numbered sequence."""

from __future__ import annotations

from pydantic import Field

from libs.events.base import Event, event
from libs.events.topics import OUTBOUND
from libs.events.values import Args, Asset, Candidate, Diff, Json, Plan, Review, StepState, Usage


@event("suma.turn.queued.v1", OUTBOUND)
class TurnQueued(Event):
    """A message waits for the turns before it; `position` 1 is next."""

    turn_id: str
    message_id: str
    position: int


@event("suma.turn.degraded.v1", OUTBOUND)
class TurnDegraded(Event):
    """The turn goes on without something that it would otherwise have had, such as its memories."""

    turn_id: str
    missing: str
    """`memory`; there may be more."""
    detail: str = ""


@event("suma.turn.started.v1", OUTBOUND)
class TurnStarted(Event):
    """A message, or a rollback without one, has become the session's turn."""

    turn_id: str
    message_id: str | None
    text: str


@event("suma.turn.analysed.v1", OUTBOUND)
class TurnAnalysed(Event):
    """What the analyser found in the message (S3-09)."""

    turn_id: str
    intent: str
    sentiment: str
    tags: tuple[str, ...] = ()


@event("suma.turn.ended.v1", OUTBOUND)
class TurnEnded(Event):
    """A turn ends in exactly one of completed, refused, failed, cancelled."""

    turn_id: str
    state: str
    reason: str | None = None
    """A named reason, such as MAX_ROUNDS or POLICY_UNAVAILABLE; of a completed turn UNDO_WANTED, where the person wants
    the last change undone, which is a rollback, DENIED, where a person refused what was proposed, or MORE_BELOW, where
    all that was looked for is in subfolders: "in all subfolders" takes it."""
    detail: str = ""


@event("suma.plan.proposed.v1", OUTBOUND)
class PlanProposed(Event):
    """What will be done, and what the committee said of it."""

    turn_id: str
    plan: Plan
    reviews: tuple[Review, ...] = ()
    committee: bool = True


@event("suma.step.changed.v1", OUTBOUND)
class StepChanged(Event):
    """A step has another state; each event holds all that is shown of it."""

    turn_id: str
    plan_id: str
    step_id: str
    ordinal: int
    tool: str
    description: str
    state: StepState
    summary: str = ""
    error: str | None = None
    snapshot: str | None = None
    """The stage's snapshot before this step, to roll back to (S4-26)."""
    result: Asset | None = None
    """What a step that succeeded returned, where that is too large for an event."""


@event("suma.approval.requested.v1", OUTBOUND)
class ApprovalRequested(Event):
    """Someone must decide. `digest` binds the answer to exactly what is shown here (DESIGN §7).

    A question of the kind `effect` asks whether something happened. It stays open when it expires: only the turn stops
    waiting for it.
    """

    turn_id: str
    approval_id: str
    kind: str
    """step | commit | effect"""
    digest: str
    title: str
    expires_in: float
    """Seconds."""
    step_id: str | None = None
    tool: str | None = None
    args: Args = Field(default_factory=dict)
    items: tuple[Json, ...] = ()
    """What may be excluded, one by one, by its `id`."""
    diff: Diff | None = None
    undo: str = ""
    """What can be undone, and how; says so when it cannot."""
    rule: str = ""
    detail: str = ""
    """Of an effect: why nobody knows whether it happened; of a change: what it leaves out, such as subfolders."""
    intent: str = ""
    """Of an effect: the key under which the world may have seen it."""


@event("suma.approval.closed.v1", OUTBOUND)
class ApprovalClosed(Event):
    """An approval is open no more, and why."""

    turn_id: str
    approval_id: str
    outcome: str
    """approved | denied | overridden | expired | superseded | cancelled | stale | happened | did_not_happen"""
    principal: str | None = None
    reason: str = ""


@event("suma.clarification.requested.v1", OUTBOUND)
class ClarificationRequested(Event):
    """The turn waits for an answer: the session's next message is it."""

    turn_id: str
    question: str
    candidates: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()


@event("suma.message.completed.v1", OUTBOUND)
class MessageCompleted(Event):
    """The answer, whole; it replaces every delta of its turn."""

    turn_id: str
    message_id: str
    text: str
    usage: Usage = Usage()


@event("suma.workspace.changed.v1", OUTBOUND)
class WorkspaceChanged(Event):
    """The real files changed, or refused to. `commit_id` names the journal for a later rollback."""

    turn_id: str
    change: str
    """committed | rolled_back | dropped | conflicted"""
    epoch: int
    commit_id: str | None = None
    operations: int = 0
    diff: Diff | None = None
    conflicts: tuple[str, ...] = ()
