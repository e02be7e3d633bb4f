"""Handlers that project the conversation worker's events and dead letters.

A second delivery changes nothing, because the inbox holds the event. They load nothing: an event's projection depends
on no row.
"""

from __future__ import annotations

from typing import Any

from libs.changes import Cause, Changeset
from libs.errors import Rejected
from libs.events import Envelope, EventDeadLettered, TurnEnded
from services.gateway.operators.rows import DeadLetterPut
from services.gateway.sessions.projection import projected
from services.gateway.sessions.rows import CopiedEvent, LoggedEvent
from services.gateway.sessions.streams import Streams


class NoSession(Rejected):
    """An outbound event has no session; set one."""

    code = "NO_SESSION"


class Handlers:
    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    async def project(self, cause: Cause, event: Envelope[Any]) -> Changeset:
        """Project an outbound event: its row in the sequence, its changes, and a wake-up for the session's viewers."""
        if event.session is None:
            raise NoSession
        projection = Changeset(cause).put(_numbered(cause, event), *projected(event))
        projection = projection.on_commit(self._streams.waker(event.tenant, event.session))
        if not isinstance(event.data, TurnEnded):
            return projection
        ended = event.data.turn_id
        return projection.on_commit(lambda: self._streams.note_end(ended))

    async def project_dead_letter(self, cause: Cause, event: Envelope[EventDeadLettered]) -> Changeset:
        """Project a dead letter for administrators."""
        dead_letter = event.data
        row = DeadLetterPut(
            letter_id=event.id,
            grp=dead_letter.group,
            event_id=dead_letter.event_id,
            topic=dead_letter.event_topic,
            event_type=dead_letter.event_type,
            event_key=dead_letter.event_key,
            session_id=event.session,
            turn_id=event.turn,
            event=dead_letter.original.model_dump(mode="json", by_alias=True),
            code=dead_letter.code,
            error=dead_letter.error,
            attempts=dead_letter.attempts,
            at=event.time.isoformat(),
        )
        return Changeset(cause).put(row)


def _numbered(cause: Cause, event: Envelope[Any]) -> LoggedEvent | CopiedEvent:
    """Return an event's row in the sequence: where the log has the event, or a copy."""
    if (reference := cause.reference()) is not None:
        return LoggedEvent(**reference)
    return CopiedEvent(
        session_id=event.session,
        event_id=event.id,
        event_type=event.type,
        turn_id=event.turn,
        occurred_at=event.time.isoformat(),
        data=event.data.model_dump(mode="json", by_alias=True),
        correlation=event.correlation,
        causation=event.causation,
    )
