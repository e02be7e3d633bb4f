"""Which memories fit a question: those that answer it at all, those of the time it names, and the newer of two.

The numbers were chosen on the tuned split of the retrieval set (`make bench-memory`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from libs.search import Match, Source
from libs.search.words import meaning, telling, words
from services.memory_service.domain.periods import Period, period
from services.memory_service.domain.ranking import Found, Recalled

LEAST = 0.2
"""The least fit of a memory that is used: 95 of 100 right ones reach it, whatever the embedder."""
ONE_SUBJECT = 0.25
"""The share of words that two statements on one subject have in common. The older one keeps its place in the answer
behind the newer: likeness is no proof of a contradiction."""
TIMELY = 0.5
"""The part of its score that a memory gains if it is of the period that the question names."""
TIME, NEWER = "time", "newer"


def fits(question: str, found: Sequence[Found], calibrate: Callable[[float], float]) -> dict[str, float]:
    """Return for each memory from 0 to 1 how well it fits: by its cosine, or by the share of the question's words.

    Unlike a score, it does not depend on the other memories, so nothing may fit.
    """
    asked = _meanings(telling(question))
    return {one.id: round(max(calibrate(_cosine(one)), _share(asked, _meanings(words(one.text)))), 4) for one in found}


def _cosine(memory: Found) -> float:
    # Without a vector of the question it is not a number.
    return memory.similarity or 0.0 if memory.near is not None else 0.0


def _share(asked: frozenset[str], said: frozenset[str]) -> float:
    return len(asked & said) / max(1, len(asked))


def timely(matches: Sequence[Match], found: Sequence[Found], question: str, today: date) -> tuple[Match, ...]:
    """Return the matches, those of the period first that a question about the past names."""
    named, made = period(question, today), {one.id: one.created_at for one in found}
    if named is None or named == Period():
        return tuple(matches)
    raised = [_raised(match) if named.holds(made[match.id]) else match for match in matches]
    return tuple(sorted(raised, key=lambda match: (-match.score, match.id)))


def _raised(match: Match) -> Match:
    gain = match.score * TIMELY
    return replace(match, score=match.score + gain, sources=(*match.sources, Source(TIME, 0, gain)))


def newest_first(matches: Sequence[Match], found: Sequence[Found], question: str, today: date) -> tuple[Match, ...]:
    """Put the newer of two statements on one subject before the older, unless only the older has all words of the
    question.

    They exchange their scores as well. A question about the past leaves the order as it is.
    """
    if period(question, today) is not None:
        return tuple(matches)
    by_id, asked = {one.id: one for one in found}, _meanings(telling(question))
    said = {match.id: _meanings(telling(by_id[match.id].text)) for match in matches}

    def replaces(one: str, other: str) -> bool:
        newer, answers = by_id[one].created_at > by_id[other].created_at, said[one] >= asked or not said[other] >= asked
        return newer and answers and _on_one_subject(said[one], said[other])

    ordered: list[Match] = []
    for match in matches:
        place = next((at for at, other in enumerate(ordered) if replaces(match.id, other.id)), len(ordered))
        ordered.insert(place, match)
    return tuple(_moved(match, before.score) for match, before in zip(ordered, matches, strict=True))


def _moved(match: Match, score: float) -> Match:
    if score == match.score:
        return match
    return replace(match, score=score, sources=(*match.sources, Source(NEWER, 0, score - match.score)))


def outdated(memories: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """Name for each memory a newer one on the same subject, if there is one."""
    said = {one.id: _meanings(telling(one.text)) for one in memories}
    return tuple(
        replace(one, newer=next((other.id for other in memories if _follows(other, one, said)), None))
        for one in memories
    )


def _follows(one: Recalled, other: Recalled, said: Mapping[str, frozenset[str]]) -> bool:
    return one.created_at > other.created_at and _on_one_subject(said[one.id], said[other.id])


def _on_one_subject(one: frozenset[str], other: frozenset[str]) -> bool:
    # The same words say the same.
    return one != other and len(one & other) >= ONE_SUBJECT * len(one | other)


def _meanings(said: Sequence[str]) -> frozenset[str]:
    return frozenset(map(meaning, said))
