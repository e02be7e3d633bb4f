"""The requests and answers of the memory routes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import StringConstraints

from services.gateway.http.models import RequestModel, ResponseModel
from services.gateway.sessions.knowledge import Ranking

KEY_MOST, VALUE_MOST, SUBJECT_MOST = 80, 2_000, 120


class FactShown(ResponseModel):
    """A fact about the caller, with where it comes from and for how long it was true."""

    id: str
    subject: str
    """`me` for the caller."""
    key: str
    value: str
    many: bool
    """Whether it is true beside other values of its setting."""
    state: Literal["active", "superseded", "invalidated"]
    source: str
    """person | extraction | tool"""
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    turn_id: str | None
    session_id: str | None
    untrusted: bool
    """Whether it rests on untrusted content, such as a page of the web."""
    updated_at: datetime


class FactList(ResponseModel):
    facts: tuple[FactShown, ...]


class FactStated(RequestModel):
    """A statement of the caller about a setting. It replaces what was known of it."""

    subject: Annotated[str, StringConstraints(min_length=1, max_length=SUBJECT_MOST)] = "me"
    key: Annotated[str, StringConstraints(min_length=1, max_length=KEY_MOST)]
    value: Annotated[str, StringConstraints(min_length=1, max_length=VALUE_MOST)]


class Forgotten(ResponseModel):
    forgotten: int


class MemoryShown(ResponseModel):
    """A memory of the caller, with its session."""

    id: str
    text: str
    kind: str
    universe: str
    session_id: str | None
    turn_id: str | None
    source: str
    """The file or address that it was read from; empty for a thing said."""
    confidence: float
    created_at: datetime


class MemoryList(ResponseModel):
    memories: tuple[MemoryShown, ...]
    next: str | None
    """The `before` of the next page."""


class RecalledShown(ResponseModel):
    """A memory that bears on a query. `sources` explain its score."""

    id: str
    text: str
    kind: str
    score: float
    created_at: datetime
    turn_id: str | None
    source: str
    """The file or address that it was read from; empty for a thing said."""
    confidence: float
    newer: str | None
    """A newer memory on the same subject, which may have replaced what this one says."""
    sources: tuple[Ranking, ...]


class RecalledList(ResponseModel):
    """Memories that bear on a query. `waiting` counts the caller's unconsolidated memories, up to 1,000."""

    memories: tuple[RecalledShown, ...]
    waiting: int
    lagging: bool
    """Some vectors are of an earlier embedder, so meaning counts for less until they are replaced."""


class TurnMemory(ResponseModel):
    """A memory that a turn was planned with. `sources` explain its score of that time."""

    id: str
    text: str | None
    """Null for a memory that was forgotten since, or that is another person's."""
    score: float
    sources: tuple[Ranking, ...]


class TurnMemories(ResponseModel):
    turn_id: str
    memories: tuple[TurnMemory, ...]


class HeldCounts(ResponseModel):
    """The number of rows that are kept of the caller, by table."""

    tables: Mapping[str, int]


class Erasure(ResponseModel):
    """An erasure that has begun. It ends once `GET /v1/memory/held` counts nothing."""

    erasure_id: str
