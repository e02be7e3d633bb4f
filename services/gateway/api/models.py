"""The shapes of requests and responses. A request with a field that we do not know is refused."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from libs.events.values import Hitl

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=100_000, pattern=r"\S")]
Title = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Root = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^/")]
Reason = Annotated[str, StringConstraints(max_length=2_000)]
Exclusions = Annotated[tuple[Annotated[str, StringConstraints(max_length=4096)], ...], Field(max_length=1_000)]


class Asked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Shown(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class NewSession(Asked):
    """A conversation, with one workspace. Without a root the workspace is a managed one."""

    title: Title | None = None
    root: Root | None = Field(default=None, examples=["/home/ada/Downloads"])
    hitl: Hitl = Hitl.KEY

    model_config = ConfigDict(json_schema_extra={"examples": [{"root": "/home/ada/Downloads", "hitl": "key"}]})


class NewMessage(Asked):
    """What a person or program says. `skill` picks one, for example to answer a near miss."""

    text: Text = Field(examples=["remove duplicates and sort by type"])
    """At most 100,000 characters."""
    hitl: Hitl | None = None
    """When a person is asked; the session's own mode where it is absent."""
    on_busy: Literal["queue", "reject"] = "queue"
    skill: Id | None = None


class FirstMessage(NewMessage):
    """The same, and a new session where none is named."""

    session_id: Id | None = None
    title: Title | None = None
    root: Root | None = None

    @model_validator(mode="after")
    def _one_or_the_other(self) -> FirstMessage:
        if self.session_id is not None and (self.root is not None or self.title is not None):
            raise ValueError("a session that exists has its root and title already")
        return self


class RunRequest(FirstMessage):
    """What Scope Weaver calls a request (S4-56)."""


class Answer(Asked):
    """A person's answer to an open approval. `digest` is of what was seen: anything else was not answered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"verdict": "approve", "digest": "9f2c…"},
                {"verdict": "deny", "digest": "9f2c…", "reason": "those are my tax papers"},
                {"verdict": "override", "digest": "9f2c…", "exclude": ["taxes/2024.pdf"]},
            ]
        }
    )

    verdict: Literal["approve", "deny", "override"]
    digest: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    reason: Reason = ""
    exclude: Exclusions = ()
    args: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _edits_override(self) -> Answer:
        edits = bool(self.exclude) or self.args is not None
        if edits != (self.verdict == "override"):
            raise ValueError("exclude and args make an answer an override, and an override has one of them")
        return self


class Finding(Asked):
    """What someone found out about an effect. `digest` is of what was seen, `data` what came of it, for later steps."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"verdict": "happened", "digest": "9f2c…", "reason": "it is in my sent folder"},
                {"verdict": "happened", "digest": "9f2c…", "data": {"message_id": "<7@example.org>"}},
                {"verdict": "did_not_happen", "digest": "9f2c…", "reason": "the bank knows nothing of it"},
            ]
        }
    )

    verdict: Literal["happened", "did_not_happen"]
    digest: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    reason: Reason = ""
    data: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _nothing_came_of_nothing(self) -> Finding:
        if self.verdict == "did_not_happen" and self.data is not None:
            raise ValueError("what did not happen has no data")
        return self


class Commit(Asked):
    """Approve the session's open diff; what is excluded stays as it is."""

    exclude: Exclusions = ()
    digest: Annotated[str, StringConstraints(max_length=200)] | None = None
    """Of the diff that was seen; the open one where it is absent."""


class Rollback(Asked):
    """Undo to a snapshot of the open turn's stage, or a committed turn; the last commit where neither is named."""

    snapshot: Id | None = None
    commit_id: Id | None = None
    exclude: Exclusions = ()

    @model_validator(mode="after")
    def _one_target(self) -> Rollback:
        if self.snapshot is not None and self.commit_id is not None:
            raise ValueError("a rollback goes to a snapshot or undoes a commit, not both")
        return self


class Cancel(Asked):
    reason: Reason = ""


class SessionShown(Shown):
    """A session. `turn_id` is its oldest turn that is not over; `last_seq` how far its event sequence has come."""

    session_id: str
    title: str | None
    root: str | None
    hitl: str
    created_at: datetime
    last_at: datetime
    last_seq: int
    turn_id: str | None
    turn_state: str | None
    approvals: int


class SessionRead(SessionShown):
    as_of: int
    """The last event that this answer rests on."""


class SessionList(Shown):
    sessions: list[SessionShown]
    next: str | None
    """`before=` of the next page; null at the end."""
    as_of: datetime


class TurnShown(Shown):
    """One message and what became of it. A turn ends in completed, refused, failed or cancelled."""

    turn_id: str
    session_id: str
    message_id: str | None
    text: str
    state: str
    reason: str | None
    detail: str
    answer: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class History(Shown):
    session_id: str
    turns: list[TurnShown]
    next: str | None
    as_of: int


class Accepted(Shown):
    """The message is durable, and will become a turn. `after` is where to read the session's events from."""

    session_id: str
    message_id: str
    turn_id: str
    after: int


class RunResponse(Accepted):
    """The same, by Scope Weaver's name (S4-56)."""


class StreamEvent(Shown):
    """One event of a session's sequence: `seq` is gapless, `type` such as `turn.started`."""

    seq: int
    type: str
    turn_id: str | None
    time: datetime
    data: dict[str, Any]


class EventList(Shown):
    session_id: str
    events: list[StreamEvent]
    next: int
    """`after=` of the next page."""
    more: bool
    as_of: int


class Commanded(Shown):
    """A command that is under way (202), or what came of it (200)."""

    session_id: str
    turn_id: str
    request_id: str
    after: int
    outcome: StreamEvent | None = None


class ApprovalShown(Shown):
    """A question to a person. `data` is all that is to be seen before answering; `digest` binds the answer to it.

    One of the kind `effect` asks whether something happened, and is answered at `/v1/effects/{id}`. It stays open when
    it expires: then its turn no longer waits for it.
    """

    approval_id: str
    session_id: str
    turn_id: str
    kind: str
    digest: str
    data: dict[str, Any]
    opened_at: datetime
    expires_at: datetime
    outcome: str | None
    principal: str | None
    reason: str | None
    closed_at: datetime | None


class ApprovalList(Shown):
    approvals: list[ApprovalShown]
    as_of: datetime


class EffectList(Shown):
    effects: list[ApprovalShown]
    as_of: datetime


class BudgetBalance(Shown):
    """`reserved` is of calls under way, and of calls that broke off, so that nobody knows what they cost: those count
    as spent, and are told as spent some hours later."""

    limit: int
    spent: int
    reserved: int


class BudgetShown(Shown):
    """What calls of a real model may use, have used, and may be using now. `until` the account begins anew; a session's
    never does."""

    tokens: BudgetBalance
    cost_micros: BudgetBalance
    """Millionths of a US dollar, at list price."""
    until: datetime | None


class Budgets(Shown):
    """The tenant's account of the present window, and a session's where one is named."""

    tenant: BudgetShown
    session: BudgetShown | None
    as_of: datetime


class Status(Shown):
    """A tenant at a glance, or one session of it."""

    sessions: int
    turns: int
    approvals: int
    session: SessionShown | None = None
    as_of: datetime


class Check(Shown):
    """A dependency as it was when it was last asked. `level` is how much of it is lost: none, minor, moderate, severe,
    critical; `circuit` whether we call it at all: closed, half_open, open."""

    ok: bool
    detail: str = ""
    level: str = "none"
    circuit: str = "closed"


class Readiness(Shown):
    ready: bool
    level: str
    """That of the dependency which has lost most."""
    checks: dict[str, Check]
    problems: list[str]
