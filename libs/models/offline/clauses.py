"""A request cut into clauses: the values that every reader of it shares.

A clause is words and names, each with its place in the text, and one wish.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import cast

from libs.models.offline.measures import Filters
from libs.retrieval.lexicon import CATEGORIES, FAMILIES, Language, listed
from libs.retrieval.words import Word

ACTIONS = listed(
    "remove organize report list find move copy rename create change clean foreign greeting capability howmany summary"
    " parse explain whatis prefix suffix lower upper titlecase snake swap number pack unpack undo inside"
)
"""What a clause may want done."""
KINDS = (*CATEGORIES, *FAMILIES)
"""The kinds of files that have a word of their own."""

JUNK = listed("empty tempfiles litterfiles lockfiles partfiles")
"""Each of these is one sort of what people clear away: joined, they are never one sort that is all of them."""

AND = frozenset(("and", "adn", "nad", "und", "y", "e", "plus", "also", "sowie", "ademas"))
BUT = frozenset(("but", "aber", "pero", "sondern", "sino"))
BY = listed("by with for durch gegen mit por con to into in zu a")
"""One of these stands between a text and what takes its place."""
OR = frozenset(("or", "oder", "o", "nor", "noch", "ni"))


class Name(StrEnum):
    """What a name set apart looks like."""

    PATH = "path"
    GLOB = "glob"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Named:
    """A name in the text, with its place there."""

    kind: Name
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Measure(Word):
    """Words that mean a size or a time: read already, and grammar to everything else."""

    filters: Filters = field(default_factory=dict, hash=False)


Item = Word | Named


class Mood(StrEnum):
    """What a clause wants."""

    DO = "do"
    NEVER = "never"
    SPARE = "spare"
    """Leave this alone, whatever else is done."""
    ONLY = "only"
    """Do all of it to nothing but this."""
    TOLD = "told"
    """Asks for nothing: what somebody says of files, and may be what "them" stands for."""


@dataclass(frozen=True)
class Clause:
    """A part of the request with one wish. `joined` is what stood before it: a comma, `and`, `or`, or nothing."""

    items: tuple[Item, ...]
    mood: Mood = Mood.DO
    joined: str = ""
    links: frozenset[int] = frozenset()
    """Where its parts begin: items on both sides of one are listed, not told by one another."""
    ors: frozenset[int] = frozenset()
    """Those of them that an "or" leads."""

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return tuple(item for item in self.items if isinstance(item, Word))

    @cached_property
    def names(self) -> tuple[Named, ...]:
        return tuple(item for item in self.items if isinstance(item, Named))

    @property
    def filters(self) -> dict[str, int | str | bool]:
        """The sizes and times that it names; where two speak of the same bound, the narrower holds."""
        told: dict[str, int | str | bool] = {}
        for measure in (item for item in self.items if isinstance(item, Measure)):
            told = both(told, measure.filters)
        return told

    @cached_property
    def concepts(self) -> frozenset[str]:
        return frozenset(concept for word in self.words for concept in word.concepts)

    def says(self, *concepts: str) -> bool:
        return not self.concepts.isdisjoint(concepts)

    @property
    def acts(self) -> bool:
        return not self.concepts.isdisjoint(ACTIONS)

    def joins(self, other: Clause) -> Clause:
        items = tuple(sorted((*self.items, *other.items), key=lambda item: item.start))
        return replace(self, items=items, links=self.links | other.links, ors=self.ors | other.ors)

    @cached_property
    def exchanged(self) -> tuple[Named, ...]:
        """The text and what takes its place, where one little word stands between them: "KV" by "Q"."""
        for old, word, new in zip(self.items, self.items[1:], self.items[2:], strict=False):
            quotes = isinstance(old, Named) and isinstance(new, Named) and old.kind is new.kind is Name.QUOTE
            if quotes and isinstance(word, Word) and word.folded in BY:
                return cast(Named, old), cast(Named, new)
        return ()

    def without(self, items: Iterable[Item]) -> Clause:
        out = tuple(items)
        return replace(self, items=tuple(item for item in self.items if item not in out))

    def groups(self, items: Iterable[Item]) -> list[list[Item]]:
        """Its items, or some of them, apart where the sentence lists them: "the invoices", "and the photos"."""
        told: dict[int, list[Item]] = {}
        for item in items:
            told.setdefault(sum(link <= item.start for link in self.links), []).append(item)
        return list(told.values())


@dataclass(frozen=True, slots=True)
class Reading:
    """A request, read. Clauses come in the order of the text."""

    text: str
    language: Language
    clauses: tuple[Clause, ...]
    asked: str = ""
    """The text without names and talk, in its old length."""
    torn: bool = False
    """Was something taken back, and it is not plain what?"""
    whether: tuple[str, ...] = ()
    """What it depends on and nothing here can check, as it was written."""
    plain: str = ""
    """The text as its clauses were read from it: with its idioms put plainly, in its old length."""

    def sentence(self, clause: Clause) -> str:
        """All that was asked from the beginning of the sentence that has the clause's deed."""
        deeds = [word.start for word in clause.words if not ACTIONS.isdisjoint(word.concepts)]
        start = min(deeds or [item.start for item in clause.items])
        begin = max((self.asked.rfind(mark, 0, start) for mark in ".!?;:\n"), default=-1) + 1
        return self.asked[begin:]

    def wishes(self, mood: Mood) -> tuple[Clause, ...]:
        return tuple(clause for clause in self.clauses if clause.mood is mood)

    def says(self, concept: str) -> bool:
        return any(clause.says(concept) for clause in self.clauses)


def both(one: Mapping[str, int | str | bool], other: Filters) -> dict[str, int | str | bool]:
    """The bounds of two measures at once: of the same bound the narrower holds."""
    narrower = {"larger_than": max, "modified_after": max, "smaller_than": min, "modified_before": min}
    told = dict(one)
    for name, value in other.items():
        told[name] = narrower[name](told[name], value) if name in told and name in narrower else value
    return told
