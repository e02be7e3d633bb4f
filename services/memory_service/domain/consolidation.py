"""Consolidation: which memories of a scope say the same, and which are linked (S3-06: sleep, nrem and rem)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from libs.search.words import words

SAME = 0.9
"""The least cosine of memories that are compared word for word."""
LINKED = 0.7
"""The least calibrated score of linked memories: a likely match (S4-46)."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A memory and one of the nearest earlier ones of its scope; without `other_id` there is none."""

    id: str
    created_at: datetime
    kind: str
    text: str
    other_id: str | None
    other_kind: str | None
    other_text: str | None
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The result of one batch: earlier memories with the later ones that they merge into, and links with likeness."""

    merged: Sequence[tuple[str, str]]
    linked: Sequence[tuple[str, str, float]]


def consolidate(pairs: Iterable[Pair], *, nrem: bool, rem: bool, calibrate: Callable[[float], float]) -> Consolidated:
    """Merge each memory into a later one of its kind that has the same words, and link the others that are near.

    The vectors only find candidates: an update of a memory differs in one word, and must not be lost.
    """
    merged: dict[str, str] = {}
    linked: list[tuple[str, str, float]] = []
    for pair in pairs:
        if pair.other_id is None or pair.other_text is None or pair.cosine is None:
            continue
        likeness = calibrate(pair.cosine)
        if _same(pair):
            if nrem:
                merged.setdefault(pair.other_id, pair.id)
        elif rem and likeness > LINKED:
            linked.append((pair.id, pair.other_id, likeness))
    gone = merged.keys()
    return Consolidated(tuple(merged.items()), [each for each in linked if gone.isdisjoint(each[:2])])


def _same(pair: Pair) -> bool:
    same_words = words(pair.text) == words(pair.other_text or "")
    return pair.kind == pair.other_kind and (pair.cosine or 0.0) >= SAME and same_words
