"""The rows of dead letters: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from libs.changes import Row, row
from libs.events import Json
from services.gateway.schema import GROUP


@row(GROUP, "dead.put")
class DeadLetterPut(Row):
    """A dead letter, under the id of the event that reported it."""

    letter_id: str
    grp: str
    event_id: str
    topic: str
    event_type: str
    event_key: str
    session_id: str | None
    turn_id: str | None
    event: Json
    code: str
    error: str
    attempts: int
    at: str


@row(GROUP, "dead.close")
class DeadLetterClosed(Row):
    """The replay or discard of an open dead letter; one that is closed conflicts."""

    letter_id: str
    state: str
    closed_by: str
    reason: str
