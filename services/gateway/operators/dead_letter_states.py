"""Dead letters and their outcomes. A closed one stays closed: if its event dies again, that is a new dead letter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from libs.errors import Rejected
from libs.events.deadletters import LEASES
from libs.events.topics import COMMITTEE_DECISIONS, COMMITTEE_REQUESTS, INBOUND, TOOL_REQUESTS, TOOL_RESULTS

WORK = frozenset(
    topic.name for topic in (INBOUND, COMMITTEE_REQUESTS, COMMITTEE_DECISIONS, TOOL_REQUESTS, TOOL_RESULTS)
)
"""Topics whose events advance a turn. Events of other topics (viewers' events, memories) stay valid after its end."""

Verb = Literal["replay", "discard"]
Outcome = Literal["replayed", "discarded", "stale", "already"]
DONE: dict[Verb, Outcome] = {"replay": "replayed", "discard": "discarded"}


class Closed(Rejected):
    """This dead letter was already closed with the other outcome; read its state."""

    code = "DEAD_LETTER_CLOSED"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One death of one event in one group. `state` is open, replayed or discarded."""

    letter_id: str
    grp: str
    event_id: str
    topic: str
    event_type: str
    event_key: str
    session_id: str | None
    turn_id: str | None
    code: str
    error: str
    attempts: int
    died_at: datetime
    state: str
    closed_by: str | None
    closed_at: datetime | None
    reason: str
    turn_state: str | None
    turn_reason: str | None
    turn_ended_at: datetime | None

    @property
    def stale(self) -> bool:
        """Whether a replay would do nothing: its turn is over, or it is leased work, which has already reported its
        failure.
        """
        over = self.leased or (self.topic in WORK and self.turn_ended_at is not None)
        return self.state == "open" and over

    @property
    def leased(self) -> bool:
        """Whether it is leased work instead of an event."""
        return self.topic == LEASES


def outcome(dead_letter: DeadLetter, verb: Verb) -> Outcome:
    """Return the outcome of a decision.

    Raises:
        Closed: it was discarded and is to be replayed, or the other way round.
    """
    if dead_letter.state == DONE[verb]:
        return "already"
    if dead_letter.state != "open":
        by = f" by {dead_letter.closed_by}" if dead_letter.closed_by else ""
        raise Closed(f"this dead letter was {dead_letter.state}{by}")
    return "stale" if verb == "replay" and dead_letter.stale else DONE[verb]
