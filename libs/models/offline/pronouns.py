"""Words that stand for what was said before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from libs.models.offline.clauses import KINDS, Item, Named
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word

PRONOUNS = listed(
    "it them these those they sie es diese dieses diesen davon la las lo los ellos ellas esos esas eso llamalo llamala"
    " ponle_de_nombre ponle_el_nombre new_name new_names neue_name neuen_namen nuevo_nombre nuevos_nombres"
)


def points_back(words: Iterable[Word], pronouns: frozenset[str] = PRONOUNS) -> bool:
    return any(word.folded in pronouns for word in words)


INSIDE = listed("in into to onto inside within under nach zu en a al dentro de from aus desde")
THERE = listed("therein hinein dorthin darin dort darein rein ahi alli dentro")


def a_place(items: Sequence[Item], word: Word) -> bool:
    """Does the pronoun stand for a place: "in it", "en ella"?"""
    at = next((n for n, item in enumerate(items) if item is word), 0)
    before = items[at - 1] if at else None
    return isinstance(before, Word) and before.folded in INSIDE


def from_there(items: Sequence[Item]) -> bool:
    """ "The CSVs from it", "die Bilder daraus": out of the folder that was just made."""
    for at, item in enumerate(items):
        if isinstance(item, Named):
            continue
        if item.folded == "daraus":
            return True
        before = items[at - 1] if at else None
        if isinstance(before, Word) and before.folded in OUT_OF and item.folded in THERE | PLACE_WORDS:
            return True
    return False


OUT_OF = listed("from in inside aus von de desde en")
PLACE_WORDS = listed("it there ihm dort ello ella alli ahi")


def the_things(items: Sequence[Item]) -> tuple[Word, ...]:
    """The words but for pronouns that stand for a place."""
    return tuple(
        item
        for item in items
        if not isinstance(item, Named) and not (item.folded in PRONOUNS and a_place(items, item))
        if not _an_article(items, item)
    )


ARTICLES = listed("la las lo los")


def _an_article(items: Sequence[Item], word: Word) -> bool:
    """ "Los tres presupuestos": a noun follows, or a number and a noun."""
    if word.folded not in ARTICLES:
        return False
    at = next((n for n, item in enumerate(items) if item is word), 0)
    joined = at > 0 and items[at - 1].end == word.start
    after = [item for item in items[at + 1 : at + 4] if not isinstance(item, Named)]
    noun = next((n for n, item in enumerate(after) if item.unknown or {"file", *KINDS} & {*item.concepts}), None)
    return not joined and noun is not None and all(item.filler for item in after[:noun])
