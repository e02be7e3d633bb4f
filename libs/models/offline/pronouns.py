"""Words that stand for what was said before."""

from __future__ import annotations

from collections.abc import Iterable

from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word

PRONOUNS = listed("it them these those they sie es diese dieses diesen davon la las lo los ellos ellas esos esas eso")


def points_back(words: Iterable[Word], pronouns: frozenset[str] = PRONOUNS) -> bool:
    return any(word.folded in pronouns for word in words)
