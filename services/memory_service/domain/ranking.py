"""Fusion of two rankings of the same memories by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from libs.search import Match, Source, diversify, fuse
from libs.search.words import words

VECTORS, WORDS = "vectors", "words"
BALANCE = 0.5
"""The weight of a score against repetition: with a half, a repeated memory comes after all others."""


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
    """A recalled memory. `score` is from 0 to 1; 1 is first by meaning and by words. `sources` explain it."""

    text: str
    score: float
    kind: str
    created_at: datetime
    sources: tuple[Source, ...]


def fused(found: Sequence[Found]) -> tuple[Match, ...]:
    """Return the memories by both rankings, best first."""
    near = [one.id for one in sorted(found, key=lambda one: one.near or 0) if one.near is not None]
    worded = [one.id for one in sorted(found, key=lambda one: one.worded or 0) if one.worded is not None]
    return fuse({VECTORS: near, WORDS: worded})


def best(found: Sequence[Found], matches: Sequence[Match], top_k: int) -> tuple[Recalled, ...]:
    """Return the best matches; a memory with the same words as a better one comes after all others."""
    by_id = {one.id: one for one in found}
    said = {match.id: frozenset(words(by_id[match.id].text)) for match in matches}

    def alike(one: str, other: str) -> float:
        # Not by degrees: facts about one subject share most words, and an update differs in one. That would cost 2 to
        # 10 points of recall at 5 (make bench-memory).
        return float(said[one] == said[other])

    chosen = diversify(matches, alike, top_k, balance=BALANCE)
    return tuple(_recalled(by_id[match.id], match) for match in chosen)


def _recalled(memory: Found, match: Match) -> Recalled:
    return Recalled(memory.text, round(match.score, 4), memory.kind, memory.created_at, match.sources)
