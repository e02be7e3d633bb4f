"""The rows of sessions and what is in them: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from libs.changes import Row
from libs.events import Json
from services.gateway.schema import GROUP


@dataclass(frozen=True, slots=True)
class SessionOpened(Row):
    """A new session."""

    into: ClassVar = (GROUP, "session.open")

    session_id: str | None
    principal: str
    title: str | None
    root: str | None
    hitl: str
    at: str
    context: str | None = None


@dataclass(frozen=True, slots=True)
class SessionShared(Row):
    """The access of others in the tenant to a session; None for no access."""

    into: ClassVar = (GROUP, "session.share")

    session_id: str
    shared: str | None


@dataclass(frozen=True, slots=True)
class SessionTitled(Row):
    """The title of a session that has none."""

    into: ClassVar = (GROUP, "session.title")

    session_id: str | None
    title: str


@dataclass(frozen=True, slots=True)
class LoggedEvent(Row):
    """An event of a session's sequence, named by its place in the log; a place without it conflicts."""

    into: ClassVar = (GROUP, "event")

    event_id: str
    part: int
    position: int


@dataclass(frozen=True, slots=True)
class CopiedEvent(Row):
    """An event of a session's sequence, in full."""

    into: ClassVar = (GROUP, "event")

    session_id: str | None
    event_id: str
    event_type: str
    turn_id: str | None
    occurred_at: str
    data: Json
    correlation: str | None
    causation: str | None


@dataclass(frozen=True, slots=True)
class TurnOpened(Row):
    """A turn, before anything of it has happened; one without a message is a rollback's."""

    into: ClassVar = (GROUP, "turn.open")

    turn_id: str
    session_id: str | None
    message_id: str | None
    text: str
    state: str
    at: str


@dataclass(frozen=True, slots=True)
class TurnMoved(Row):
    """The fields of a turn that an event changes; an ended turn keeps its final state."""

    into: ClassVar = (GROUP, "turn.move")

    turn_id: str
    state: str | None = None
    reason: str | None = None
    detail: str | None = None
    answer: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    moved_at: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalOpened(Row):
    """A question to a person, which expires in `expires_in` seconds."""

    into: ClassVar = (GROUP, "approval.open")

    approval_id: str
    session_id: str | None
    turn_id: str
    kind: str
    digest: str
    data: Json
    at: str
    expires_in: float


@dataclass(frozen=True, slots=True)
class ApprovalDraft(Row):
    """A prepared answer to a question with this digest; the last one counts."""

    into: ClassVar = (GROUP, "approval.draft")

    approval_id: str
    digest: str
    draft: Json


@dataclass(frozen=True, slots=True)
class ApprovalClosed(Row):
    """The answer to a question; the first one counts."""

    into: ClassVar = (GROUP, "approval.close")

    approval_id: str
    outcome: str
    principal: str | None
    reason: str
    at: str
