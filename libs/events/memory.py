"""memory.events: text to remember, and feedback on it."""

from __future__ import annotations

from libs.events.base import Event, event
from libs.events.topics import MEMORY_EVENTS


@event("suma.remember.requested.v1", MEMORY_EVENTS)
class RememberRequested(Event):
    """Store this text, so that it can be recalled."""

    memory_id: str
    kind: str
    """message | answer | outcome | fact"""
    text: str
    user: str
    scopes: tuple[str, ...] = ()
    universe: str = "session"


@event("suma.feedback.given.v1", MEMORY_EVENTS)
class FeedbackGiven(Event):
    """A rating of a subject: how useful it was, from -1 to 1."""

    subject: str
    score: float
    user: str
    scopes: tuple[str, ...] = ()
    comment: str = ""
