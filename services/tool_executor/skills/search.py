"""Skill search: the index of the skills' own texts, and the skill that a few words mean (S4-16, S4-46, S4-59)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from libs.search import GAP, LIKELY, Embedder, Matrix
from libs.search.words import meaning, telling, words
from libs.skills import SkillDefinition

LEAST = 0.4
"""The lowest score that is shown."""
KEPT_MOST = 200
"""Skills whose vectors are kept, of 3 KB for each text; others are embedded again when they are needed."""
Scored = tuple[SkillDefinition, float]


@dataclass(frozen=True, slots=True)
class _Embedded:
    texts: tuple[str, ...]
    vectors: Matrix


class SkillIndex:
    """The vectors of each skill's texts, by its folder. Only what has changed is embedded again; after a change of the
    model, everything (S4-17, S4-44).
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._model = embedder, embedder.name
        self._held: dict[Path, _Embedded] = {}

    async def nearest(self, query: str, skills: Sequence[SkillDefinition]) -> list[Scored]:
        """List the skills near a query, best first, with scores from 0 to 1.

        A score is the larger of two: the share of the query's words in one text of the skill, and its calibrated
        cosine. Raises `Unavailable` if the embedder is remote and does not answer.
        """
        held = await self._embedded(skills)
        wanted = await self._embedder.embed_query(query)
        scored = [(skill, self._score(query, held[skill.folder], wanted)) for skill in skills]
        near = [(skill, round(score, 3)) for skill, score in scored if score >= LEAST]
        return sorted(near, key=lambda one: (-one[1], one[0].name))

    def _score(self, query: str, one: _Embedded, wanted: Matrix) -> float:
        by_meaning = self._embedder.calibrate(float((one.vectors @ wanted).max()))
        return max(by_meaning, *(_share(query, text) for text in one.texts))

    async def _embedded(self, skills: Sequence[SkillDefinition]) -> dict[Path, _Embedded]:
        if self._embedder.name != self._model:
            self._held, self._model = {}, self._embedder.name
        described = {skill.folder: _texts(skill) for skill in skills}
        known = {folder: one for folder in described if (one := self._held.get(folder)) is not None}
        changed = [folder for folder, texts in described.items() if folder not in known or known[folder].texts != texts]
        rows = await self._embedder.embed_documents([text for folder in changed for text in described[folder]])
        at = 0
        for folder in changed:
            texts = described[folder]
            known[folder] = _Embedded(texts, rows[at : at + len(texts)])
            at += len(texts)
        self._held = dict([*({**self._held, **known}).items()][-KEPT_MOST:])
        return known


def choices(found: Sequence[Scored], threshold: float = LIKELY, gap: float = GAP) -> Sequence[SkillDefinition]:
    """Return the skills that a query may mean: one if it is sure, several if a person must choose, or none (S4-46).

    `found` is best first. The best must be above the threshold, and lead by more than the gap: a lead of exactly the
    gap asks.
    """
    if not found or found[0][1] <= threshold:
        return ()
    return [skill for skill, score in found if round(found[0][1] - score, 9) <= gap]


def _texts(skill: SkillDefinition) -> tuple[str, ...]:
    own = f"{skill.name.replace('-', ' ')} {' '.join(skill.tags)}. {skill.description}"
    return (own, *(text for tool in skill.tools for text in (tool.description, *tool.examples)))


def _share(query: str, text: str) -> float:
    asked, known = {meaning(word) for word in telling(query)}, {meaning(word) for word in words(text)}
    return len(asked & known) / len(asked) if asked else 0.0
