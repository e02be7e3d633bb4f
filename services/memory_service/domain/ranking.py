"""Two rankings of the same memories made one, by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from libs.retrieval import fuse

BEST = 2 / 61
"""What reciprocal rank fusion gives to the first of both rankings (1 / (60 + rank), each)."""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory with its place among the nearest and among those that share words; None: not among them."""

    id: str
    text: str
    kind: str
    created_at: datetime
    near: int | None
    worded: int | None


@dataclass(frozen=True, slots=True)
class Recalled:
    """`score` is from 0 to 1: 1 is the first by meaning and by words."""

    text: str
    score: float
    kind: str
    created_at: datetime


def best(found: Sequence[Found], top_k: int) -> tuple[Recalled, ...]:
    near = [memory.id for memory in sorted(found, key=lambda f: f.near or 0) if memory.near is not None]
    worded = [memory.id for memory in sorted(found, key=lambda f: f.worded or 0) if memory.worded is not None]
    by_id = {memory.id: memory for memory in found}
    return tuple(_scored(by_id[match.id], match.score) for match in fuse(near, worded)[:top_k])


def _scored(memory: Found, score: float) -> Recalled:
    return Recalled(memory.text, round(score / BEST, 4), memory.kind, memory.created_at)
