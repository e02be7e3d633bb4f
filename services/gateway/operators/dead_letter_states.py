"""Dead letters and their outcomes. A closed one stays closed: if its event dies again, that is a new dead letter."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from libs.errors import Rejected
from libs.events.deadletters import LEASES
from libs.events.topics import COMMITTEE_DECISIONS, COMMITTEE_REQUESTS, INBOUND, TOOL_REQUESTS, TOOL_RESULTS
from services.gateway.operators.models import LetterShown

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


def is_stale(topic: str, state: str, turn_ended_at: datetime | None) -> bool:
    """Return whether a replay would do nothing: the turn is over, or it is leased work, which has already reported its
    failure.
    """
    return state == "open" and (topic == LEASES or (topic in WORK and turn_ended_at is not None))


def outcome(dead_letter: LetterShown, verb: Verb) -> Outcome:
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
