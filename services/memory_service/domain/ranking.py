"""Fusion of two rankings of the same memories by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from libs.search import fuse

BEST = 2 / 61
"""The reciprocal rank fusion score of a memory that is first in both rankings (1 / (60 + rank), each)."""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory with its rank by vector distance and its rank by shared words; None: not ranked."""

    id: str
    text: str
    kind: str
    created_at: datetime
    near: int | None
    worded: int | None
    similarity: float | None
    """The cosine with the query; None if another embedder made the vector."""
    overlap: float | None
    """The weight of the shared words; None if there are none."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A recalled memory. `score` is from 0 to 1; 1 is first by meaning and by words."""

    text: str
    score: float
    kind: str
    created_at: datetime


def best(found: Sequence[Found], top_k: int) -> tuple[Recalled, ...]:
    near = [memory.id for memory in sorted(found, key=lambda f: f.near or 0) if memory.near is not None]
    worded = [memory.id for memory in sorted(found, key=lambda f: f.worded or 0) if memory.worded is not None]
    by_id = {memory.id: memory for memory in found}
    matches = [(by_id[match.id], round(match.score / BEST, 4)) for match in fuse(near, worded)[:top_k]]
    return tuple(Recalled(memory.text, score, memory.kind, memory.created_at) for memory, score in matches)
