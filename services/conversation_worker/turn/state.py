"""The conversation of a session: its mailbox, the turn under way, its steps and open approvals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from pydantic import Field

from libs import ids
from libs.events import (
    Args,
    Asset,
    Body,
    Diff,
    Exchange,
    Hitl,
    Json,
    Mark,
    Plan,
    Step,
    StepState,
    ToolCall,
    Touched,
    Usage,
    Value,
)

EFFECT = "effect"
"""The kind of a question whether an effect happened."""
ATTACHED_MOST = 20
"""Attached files that a session remembers."""
HISTORY_MOST = 20
"""Exchanges that a session remembers (S2, linked)."""
ENDED_MOST = 32
"""Turns whose end a session remembers, so that what comes late or twice ends nothing again."""

COMMIT, RESTORE, DROP = "workspace.commit", "workspace.restore", "workspace.drop"
ROLLBACK, REDO = "workspace.rollback", "workspace.redo"
"""The tools with which the turn itself works on the workspace."""
STEP_ENDED = frozenset(StepState) - {StepState.PENDING, StepState.RUNNING, StepState.AWAITING_APPROVAL}


class TurnState(StrEnum):
    """The state of a turn. It ends in exactly one of the last four."""

    CONTEXT = "context"
    THINKING = "thinking"
    ACTING = "acting"
    AWAITING_CLARIFICATION = "awaiting_clarification"
    AWAITING_COMMIT = "awaiting_commit"
    COMMITTING = "committing"
    DROPPING = "dropping"
    ROLLING_BACK = "rolling_back"
    RESTORING = "restoring"
    ANSWERING = "answering"
    COMPLETED = "completed"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def has_ended(self) -> bool:
        return self in (TurnState.COMPLETED, TurnState.REFUSED, TurnState.FAILED, TurnState.CANCELLED)


class QueuedMessage(Value):
    """A message, in the mailbox or as its turn works on it."""

    message_id: str
    turn_id: str
    text: str
    principal: str
    scopes: tuple[str, ...] = ()
    hitl: Hitl = Hitl.KEY
    skill: str | None = None
    attachments: tuple[Asset, ...] = ()
    call: ToolCall | None = None
    answers: str | None = None
    """The turn whose clarification it answers; None once it is known to answer none."""
    agent: str | None = None
    """The agent that its author chose; None for the default one."""


class Outcome(Value):
    """The decided end of a turn, applied once nothing of it is running."""

    state: TurnState
    reason: str | None = None
    detail: str = ""


class Restoring(Value):
    """A restore of the open stage: `turn_id` is of the request, `snapshot` the target."""

    turn_id: str
    snapshot: str


class CommitResult(Value):
    """The result of a diff: the number of changes that were made, of each kind, and that were left out."""

    operations: int = 0
    left_out: int = 0
    created: int = 0
    changed: int = 0
    overwritten: int = 0
    deleted: int = 0
    moved: int = 0
    folders: int = 0
    """The number of folders into which something was moved."""
    warnings: tuple[str, ...] = ()


class Turn(Value):
    """The turn under way."""

    turn_id: str
    state: TurnState
    message: QueuedMessage
    intent: str = "statement"
    round: int = 1
    asked: int = 0
    """How often the committee was asked: twice in one round when the first time it asked back."""
    attachments: tuple[Asset, ...] = ()
    """The files that its messages named."""
    clarification: str | None = None
    replies: tuple[str, ...] = ()
    """The answers to the questions before that one."""
    skill: str | None = None
    wish: str | None = None
    """The message's text as the replies have changed it."""
    plan: Plan | None = None
    committee: bool = True
    revision: str = ""
    usage: Usage = Usage()
    calls: int = 0
    errors: int = 0
    worked: float = 0.0
    """Seconds of work so far; waiting for people is not work."""
    since: float | None = None
    """When the thinking that goes on now began, in seconds since the epoch."""
    last_call: str | None = None
    """The digest of the last call's tool and args: the second identical one in a row never runs (S2-05)."""
    diff: Diff | None = None
    """The stage's net change; None or empty when nothing is staged."""
    commit_id: str | None = None
    working: str | None = None
    """The lease or call that the turn itself waits for: context, answer, commit, drop, rollback, restore."""
    restoring: Restoring | None = None
    decided: str | None = None
    """The decision on the diff, in words."""
    commit_result: CommitResult | None = None
    """The same in figures, for the answer."""
    outcome: Outcome | None = None
    limit: Outcome | None = None
    """The limit that ended its planning; what was staged before is still offered."""

    @property
    def plan_request_id(self) -> str:
        return ids.derived(self.turn_id, "plan", str(self.asked))

    @property
    def dirty(self) -> bool:
        return self.diff is not None and self.diff.count > 0


class StepRun(Value):
    """A step of a plan, with its state and result."""

    step: Step
    plan_id: str
    round: int
    state: StepState = StepState.PENDING
    call_id: str | None = None
    args: Args | None = None
    """As resolved, and as the person edited them."""
    edited: bool = False
    data: Body | None = None
    summary: str = ""
    error: str | None = None
    snapshot: str | None = None
    approval_id: str | None = None
    verdict: str = ""
    """Policy's last one on this step."""
    rule: str = ""
    started: float | None = None
    """Seconds since the epoch."""

    @property
    def step_id(self) -> str:
        return self.step.step_id


class Approval(Value):
    """A question to a person. Its answer counts only for exactly what `digest` covers."""

    approval_id: str
    kind: str
    digest: str
    open: bool = True
    outcome: str | None = None
    step_id: str | None = None
    items: tuple[Json, ...] = ()

    @property
    def outlives_turn(self) -> bool:
        """Return whether it stays open after its turn: only the question whether an effect happened does."""
        return self.kind == EFFECT


class Session(Value):
    """The part of a conversation that outlives a turn."""

    session_id: str
    version: int = 0
    epoch: int = 0
    """Moved by commit, rollback, cancel and a noticed outside change."""
    root: str | None = None
    agent: str | None = None
    """The agent that a message named last; it works on the later ones as well."""
    history: tuple[Exchange, ...] = ()
    read: dict[str, int] = Field(default_factory=dict)
    """Paths that were read, with the epoch at which they were (S0-14)."""
    touched: Touched = Touched()
    """The content that its turns have read. Never reset: each turn sees the history, which rests on earlier ones."""
    marks: tuple[Mark, ...] = ()
    """The first content of each kind in `touched`. A row of an earlier release lacks them."""
    commits: tuple[str, ...] = ()
    """Committed changesets of files that can be rolled back, oldest first."""
    undone: tuple[str, ...] = ()
    """Commits that were rolled back as a whole, the newest last; a redo makes their changes again."""
    attachments: tuple[Asset, ...] = ()
    """Files that messages named, oldest first; of one name, the newest."""
    queue: tuple[QueuedMessage, ...] = ()
    ended: tuple[str, ...] = ()
    """Turns that have ended, the newest last."""
    cancelled: tuple[str, ...] = ()
    """Turns that were cancelled before their message came."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session with its turn, steps and approvals."""

    session: Session
    turn: Turn | None = None
    steps: tuple[StepRun, ...] = ()
    approvals: tuple[Approval, ...] = field(default=())

    @property
    def at_work(self) -> bool:
        """Return whether a turn is under way that does not wait for a person."""
        asking = (TurnState.AWAITING_CLARIFICATION, TurnState.AWAITING_COMMIT)
        asked = any(approval.open for approval in self.approvals)
        return self.turn is not None and self.turn.state not in asking and not asked

    def step_run(self, step_id: str) -> StepRun | None:
        return next((run for run in self.steps if run.step_id == step_id), None)

    def approval(self, approval_id: str) -> Approval | None:
        return next((approval for approval in self.approvals if approval.approval_id == approval_id), None)

    @property
    def attachments(self) -> tuple[Asset, ...]:
        """Return the files that tools may take: those of the turn's messages, else those of earlier ones."""
        own = self.turn.attachments if self.turn is not None else ()
        return own or self.session.attachments

    def current(self) -> tuple[StepRun, ...]:
        """Return the steps of the present round; `$step(n)` refers to these."""
        return tuple(run for run in self.steps if self.turn is not None and run.round == self.turn.round)

    def with_step(self, changed: StepRun) -> Conversation:
        return replace(self, steps=tuple(changed if d.step_id == changed.step_id else d for d in self.steps))

    def with_approval(self, changed: Approval) -> Conversation:
        others = tuple(a for a in self.approvals if a.approval_id != changed.approval_id)
        return replace(self, approvals=(*others, changed))


def attached(before: tuple[Asset, ...], more: tuple[Asset, ...]) -> tuple[Asset, ...]:
    """Return both, oldest first; of several files with one name, the newest."""
    found = {file.filename: file for file in before}
    for file in more:
        found.pop(file.filename, None)
        found[file.filename] = file
    return tuple(found.values())[-ATTACHED_MOST:]
