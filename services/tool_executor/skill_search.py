"""Which skills are meant by a few words (S4-59, skill-search): by what they say of themselves."""

from __future__ import annotations

from collections.abc import Sequence

from libs.retrieval import Embedder
from libs.retrieval.likeness import alike, sought, terms
from libs.skills import SkillDefinition

LEAST = 0.4
"""Below this nothing is worth showing."""


async def nearest(
    query: str, skills: Sequence[SkillDefinition], embedder: Embedder
) -> list[tuple[SkillDefinition, float]]:
    """The skills that come near the words, the nearest first, with a score from 0 to 1: the share of the words that one
    of the skill's sentences has, or how near its vector is, whichever is more.

    Raises `Unavailable` where the embedder is remote and cannot be reached.
    """
    told = [_told(skill) for skill in skills]
    rows = await embedder.embed_document([text for texts in told for text in texts])
    wanted = await embedder.embed_query(query)
    scored, at = [], 0
    for skill, texts in zip(skills, told, strict=True):
        cosines = rows[at : at + len(texts)] @ wanted
        at += len(texts)
        best = max(_share(query, text) for text in texts)
        scored.append((skill, max(best, embedder.calibrate(float(cosines.max())))))
    near = [(skill, round(score, 3)) for skill, score in scored if score >= LEAST]
    return sorted(near, key=lambda one: (-one[1], one[0].name))


def _told(skill: SkillDefinition) -> list[str]:
    """Its sentences; the phrases of its tools are how people ask for it."""
    own = f"{skill.name.replace('-', ' ')} {' '.join(skill.tags)}. {skill.description}"
    return [own, *(phrase for tool in skill.tools for phrase in (tool.description, *tool.phrases))]


def _share(query: str, text: str) -> float:
    asked, known = sought(query), dict.fromkeys(terms(text))
    return sum(bool(alike(term, known)) for term in asked) / len(asked) if asked else 0.0
