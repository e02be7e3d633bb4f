"""Fusion of two rankings of the same memories by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from libs.search import Match, Source, diversify, fuse
from libs.search.words import words
from services.memory_service.domain.modulators import Modulators

_DEFAULT = Modulators()
VECTORS, WORDS, RECENT, LINKS = "vectors", "words", "recent", "links"


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
    turn_id: str | None
    source: str
    valid_from: datetime
    confidence: float


@dataclass(frozen=True, slots=True)
class Recalled:
    """A recalled memory. A `score` of 1 is first by meaning and by words; feedback moves it by at most 0.15, and a time
    that the question names by a half.

    `sources` explain it.
    """

    id: str
    text: str
    score: float
    kind: str
    created_at: datetime
    sources: tuple[Source, ...]
    turn_id: str | None = None
    source: str = ""
    """The file or address that it was read from, if any."""
    valid_from: datetime | None = None
    confidence: float = 1
    fit: float = 1.0
    """How well it fits the question, from 0 to 1, whatever else is remembered."""
    newer: str | None = None
    """A newer memory on the same subject, which may have replaced what this one says."""


def fused(found: Sequence[Found], modulators: Modulators = _DEFAULT) -> tuple[Match, ...]:
    """Return the memories by both rankings, best first; on the alert, by their time as well."""
    near = [one.id for one in sorted(found, key=lambda one: one.near or 0) if one.near is not None]
    worded = [one.id for one in sorted(found, key=lambda one: one.worded or 0) if one.worded is not None]
    recent = [one.id for one in sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)]
    return fuse({VECTORS: near, WORDS: worded, **({RECENT: recent} if modulators.alertness_boost else {})})


def best(
    found: Sequence[Found], matches: Sequence[Match], top_k: int, modulators: Modulators = _DEFAULT
) -> tuple[Recalled, ...]:
    """Return the best matches; a memory with the same words as a better one comes after all others."""
    by_id = {one.id: one for one in found}
    said = {match.id: frozenset(words(by_id[match.id].text)) for match in matches}

    def alike(one: str, other: str) -> float:
        # Not by degrees: facts about one subject share most words, and an update differs in one. That would cost 2 to
        # 10 points of recall at 5 (make bench-memory). Only exploration asks for it.
        return float(said[one] == said[other]) or modulators.novelty * _shared(said[one], said[other])

    chosen = diversify(matches, alike, top_k, balance=modulators.balance)
    return tuple(_recalled(by_id[match.id], match) for match in chosen)


@dataclass(frozen=True, slots=True)
class Linked:
    """A memory that sleep linked with a recalled one."""

    id: str
    text: str
    kind: str
    created_at: datetime
    likeness: float


def with_linked(chosen: Sequence[Recalled], linked: Sequence[Linked], most: int) -> tuple[Recalled, ...]:
    """Return the chosen memories and the linked ones, which take the last places of `most`."""
    kept = tuple(chosen)[: max(1, most - len(linked))]
    least, fit = kept[-1].score, kept[-1].fit
    return kept + tuple(
        Recalled(one.id, one.text, score, one.kind, one.created_at, (Source(LINKS, rank, score),), fit=fit)
        for rank, one in enumerate(linked, start=1)
        if (score := round(least * one.likeness, 4))
    )


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _recalled(memory: Found, match: Match) -> Recalled:
    return Recalled(
        memory.id,
        memory.text,
        round(match.score, 4),
        memory.kind,
        memory.created_at,
        match.sources,
        memory.turn_id,
        memory.source,
        memory.valid_from,
        memory.confidence,
    )
