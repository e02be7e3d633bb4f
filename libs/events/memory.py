"""memory.events: text to remember, facts about a person, and feedback."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from libs.events.base import Event, SparseEvent, event
from libs.events.topics import MEMORY_EVENTS
from libs.events.values import Touched


@event("suma.remember.requested.v1", MEMORY_EVENTS)
class RememberRequested(SparseEvent):
    """Store this text, so that it can be recalled."""

    memory_id: str
    kind: str
    """message | answer | outcome | fact"""
    text: str
    user: str
    scopes: tuple[str, ...] = ()
    universe: str = "session"
    source: str = ""
    """The file or address that it was read from; empty for a thing said."""
    confidence: float = Field(default=1, ge=0, le=1)
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    """It is recalled until then."""


@event("suma.fact.stated.v1", MEMORY_EVENTS)
class FactStated(Event):
    """Keep this as true of a person from the time of this event on. A newer value of the same setting replaces it."""

    fact_id: str
    user: str
    text: str
    """The fact as a sentence."""
    subject: str = ""
    key: str = ""
    value: str = ""
    """The setting and its value; without them, the memory service reads them from `text`."""
    many: bool = False
    """Whether the value is true beside others of the same setting."""
    source: str = "person"
    """person | extraction | tool"""
    touched: Touched = Touched()
    """The marks of its sources. A turn that receives the fact takes them over."""
    scopes: tuple[str, ...] = ()


@event("suma.fact.forgotten.v1", MEMORY_EVENTS)
class FactsForgotten(Event):
    """Forget these facts of a person, with the history of their settings and what was derived from them."""

    facts: tuple[str, ...]
    user: str
    scopes: tuple[str, ...] = ()


@event("suma.memory.erase_requested.v1", MEMORY_EVENTS)
class MemoryEraseRequested(Event):
    """Erase all that is remembered of a person. It follows the events of the session whose key it has."""

    user: str
    scopes: tuple[str, ...] = ()


@event("suma.feedback.given.v1", MEMORY_EVENTS)
class FeedbackGiven(Event):
    """A rating of a subject: how useful it was, from -1 to 1."""

    subject: str
    score: float
    user: str
    scopes: tuple[str, ...] = ()
    comment: str = ""


@event("suma.outcome.recorded.v1", MEMORY_EVENTS)
class OutcomeRecorded(Event):
    """Add an attempt at a multimodal task to the outcomes of its capability (S3-20)."""

    tool_id: str
    provider: str
    step_type: str
    success: bool
    latency_ms: int
    quality: float | None = None
    """From 0 to 1; None if it was not judged."""
    cost_micros: int = 0
    """Millionths of a US dollar."""
