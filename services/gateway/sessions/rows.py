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
class MessageAccepted(Row):
    """A message of a session's sequence, before any event of its turn."""

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
    job: bool = False
    """Whether it was begun as a multimodal job. A plan that makes pictures or documents makes any turn one."""


@row(GROUP, "approval.draft")
class ApprovalDraft(Row):
    """A prepared answer to a question with this digest; the last one counts."""

    approval_id: str
    digest: str
    draft: Json
