"""Skill search: find the skills that fit a few words, by their own descriptions (S4-59)."""

from __future__ import annotations

from collections.abc import Sequence

from libs.search import Embedder
from libs.search.words import meaning, telling, words
from libs.skills import SkillDefinition

LEAST = 0.4
"""The lowest score that is shown."""


async def nearest(
    query: str, skills: Sequence[SkillDefinition], embedder: Embedder
) -> list[tuple[SkillDefinition, float]]:
    """List the skills near a query, best first, with scores from 0 to 1.

    A score is the larger of two: the share of the query's words in one text of the skill, and its calibrated cosine.
    Raises `Unavailable` if the embedder is remote and does not answer.
    """
    described = [_texts(skill) for skill in skills]
    rows = await embedder.embed_documents([text for texts in described for text in texts])
    wanted = await embedder.embed_query(query)
    scored, at = [], 0
    for skill, texts in zip(skills, described, strict=True):
        cosines = rows[at : at + len(texts)] @ wanted
        at += len(texts)
        best = max(_share(query, text) for text in texts)
        scored.append((skill, max(best, embedder.calibrate(float(cosines.max())))))
    near = [(skill, round(score, 3)) for skill, score in scored if score >= LEAST]
    return sorted(near, key=lambda one: (-one[1], one[0].name))


def _texts(skill: SkillDefinition) -> list[str]:
    own = f"{skill.name.replace('-', ' ')} {' '.join(skill.tags)}. {skill.description}"
    return [own, *(text for tool in skill.tools for text in (tool.description, *tool.examples))]


def _share(query: str, text: str) -> float:
    asked, known = {meaning(word) for word in telling(query)}, {meaning(word) for word in words(text)}
    return len(asked & known) / len(asked) if asked else 0.0
