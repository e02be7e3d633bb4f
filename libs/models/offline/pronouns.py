"""Words that stand for what was said before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from libs.models.offline.clauses import Item, Named
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word

PRONOUNS = listed("it them these those they sie es diese dieses diesen davon la las lo los ellos ellas esos esas eso")


def points_back(words: Iterable[Word], pronouns: frozenset[str] = PRONOUNS) -> bool:
    return any(word.folded in pronouns for word in words)


INSIDE = listed("in into to onto inside within under nach zu en a al dentro de")
THERE = listed("therein hinein dorthin darin dort darein rein ahi alli dentro")


def a_place(items: Sequence[Item], word: Word) -> bool:
    """Does the pronoun stand for a place: "in it", "en ella"?"""
    at = next((n for n, item in enumerate(items) if item is word), 0)
    before = items[at - 1] if at else None
    return isinstance(before, Word) and before.folded in INSIDE


def the_things(items: Sequence[Item]) -> tuple[Word, ...]:
    """The words but for pronouns that stand for a place."""
    return tuple(
        item for item in items if not isinstance(item, Named) and not (item.folded in PRONOUNS and a_place(items, item))
    )
