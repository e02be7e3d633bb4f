"""The rows that the memory service writes: one class for each paragraph of `apply.sql`."""

from __future__ import annotations

from datetime import datetime

from libs.changes import Row, row

SCHEMA = "memory"


@row(SCHEMA, "memory.add")
class MemoryAdded(Row):
    """A memory with its vector (pgvector's sparse text format); its id with other content conflicts."""

    memory_id: str
    user_id: str
    session_id: str | None
    universe: str
    kind: str
    text: str
    embedder: str
    embedding: str
    turn_id: str | None = None


@row(SCHEMA, "fact.put")
class FactPut(Row):
    """A statement about a setting of a person, at the time of its event; the same id changes nothing."""

    fact_id: str
    user_id: str
    subject: str
    key: str
    value: str
    many: bool
    source: str
    confidence: float
    valid_from: datetime
    event_id: str | None
    turn_id: str | None
    session_id: str | None
    private: bool
    untrusted: bool
    secret: bool


@row(SCHEMA, "fact.forget")
class FactForgotten(Row):
    """A fact that becomes a tombstone, with the history of its setting."""

    user_id: str
    fact_id: str
    at: datetime


@row(SCHEMA, "feedback.add")
class FeedbackAdded(Row):
    """Feedback of a person, written once."""

    feedback_id: str
    user_id: str
    session_id: str | None
    subject: str
    score: float
    comment: str


@row(SCHEMA, "memory.forget")
class MemoryForgotten(Row):
    """A memory of a person, which is deleted."""

    user_id: str
    memory_id: str


@row(SCHEMA, "person.erase")
class PersonErased(Row):
    """A person, of whom nothing is remembered any more."""

    user_id: str
