"""The rows that the memory service writes: one class for each paragraph of `apply.sql`."""

from __future__ import annotations

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


@row(SCHEMA, "fact.put")
class FactPut(Row):
    """A fact of a person; repeating it updates its time."""

    fact_id: str
    user_id: str
    key: str
    value: str
    source: str


@row(SCHEMA, "fact.forget")
class FactForgotten(Row):
    """The facts of a key, or the one of a key and value, which are deleted."""

    user_id: str
    key: str
    value: str | None


@row(SCHEMA, "feedback.add")
class FeedbackAdded(Row):
    """Feedback of a person, written once."""

    feedback_id: str
    user_id: str
    session_id: str | None
    subject: str
    score: float
    comment: str
