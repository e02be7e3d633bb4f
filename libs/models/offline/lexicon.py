"""The closed vocabulary, read once: phrases by their words, longest first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Generic, TypeVar

import yaml

from libs.skills import LOADER

T = TypeVar("T")
PARTS = re.compile(r"\(([^)]*)\)|([^(]+)")
ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
FILE = Path(__file__).with_name("lexicon.yaml")


class Phrases(Generic[T]):
    """Phrases with their meanings. Finding one costs a few lookups, however many there are."""

    def __init__(self, meant: Mapping[str, T]) -> None:
        self._meant = {
            tuple(said.split()): meaning for phrase, meaning in meant.items() for said in expanded(phrase.lower())
        }
        self._longest = max(map(len, self._meant), default=0)
        self.words = frozenset(word for phrase in self._meant for word in phrase)

    def at(self, words: Sequence[str], place: int) -> tuple[int, T] | None:
        """Find the longest phrase that begins at `place`. Returns its number of words and its meaning."""
        for size in range(min(self._longest, len(words) - place), 0, -1):
            found = self._meant.get(tuple(words[place : place + size]))
            if found is not None:
                return size, found
        return None

    def all(self, words: Sequence[str]) -> T | None:
        """Return the meaning of exactly these words."""
        return self._meant.get(tuple(words))


def expanded(phrase: str) -> Iterator[str]:
    """Return every form of a template: `in (all|any) [of the] folders` has four."""
    parts = [option.split("|") if option else [plain] for option, plain in PARTS.findall(_bracketed(phrase))]
    return (" ".join("".join(said).split()) for said in product(*parts))


def _bracketed(phrase: str) -> str:
    """Turn optional words into a choice with an empty option."""
    return phrase.replace("[", "(|").replace("]", ")")


def singular(word: str) -> str:
    """`invoice` of `invoices`, `box` of `boxes`, `story` of `stories`."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


class Lexicon:
    """Every list of lexicon.yaml as phrases."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._said = said
        self.kinds: Phrases[tuple[str, ...]] = Phrases(dict(_kinds(said["kinds"])))
        self.order: Phrases[str] = Phrases({p: name for name, found in said["order"].items() for p in found})
        self.pronouns: Phrases[str] = Phrases({p: name for name, found in said["pronouns"].items() for p in found})
        self.sorted: Phrases[str] = Phrases(said["sorted"])
        self.units: Mapping[str, int] = said["units"]
        self.months: Mapping[str, int] = said["months"]
        self.numbers: Mapping[str, int] = said["numbers"]
        self.nouns: Mapping[str, str] = said["nouns"]
        self.aliases: Mapping[str, Sequence[str]] = said["aliases"]
        self.contractions: Mapping[str, str] = said["contractions"]
        self.symbols: Mapping[str, str] = said["symbols"]
        self.ordinals: Mapping[str, int] = said["ordinals"]
        self.grammar = frozenset(said["grammar"])
        self.named: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        """The words before a part of a name, and all that may follow it."""
        for phrase in said["named"]:
            for before, after in map(_around, expanded(phrase)):
                self.named.setdefault(before, []).append(after)
        self._lists = {
            name: Phrases(dict.fromkeys(found, True)) for name, found in said.items() if isinstance(found, list)
        }
        lists: tuple[Phrases[Any], ...] = (*self._lists.values(), self.order, self.pronouns, self.kinds)
        plain = (self.nouns, self.units, self.months, self.numbers, self.symbols, self.ordinals)
        self.words = frozenset().union(*(phrases.words for phrases in lists), *plain)
        """Every word of its lists: a word that is not in here may be a person's own."""

    def __getitem__(self, name: str) -> Phrases[bool]:
        return self._lists[name]

    def decides(self, word: str) -> bool:
        """Return whether a word counts, compares or negates, so that without it other files are meant."""
        counts = word in self.ordinals or self.number(word) is not None or ORDINAL.fullmatch(word) is not None
        return counts or any(self[name].at([word], 0) for name in ("except", "vocabulary", "limiting"))

    def number(self, word: str) -> int | None:
        """`3` or `three`."""
        if word.isdecimal() and len(word) < 6:
            return int(word)
        return self.numbers.get(word)


@cache
def lexicon() -> Lexicon:
    """Load the bundled lexicon."""
    return Lexicon(yaml.load(FILE.read_bytes(), LOADER))  # noqa: S506 - a safe loader


def _kinds(said: Mapping[str, str | Sequence[str]]) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Each noun and its plural: a category, or extensions with a dot."""
    for nouns, found in said.items():
        meant = (found,) if isinstance(found, str) else tuple(f".{extension}" for extension in found)
        for noun in nouns.split(", "):
            yield noun, meant
            yield f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("x") else f"{noun}s", meant


def _around(phrase: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    before, _, after = phrase.partition("{}")
    return tuple(before.split()), tuple(after.split())
