"""The rows that the memory service writes: one class for each paragraph of `apply.sql`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from libs.changes import Row

SCHEMA = "memory"


@dataclass(frozen=True, slots=True)
class MemoryAdded(Row):
    """A memory with its vector (pgvector's sparse text format); its id with other content conflicts."""

    into: ClassVar = (SCHEMA, "memory.add")

    memory_id: str
    user_id: str
    session_id: str | None
    universe: str
    kind: str
    text: str
    embedder: str
    embedding: str


@dataclass(frozen=True, slots=True)
class FactPut(Row):
    """A fact of a person; repeating it updates its time."""

    into: ClassVar = (SCHEMA, "fact.put")

    fact_id: str
    user_id: str
    key: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class FactForgotten(Row):
    """The facts of a key, or the one of a key and value, which are deleted."""

    into: ClassVar = (SCHEMA, "fact.forget")

    user_id: str
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class FeedbackAdded(Row):
    """Feedback of a person, written once."""

    into: ClassVar = (SCHEMA, "feedback.add")

    feedback_id: str
    user_id: str
    session_id: str | None
    subject: str
    score: float
    comment: str
