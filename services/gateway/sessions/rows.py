"""The rows of sessions and what is in them: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from libs.changes import Row, row
from libs.events import Json
from services.gateway.schema import GROUP


@row(GROUP, "session.open")
class SessionOpened(Row):
    """A new session."""

    session_id: str | None
    principal: str
    title: str | None
    root: str | None
    hitl: str
    at: str
    context: str | None = None


@row(GROUP, "session.share")
class SessionShared(Row):
    """The access of others in the tenant to a session; None for no access."""

    session_id: str
    shared: str | None


@row(GROUP, "session.title")
class SessionTitled(Row):
    """The title of a session that has none."""

    session_id: str | None
    title: str


@row(GROUP, "event")
class LoggedEvent(Row):
    """An event of a session's sequence, named by its place in the log; a place without it conflicts."""

    event_id: str
    part: int
    position: int


@row(GROUP, "event")
class CopiedEvent(Row):
    """An event of a session's sequence, in full."""

    session_id: str | None
    event_id: str
    event_type: str
    turn_id: str | None
    occurred_at: str
    data: Json
    correlation: str | None
    causation: str | None


@row(GROUP, "turn.open")
class TurnOpened(Row):
    """A turn, before anything of it has happened; one without a message is a rollback's."""

    turn_id: str
    session_id: str | None
    message_id: str | None
    text: str
    state: str
    at: str


@row(GROUP, "turn.move")
class TurnMoved(Row):
    """The fields of a turn that an event changes; an ended turn keeps its final state."""

    turn_id: str
    state: str | None = None
    reason: str | None = None
    detail: str | None = None
    answer: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    moved_at: str | None = None


@row(GROUP, "approval.open")
class ApprovalOpened(Row):
    """A question to a person, which expires in `expires_in` seconds."""

    approval_id: str
    session_id: str | None
    turn_id: str
    kind: str
    digest: str
    data: Json
    at: str
    expires_in: float


@row(GROUP, "approval.draft")
class ApprovalDraft(Row):
    """A prepared answer to a question with this digest; the last one counts."""

    approval_id: str
    digest: str
    draft: Json


@row(GROUP, "approval.close")
class ApprovalClosed(Row):
    """The answer to a question; the first one counts."""

    approval_id: str
    outcome: str
    principal: str | None
    reason: str
    at: str
