"""One coroutine per event: the projection of what the conversation worker says, and of dead letters.

A second delivery changes nothing: the inbox knows the event. Nothing is loaded: what an event means rests on no row.
"""

from __future__ import annotations

from typing import Any

from libs.changes import Cause, Changeset
from libs.errors import Rejected
from libs.events import EventDeadLettered
from libs.events.envelope import Envelope
from services.gateway.domain.projection import SCHEMA, projected
from services.gateway.streams import Streams


class NoSession(Rejected):
    """An outbound event belongs to a session."""

    code = "NO_SESSION"


class Handlers:
    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    async def said(self, cause: Cause, event: Envelope[Any]) -> Changeset:
        """An outbound event: its row in the session's sequence, what it moves, and a hint to who watches."""
        if event.session is None:
            raise NoSession
        row = {
            "session_id": event.session,
            "event_id": event.id,
            "event_type": event.type,
            "turn_id": event.turn,
            "occurred_at": event.time.isoformat(),
            "data": event.data.model_dump(mode="json", by_alias=True),
            "correlation": event.correlation,
            "causation": event.causation,
        }
        numbered = Changeset(cause).change(SCHEMA, "event", **row)
        moved = Changeset(cause, tuple(projected(event)))
        return (numbered + moved).afterwards(self._streams.waker(event.tenant, event.session))

    async def dead(self, cause: Cause, event: Envelope[EventDeadLettered]) -> Changeset:
        """A dead letter, for admins to look at."""
        letter = event.data
        return Changeset(cause).change(
            SCHEMA,
            "dead.put",
            letter_id=event.id,
            grp=letter.group,
            event_id=letter.event_id,
            topic=letter.event_topic,
            event_type=letter.event_type,
            event_key=letter.event_key,
            session_id=event.session,
            turn_id=event.turn,
            event=letter.original.model_dump(mode="json", by_alias=True),
            code=letter.code,
            error=letter.error,
            attempts=letter.attempts,
            at=event.time.isoformat(),
        )
