"""Reciprocal rank fusion: one ranking out of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Match:
    """An id and its score."""

    id: str
    score: float


def fuse(*rankings: Sequence[str], weight: int = 60) -> tuple[Match, ...]:
    """Score each id by the sum of 1 / (60 + rank), best first; ties are ordered by id.

    Cormack, Clarke and Büttcher, 2009.
    """
    scores: dict[str, Fraction] = {}
    for ranking in rankings:
        for place, id in enumerate(ranking, start=1):
            scores[id] = scores.get(id, Fraction(0)) + Fraction(1, weight + place)
    return tuple(Match(id, float(scores[id])) for id in sorted(scores, key=lambda id: (-scores[id], id)))
