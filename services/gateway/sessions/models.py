"""Models of sessions, messages, turns, events, approvals and commands."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AwareDatetime,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from libs.events import ATTACHMENTS_MOST, Asset, Hitl
from services.gateway.http.models import VISIBLE, Id, RequestModel, ResponseModel

Text = Annotated[str, StringConstraints(min_length=1, max_length=100_000, pattern=VISIBLE)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Root = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^/")]
Reason = Annotated[str, StringConstraints(max_length=2_000)]
Exclusions = Annotated[tuple[Annotated[str, StringConstraints(max_length=4096)], ...], Field(max_length=1_000)]


AWAITING_CLARIFICATION = "awaiting_clarification"


class NewSession(RequestModel):
    """A new session with one workspace. Without a root, the workspace is managed by Suma."""

    title: Title | None = None
    root: Root | None = Field(default=None, examples=["/home/ada/Downloads"])
    hitl: Hitl = Hitl.KEY

    model_config = ConfigDict(json_schema_extra={"examples": [{"root": "/home/ada/Downloads", "hitl": "key"}]})


class NewMessage(RequestModel):
    """A message from a person or program. `skill` selects a skill, for example after a near miss; `agent` chooses one
    of GET /v1/agents for this and the session's later messages.
    """

    text: Text = Field(examples=["remove duplicates and sort by type"])
    """At most 100,000 characters."""
    hitl: Hitl | None = None
    """When to ask a person for approval; the session's own mode if absent."""
    on_busy: Literal["queue", "reject"] = "queue"
    skill: Id | None = None
    agent: Id | None = None
    attachments: tuple[Id, ...] = Field(
        default=(), max_length=ATTACHMENTS_MOST, description="Ids of your uploads, for tools to read"
    )


def _no(*names: str) -> dict[str, Any]:
    """Return a schema in which these properties are absent or null."""
    return {"properties": {name: {"type": "null"} for name in names}}


def unless(name: str, *others: str) -> dict[str, Any]:
    """Return a schema in which none of the others is given with this text. Generators of clients lose the properties
    beside an `anyOf`, and ignore `if`.
    """
    return {"if": {"required": [name], "properties": {name: {"type": "string"}}}, "then": _no(*others)}


class FirstMessage(NewMessage):
    """A message; without `session_id` it opens a new session."""

    model_config = ConfigDict(json_schema_extra=unless("session_id", "root", "title"))

    session_id: Id | None = None
    title: Title | None = None
    root: Root | None = None

    @model_validator(mode="after")
    def _one_or_the_other(self) -> FirstMessage:
        if self.session_id is not None and (self.root is not None or self.title is not None):
            raise ValueError("root and title cannot change for an existing session; leave them out")
        return self


class RunRequest(FirstMessage):
    """A message, under Scope Weaver's name (S4-56)."""


class Answer(RequestModel):
    """A person's answer to an open approval. `digest` is that of the displayed data; another digest is rejected."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"verdict": "approve", "digest": "9f2c…"},
                {"verdict": "deny", "digest": "9f2c…", "reason": "those are my tax papers"},
                {"verdict": "override", "digest": "9f2c…", "exclude": ["taxes/2024.pdf"]},
            ],
            "if": {"properties": {"verdict": {"const": "override"}}},
            "then": {
                "anyOf": [
                    {"properties": {"exclude": {"minItems": 1}}, "required": ["exclude"]},
                    {"properties": {"args": {"type": "object"}}, "required": ["args"]},
                ]
            },
            "else": {"properties": {"exclude": {"maxItems": 0}, "args": {"type": "null"}}},
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
            raise ValueError("an override needs exclude or args; other verdicts take neither")
        return self


class Finding(RequestModel):
    """A person's finding about an effect. `digest` is that of the displayed data, `data` a result for later steps."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"verdict": "happened", "digest": "9f2c…", "reason": "it is in my sent folder"},
                {"verdict": "happened", "digest": "9f2c…", "data": {"message_id": "<7@example.org>"}},
                {"verdict": "did_not_happen", "digest": "9f2c…", "reason": "the bank knows nothing of it"},
            ],
            "if": {"properties": {"verdict": {"const": "did_not_happen"}}},
            "then": _no("data"),
        }
    )

    verdict: Literal["happened", "did_not_happen"]
    digest: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    reason: Reason = ""
    data: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _data_only_if_it_happened(self) -> Finding:
        if self.verdict == "did_not_happen" and self.data is not None:
            raise ValueError("data is only for an effect that happened; leave it out")
        return self


class Commit(RequestModel):
    """Approval of the session's open diff; excluded files stay unchanged."""

    exclude: Exclusions = ()
    digest: Annotated[str, StringConstraints(max_length=200)] | None = None
    """Digest of the displayed diff; the open diff's if absent."""


class Purge(RequestModel):
    """Removal of a folder's commit history, up to a time."""

    root: Root
    before: AwareDatetime | None = Field(
        default=None, description="Delete only commits that finished before this time; all if absent"
    )


class Rollback(RequestModel):
    """Undo to a snapshot of the open turn's stage, or undo a commit; the last commit if neither is named."""

    model_config = ConfigDict(json_schema_extra=unless("snapshot", "commit_id"))

    snapshot: Id | None = None
    commit_id: Id | None = None
    exclude: Exclusions = ()
    redo: bool = False
    """Make the changes of a rolled back commit again; of the last one if none is named."""

    @model_validator(mode="after")
    def _one_target(self) -> Rollback:
        if self.snapshot is not None and (self.commit_id is not None or self.redo):
            raise ValueError("name a snapshot or a commit, not both; only a commit can be redone")
        return self


class Example(ResponseModel):
    """A new example folder; `root` is the root of a session in it."""

    root: str
    files: int
    bytes: int


class Cancel(RequestModel):
    reason: Reason = ""


class SessionShown(ResponseModel):
    """A session. `turn_id` is the open turn that asks for a clarification, else the oldest; `last_seq` is the number of
    its last event.
    """

    session_id: str
    principal: str
    """The principal that it belongs to."""
    shared: Literal["read", "write"] | None
    """The access of the tenant's other principals; null: it is private."""
    title: str | None
    root: str | None
    hitl: str
    created_at: datetime
    last_at: datetime
    last_seq: int
    turn_id: str | None
    turn_state: str | None
    approvals: int


class Session(SessionShown):
    """A session as it is stored. Answers show a SessionShown."""

    context: str | None
    """Its name in another protocol, for its own principal."""

    @property
    def asking(self) -> str | None:
        """The turn that waits for the answer to its clarification."""
        return self.turn_id if self.turn_state == AWAITING_CLARIFICATION else None


class Share(RequestModel):
    """The access of the tenant's other principals to a session."""

    access: Literal["read", "write"] = Field(
        description="`read`: see all of it; `write`: also send messages, answer approvals, commit and roll back"
    )


class SessionRead(SessionShown):
    as_of: int
    """The sequence number of the last event in this answer."""


class SessionList(ResponseModel):
    sessions: list[SessionShown]
    next: str | None
    """`before=` of the next page; null at the end."""
    as_of: datetime


class TurnShown(ResponseModel):
    """A message and its result. A turn ends in completed, refused, failed or cancelled."""

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


class History(ResponseModel):
    session_id: str
    turns: list[TurnShown]
    next: str | None
    as_of: int


class Accepted(ResponseModel):
    """A durable message. Read the session's events from `after`."""

    session_id: str
    message_id: str
    turn_id: str
    """The turn that it begins, or whose question it answers."""
    after: int
    answers: bool = False
    """Whether it answers the turn's open clarification."""


class RunResponse(Accepted):
    """An accepted message, under Scope Weaver's name (S4-56)."""


class StreamEvent(ResponseModel):
    """One event of a session's sequence. `seq` has no gaps; `type` is for example `turn.started`. The data of
    `message.accepted` is a MessageAccepted; that of each other type is in proto/events.
    """

    seq: int
    type: str
    turn_id: str | None
    time: datetime
    data: dict[str, Any]


class MessageAccepted(ResponseModel):
    """The data of `message.accepted`: a message that was answered with 202."""

    message_id: str
    text: str
    principal: str
    hitl: Hitl
    attachments: list[Asset] = Field(default=[])
    answers: bool = False
    """Whether it answers a clarification of its turn, instead of beginning it."""


class Delta(ResponseModel):
    """Partial text of a model, without a number. Another call or attempt starts from empty text."""

    turn_id: str
    call: str
    attempt: int
    text: str
    step_id: str | None = None
    """The step whose command wrote this; null for the text of the answer."""


class EventList(ResponseModel):
    session_id: str
    events: list[StreamEvent]
    next: int
    """`after=` of the next page."""
    more: bool
    as_of: int


class Commanded(ResponseModel):
    """A command: in progress (202), or with its outcome (200)."""

    session_id: str
    turn_id: str
    request_id: str
    after: int
    outcome: StreamEvent | None = None


class DraftGiven(RequestModel):
    """A prepared answer: what to leave out, and a reason. It decides nothing."""

    digest: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    exclude: Exclusions = ()
    reason: Reason = ""


class Draft(ResponseModel):
    """A prepared answer, as every client of the session shows it. A folder that is left out counts with all that the
    change would do in it.
    """

    digest: str
    exclude: list[str]
    reason: str
    makes: int | None
    """The number of changes that an approval without the excluded ones makes; None if it cannot be made."""
    leaves_out: int | None
    problem: str
    """Why these cannot be left out; empty if they can."""
    updated_at: datetime


class ApprovalShown(ResponseModel):
    """A question to a person. `data` is the information to display before an answer; `digest` binds the answer to it.

    A question of the kind `effect` asks whether an effect happened; answer it at `/v1/effects/{id}`. It stays open
    after its expiry, but its turn no longer waits for it.
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
    draft: Draft | None = None
    """The prepared answer, while the question is open."""


class ApprovalList(ResponseModel):
    approvals: list[ApprovalShown]
    next: str | None
    """`after=` of the next page; null at the end."""
    as_of: datetime


class EffectList(ResponseModel):
    effects: list[ApprovalShown]
    as_of: datetime


class BudgetBalance(ResponseModel):
    """A budget's limit and use. `reserved` covers running calls, and interrupted calls of unknown cost. The latter
    count as spent, and move to `spent` some hours later.
    """

    limit: int
    spent: int
    reserved: int


class BudgetShown(ResponseModel):
    """Limit, spending and reservations of model calls. The budget resets at `until`; a session's never resets."""

    tokens: BudgetBalance
    cost_micros: BudgetBalance
    """Millionths of a US dollar, at list price."""
    until: datetime | None


class Budgets(ResponseModel):
    """The tenant's budget of the current window, and a session's if named."""

    tenant: BudgetShown
    session: BudgetShown | None
    as_of: datetime


class Status(ResponseModel):
    """The tenant's counts, and one session's state if named."""

    tenant: str
    sessions: int
    turns: int
    approvals: int
    session: SessionShown | None = None
    as_of: datetime
