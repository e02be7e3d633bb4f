"""Rules over ranked matches: when the best one may be trusted, and how two rankings become one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from libs.retrieval.vectors import Match

THRESHOLD = 0.70
GAP = 0.05
"""S4-46: the top score must be above 0.70 and lead by more than 0.05; exactly 0.05 is not enough (A27)."""


def confident(matches: Sequence[Match], *, threshold: float = THRESHOLD, gap: float = GAP) -> bool:
    """Is the first of these ranked, calibrated matches clearly the one meant? One match alone has no rival to lead.

    Compared as the decimals that people read: as floats, 0.75 - 0.70 is greater than 0.05.
    """
    if not matches:
        return False
    top = _exact(matches[0].score)
    second = _exact(matches[1].score) if len(matches) > 1 else None
    return top > _exact(threshold) and (second is None or top - second > _exact(gap))


def fuse(*rankings: Sequence[str], weight: int = 60) -> tuple[Match, ...]:
    """Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): an id scores the sum of 1 / (60 + rank); ties by
    id.
    """
    scores: dict[str, Fraction] = {}
    for ranking in rankings:
        for place, id in enumerate(ranking, start=1):
            scores[id] = scores.get(id, Fraction(0)) + Fraction(1, weight + place)
    return tuple(Match(id, float(scores[id])) for id in sorted(scores, key=lambda id: (-scores[id], id)))


def _exact(score: float) -> Fraction:
    """Nine decimals: finer than any embedder means, coarser than a float's noise."""
    return Fraction(f"{score:.9f}")
