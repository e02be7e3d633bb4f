"""conversation.outbound: what viewers see of a session, projected by the gateway as one numbered sequence."""

from __future__ import annotations

from typing import TypeAlias

from pydantic import Field

from libs.events.base import Event, Value, event
from libs.events.topics import OUTBOUND
from libs.events.values import Args, Asset, Candidate, Diff, Json, Mark, Plan, Review, StepState, Usage


@event("suma.turn.queued.v1", OUTBOUND)
class TurnQueued(Event):
    """A message waits for earlier turns; `position` 1 is next."""

    turn_id: str
    message_id: str
    position: int


@event("suma.turn.degraded.v1", OUTBOUND)
class TurnDegraded(Event):
    """The turn continues without an optional input, such as its memories."""

    turn_id: str
    missing: str
    """`memory`; other values may be added."""
    detail: str = ""


@event("suma.turn.started.v1", OUTBOUND)
class TurnStarted(Event):
    """A message, or a rollback without one, became the session's turn."""

    turn_id: str
    message_id: str | None
    text: str
    agent: str | None = None
    """The agent that works on it; None for the default one."""


@event("suma.turn.analysed.v1", OUTBOUND)
class TurnAnalysed(Event):
    """The analyser's reading of the message (S3-09)."""

    turn_id: str
    intent: str
    sentiment: str
    tags: tuple[str, ...] = ()


class RankedBy(Value):
    """A ranking's part in the score of a memory: the place there, or 0 for what is no ranking, such as a rating."""

    name: str
    rank: int
    contribution: float


class RecalledMemory(Value):
    """A memory by its id: a forgotten one leaves no text here. `sources` explain its score."""

    id: str
    score: float
    sources: tuple[RankedBy, ...] = ()


@event("suma.memories.recalled.v1", OUTBOUND)
class MemoriesRecalled(Event):
    """The turn is planned with these memories of its session, best first."""

    turn_id: str
    memories: tuple[RecalledMemory, ...]


@event("suma.turn.ended.v1", OUTBOUND)
class TurnEnded(Event):
    """A turn ended: exactly one of completed, refused, failed, cancelled."""

    turn_id: str
    state: str
    reason: str | None = None
    """A named reason, such as MAX_ROUNDS or POLICY_UNAVAILABLE. A completed turn may have UNDO_WANTED (the person wants
    to undo the last change, which is a rollback), DENIED (a person refused the proposal), MORE_BELOW (every match is in
    a subfolder: "in all subfolders" includes them), DECLINED (no tool can do it, or it is refused), or the limit that
    left a part of the task undone, such as MAX_TOOL_CALLS.
    """
    detail: str = ""
    usage: Usage = Usage()
    """The sum of the turn's answered model calls."""


@event("suma.plan.proposed.v1", OUTBOUND)
class PlanProposed(Event):
    """The plan, and the committee's verdict on it."""

    turn_id: str
    plan: Plan
    reviews: tuple[Review, ...] = ()
    committee: bool = True
    drafts: tuple[Plan, ...] = ()
    """The plans that the committee rejected before this one, oldest first; large ones are left out."""
    marks: tuple[Mark, ...] = ()
    """The kinds of content that the session read first before this plan."""


@event("suma.step.changed.v1", OUTBOUND)
class StepChanged(Event):
    """A step changed state; each event holds everything that is shown of the step."""

    turn_id: str
    plan_id: str
    step_id: str
    ordinal: int
    tool: str
    description: str
    state: StepState
    summary: str = ""
    """The result in words. Staged changes are made only once the turn's diff is committed as a whole."""
    proposed: str = ""
    """The same as a proposal, for a step that staged changes."""
    error: str | None = None
    snapshot: str | None = None
    """The stage's snapshot before this step, for a rollback (S4-26)."""
    result: Asset | None = None
    """The result of a step that succeeded, if it is too large for an event."""
    data: Json = None
    """The result itself, of a command, a picture or a document, or in a turn of one given call. A large one is in
    `result`; of a large one of a command, this is an excerpt.
    """
    verdict: str = ""
    """The policy's verdict on the last attempt: allow | ask | deny."""
    rule: str = ""
    """The rule of that verdict."""
    marks: tuple[Mark, ...] = ()
    """The kinds of content that the session read first in this step."""


@event("suma.approval.requested.v1", OUTBOUND)
class ApprovalRequested(Event):
    """A person must decide. `digest` binds the answer to exactly what is shown here (architecture.md 8).

    A question of the kind `effect` asks whether an effect happened. It stays open when it expires: only the turn stops
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
    """The parts that may be excluded, each by its `id`."""
    diff: Diff | None = None
    undo: str = ""
    """A sentence about undoing the step: what can be undone, and how; or that nothing can."""
    rule: str = ""
    detail: str = ""
    """For an effect: why its outcome is unknown. For a change: what it leaves out, such as subfolders."""
    intent: str = ""
    """For an effect: the key with which an external system may have received it."""
    trouble: str = ""
    """For a commit: why the last attempt failed and changed nothing."""
    because: tuple[Mark, ...] = ()
    """The content read by the session for which a person must see the whole payload (`human_sees_payload`)."""


@event("suma.approval.closed.v1", OUTBOUND)
class ApprovalClosed(Event):
    """An approval was closed, with the reason."""

    turn_id: str
    approval_id: str
    outcome: str
    """approved | denied | overridden | expired | superseded | cancelled | stale | happened | did_not_happen"""
    principal: str | None = None
    reason: str = ""


@event("suma.clarification.requested.v1", OUTBOUND)
class ClarificationRequested(Event):
    """The turn waits for an answer: the session's next message that is accepted after this event."""

    turn_id: str
    question: str
    candidates: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    """Replies to choose from, in words; any other words answer it, too."""


@event("suma.clarification.replied.v1", OUTBOUND)
class ClarificationReplied(Event):
    """A message that answers the turn's question was read."""

    turn_id: str
    message_id: str
    text: str
    instead: str | None = None
    """The turn that the message begins instead: the question was closed before, or the message is refused."""


@event("suma.message.completed.v1", OUTBOUND)
class MessageCompleted(Event):
    """The whole answer; it replaces every delta of its turn."""

    turn_id: str
    message_id: str
    text: str
    usage: Usage = Usage()


@event("suma.workspace.changed.v1", OUTBOUND)
class WorkspaceChanged(Event):
    """The real files changed, or a conflict prevented it. `commit_id` names the journal for a later rollback."""

    turn_id: str
    change: str
    """committed | rolled_back | dropped | conflicted"""
    epoch: int
    commit_id: str | None = None
    operations: int = 0
    diff: Diff | None = None
    conflicts: tuple[str, ...] = ()
    whole: bool = True
    """False after a rollback that excluded files: the rest of the commit can still be rolled back."""


Outbound: TypeAlias = (
    TurnQueued
    | TurnDegraded
    | TurnStarted
    | TurnAnalysed
    | MemoriesRecalled
    | TurnEnded
    | PlanProposed
    | StepChanged
    | ApprovalRequested
    | ApprovalClosed
    | ClarificationRequested
    | ClarificationReplied
    | MessageCompleted
    | WorkspaceChanged
)
"""Every event of the topic: a `match` over it that ends with `assert_never` fails the type check for a new one."""
