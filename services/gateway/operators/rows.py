"""The rows of dead letters: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from libs.changes import Row
from libs.events import Json
from services.gateway.schema import GROUP


@dataclass(frozen=True, slots=True)
class DeadLetterPut(Row):
    """A dead letter, under the id of the event that reported it."""

    into: ClassVar = (GROUP, "dead.put")

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


@dataclass(frozen=True, slots=True)
class DeadLetterClosed(Row):
    """The replay or discard of an open dead letter; one that is closed conflicts."""

    into: ClassVar = (GROUP, "dead.close")

    letter_id: str
    state: str
    closed_by: str
    reason: str
