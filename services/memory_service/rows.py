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
    bits: str
    """The vector's code, in hexadecimal digits."""
    event_id: str | None
    turn_id: str | None
    source: str | None
    """None: nothing more than its event."""
    valid_from: datetime | None
    valid_to: datetime | None
    confidence: float | None
    """None: certain."""


@row(SCHEMA, "memory.embed")
class MemoryEmbedded(Row):
    """A memory with another embedder's vector; nothing, if it has no vector of `was` any more."""

    memory_id: str
    was: str
    embedder: str
    embedding: str
    bits: str


@row(SCHEMA, "memory.code")
class MemoryCoded(Row):
    """A memory that an index lacks, with its list and code."""

    memory_id: str
    list: int
    bits: str


@row(SCHEMA, "index.make")
class IndexMade(Row):
    """An index of a scope: its centroids (pgvector's text format), and the words that too many memories have."""

    number: int
    centroids: tuple[str, ...]
    common: tuple[str, ...]


@row(SCHEMA, "index.ready")
class IndexReady(Row):
    """An index that is complete, with the number of lists that a search reads."""

    number: int
    probes: int


@row(SCHEMA, "scope.leave")
class ScopesLeft(Row):
    """The scopes of other embedders that have no memories any more."""

    embedder: str


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
    """A fact that becomes a tombstone, with the history of its setting; `turn_id` is the turn that asks for it."""

    user_id: str
    fact_id: str
    at: datetime
    turn_id: str | None = None


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


@row(SCHEMA, "outcome.add")
class OutcomeAdded(Row):
    """One more attempt with a capability."""

    tool_id: str
    provider: str
    step_type: str
    success: bool
    latency_ms: int
    quality: float | None
    cost_micros: int
