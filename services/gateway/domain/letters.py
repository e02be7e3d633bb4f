"""Dead letters: what may still become of one. Closed is closed: the next death of its event is another letter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from libs.errors import Rejected
from libs.events.topics import COMMITTEE_DECISIONS, COMMITTEE_REQUESTS, INBOUND, TOOL_REQUESTS, TOOL_RESULTS

WORK = frozenset(
    topic.name for topic in (INBOUND, COMMITTEE_REQUESTS, COMMITTEE_DECISIONS, TOOL_REQUESTS, TOOL_RESULTS)
)
"""Topics whose events move a turn on. What others carry (what viewers see, memories) is true after its end as well."""

Verb = Literal["replay", "discard"]
Outcome = Literal["replayed", "discarded", "stale", "already"]
DONE: dict[Verb, Outcome] = {"replay": "replayed", "discard": "discarded"}


class Closed(Rejected):
    """This dead letter was dealt with otherwise."""

    code = "DEAD_LETTER_CLOSED"


@dataclass(frozen=True, slots=True)
class Letter:
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
        """Is it work for a turn that is over? Then a replay would do nothing."""
        return self.state == "open" and self.topic in WORK and self.turn_ended_at is not None


def outcome(letter: Letter, verb: Verb) -> Outcome:
    """What comes of it.

    Raises:
        Closed: it was discarded and is to be replayed, or the other way round.
    """
    if letter.state == DONE[verb]:
        return "already"
    if letter.state != "open":
        by = f" by {letter.closed_by}" if letter.closed_by else ""
        raise Closed(f"this dead letter was {letter.state}{by}")
    return "stale" if verb == "replay" and letter.stale else DONE[verb]
