"""Fusion: one ranking out of several, with the share of each; a second opinion on it; a choice without repetition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from libs.search.ports import Reranker

WEIGHT = 60
"""Cormack, Clarke and Büttcher, 2009: it limits what the first places of one ranking can do."""


@dataclass(frozen=True, slots=True)
class Source:
    """A ranking that has a match: the place there, from 1, and what it contributes to the score."""

    name: str
    rank: int
    contribution: float


@dataclass(frozen=True, slots=True)
class Match:
    """An id and its score from 0 to 1; 1 is first in every ranking. The contributions of the sources add up to it."""

    id: str
    score: float
    sources: tuple[Source, ...]


def fuse(rankings: Mapping[str, Sequence[str]], *, keep: Callable[[str], bool] = lambda id: True) -> tuple[Match, ...]:
    """Score each id that `keep` accepts by the sum of 1 / (60 + rank), best first; ties are ordered by id.

    The rankings have names; each lists an id at most once. An id that is left out takes no place in them.
    """
    found: dict[str, list[tuple[str, int]]] = {}
    for name, ranking in rankings.items():
        for rank, id in enumerate(filter(keep, ranking), start=1):
            found.setdefault(id, []).append((name, rank))
    exact = {id: sum(_share(rank, len(rankings)) for _, rank in places) for id, places in found.items()}
    return tuple(
        Match(id, float(exact[id]), tuple(Source(name, rank, _points(rank, len(rankings))) for name, rank in found[id]))
        for id in sorted(exact, key=lambda id: (-exact[id], id))
    )


def _share(rank: int, rankings: int) -> Fraction:
    # Exact: the order of ties must not depend on the order of a sum.
    return Fraction(WEIGHT + 1, (WEIGHT + rank) * rankings)


def _points(rank: int, rankings: int) -> float:
    return float(_share(rank, rankings))


async def rerank(
    query: str, matches: Sequence[Match], texts: Mapping[str, str], reranker: Reranker
) -> tuple[Match, ...]:
    """Order matches by a reranker's scores, which replace their own.

    Raises:
        Unavailable: the reranker does not answer; the matches can be used as they are.
    """
    scores = await reranker.rerank(query, [texts[match.id] for match in matches])
    ordered = sorted(zip(matches, scores, strict=True), key=lambda pair: (-pair[1], pair[0].id))
    return tuple(
        replace(match, score=score, sources=(*match.sources, Source("reranker", rank, score)))
        for rank, (match, score) in enumerate(ordered, start=1)
    )


def diversify(
    matches: Sequence[Match], alike: Callable[[str, str], float], most: int, *, balance: float
) -> tuple[Match, ...]:
    """Choose at most `most` matches, each for its score and against its likeness to those chosen before.

    Maximal marginal relevance (Carbonell and Goldstein, 1998). `alike` compares two ids, from 0 to 1; `balance` is the
    weight of the score, from 0 to 1. Takes at most `most` comparisons for each match.
    """
    left = {match.id: match for match in matches}
    likeness = dict.fromkeys(left, 0.0)
    chosen: list[Match] = []
    while left and len(chosen) < most:
        best = min(left, key=lambda id: ((1 - balance) * likeness[id] - balance * left[id].score, id))
        chosen.append(left.pop(best))
        if len(chosen) < most:
            likeness = {id: max(likeness[id], alike(id, best)) for id in left}
    return tuple(chosen)
