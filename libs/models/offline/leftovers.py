"""What of a wish no step of its plan uses. It is said back before anything changes: nothing that somebody says is
dropped silently.

A word is used where the arguments of the goal's own steps hold it, or hold what it stands for: a time its bound, an
order its `order`. Words of kinds and deeds have chosen the tool and its patterns already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from libs.models.offline.clauses import ACTIONS, Clause, Item, Measure, Name, Named, Reading
from libs.models.offline.drafting import Draft
from libs.models.offline.grouping import BY_DATE
from libs.models.offline.mentioned import POINTING
from libs.models.offline.numerals import NUMBERS
from libs.models.offline.paths import file_like
from libs.models.offline.quantities import criteria
from libs.retrieval.lexicon import listed
from libs.retrieval.likeness import alike, terms
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, words

ORDERED = listed("order keep base")
USED_BY: Mapping[str, frozenset[str]] = {
    "date": listed("dated written order"),
    "empty": listed("empty type"),  # "an empty folder" is made
    "duplicate": listed("groups strategy"),
    "wellnamed": listed("keep"),
    "shortest": ORDERED,
    "newest": ORDERED,
    "oldest": ORDERED,
    "largest": ORDERED,
    "smallest": ORDERED,
}
"""By what a word of choice is used: the parameters that stand for it."""
CONDITION = regex(
    r"(?<!\w)(?:whose|(?<=\ws )where|(?:for|from|to|by|with)\s+(?:whom|which)"
    r"|(?<=\w )(?:they|he|she)\s+(?:never|have\s?n['’]?t|has\s?n['’]?t|did\s?n['’]?t)|(?<=\w )(?:nobody|no\s+one)"
    r"|(?:bei|zu|von|auf|mit|für|nach)\s+denen|deren|dessen"
    r"|cuy[oa]s?|(?:a|con|de|en|para|por)\s+(?:l[oa]s\s+que|quien(?:es)?)|(?<=s )donde)"
    r"(?:\s+(?!(?:and|und|y|to|into|nach|ins|a)\s)[^\s,.;:!?]+){2,}",
    re.IGNORECASE,
)
""" "The orders where they've not paid the deposit", "die Angebote, bei denen keiner mehr antwortet"."""
BOUNDS = listed("empty containing lacking modified_after modified_before larger_than smaller_than")


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Compares what was said with the steps that came of it."""

    params: Mapping[str, Any]
    """All that the steps were given."""
    held: Mapping[str, object]
    """The words in it."""

    @classmethod
    def of(cls, steps: Sequence[Draft]) -> Leftovers:
        given = {param: value for step in steps for param, value in step.args.items() if value is not None}
        said = (text for step in steps for value in step.args.values() for text in _texts(value))
        return cls(given, dict.fromkeys(term for text in said for term in terms(text)))

    def spans(self, clause: Clause, text: str) -> list[str]:
        """What is left of a clause, as it was written, each with the little words that lead up to it."""
        left = {id(item) for item in clause.items if self._left(item, clause)}
        left |= {id(item) for item in _pointing(clause)}
        told = [item for item in clause.items if item.end > item.start]
        runs = groupby(told, key=lambda item: id(item) in left or _little(item))
        held = (list(run) for little, run in runs if little)
        return [_written(run, left, text, told) for run in held if any(id(item) in left for item in run)]

    def conditions(self, text: str) -> list[str]:
        """What says of which files it is, of which nothing is in the steps."""
        if not self.params.keys().isdisjoint(BOUNDS):
            return []
        said = (found.group().strip() for found in CONDITION.finditer(text))
        return [one for one in said if not any(alike(term, self.held) for term in terms(one))]

    def _left(self, item: Item, clause: Clause) -> bool:
        if isinstance(item, Measure):
            return not item.filters.keys() <= self.params.keys()
        if isinstance(item, Named):
            # A folder that is where we work is in no argument, and a pattern may be spelt in many ways.
            told = item.kind is Name.QUOTE or (item.kind is Name.PATH and file_like(item))
            return told and self.held.keys().isdisjoint(terms(item.text))
        if item.filler:
            return False
        if item in criteria(clause):
            return self.params.keys().isdisjoint(USED_BY["date"]) and self.params.get("by") not in BY_DATE
        if item.folded.startswith("original") or "copy" in item.concepts:
            return False  # what is packed or copied, and nothing that is chosen
        if uses := [USED_BY[concept] for concept in item.concepts if concept in USED_BY]:
            return all(self.params.keys().isdisjoint(use) for use in uses)
        return item.unknown and not self._holds(item)

    def _holds(self, word: Word) -> bool:
        counts = word.text.isdigit() and "base" in self.params  # "a_01, 02 and so on"
        return counts or bool(extension_of(word.folded)) or all(alike(term, self.held) for term in terms(word.text))


def _pointing(clause: Clause) -> list[Word]:
    """ "(Delete) those two and the PDFs": so many of what nobody has named, before other files in a list."""
    groups = [[item for item in group if not _deed(item)] for group in clause.groups(clause.items)]
    alone = [group for group in groups if group and all(isinstance(item, Word) and _points(item) for item in group)]
    said = [item for group in alone for item in group if isinstance(item, Word)]
    first = min((item.start for group in groups for item in group if item not in said), default=0)
    forms = {word.folded for word in said if word.end <= first}
    return said if forms & COUNTS and forms & POINTING and len(groups) > len(alone) else []


COUNTS = listed("both beide beiden ambos ambas") | {form for n in range(2, 13) for form in NUMBERS.get(n, "").split()}


def _deed(item: Item) -> bool:
    return isinstance(item, Word) and not ACTIONS.isdisjoint(item.concepts)


def _points(word: Word) -> bool:
    return not isinstance(word, Measure) and (word.filler or word.folded in POINTING | COUNTS)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _little(item: Item) -> bool:
    return isinstance(item, Word) and item.filler and not isinstance(item, Measure)


def _written(run: Sequence[Item], left: set[int], text: str, told: Sequence[Item]) -> str:
    """What was put plainly is shorter than it was written, and ends where the next word begins."""
    last = next(item for item in reversed(run) if id(item) in left)
    end = last.end
    if isinstance(last, Word) and text[last.start : end] != last.text:
        end = min((item.start for item in told if item.start >= end), default=len(text))
    return text[run[0].start : end].strip(" ,.;:!?")


AFTER_JUNK = regex(r"\s*(?:,(?=\s)|(?<!\w)(?:and|und|y)(?!\w))", re.IGNORECASE)
""" "The junk windows leaves and …": what is listed on is something else; behind a colon it would say what junk is."""


def swallowed(reading: Reading) -> list[str]:
    """What is to go by its worth alone, and is in no clause because plainer things are listed with it."""
    said = {item.start for clause in reading.clauses for item in clause.items}
    told = words(reading.text)
    deeds = [n for n, word in enumerate(told) if "remove" in word.concepts]
    objects = (next((word for word in told[at + 1 :] if not word.filler), None) for at in deeds)
    junk = [word for word in objects if word is not None and "junk" in word.concepts and word.start not in said]
    ends = ((word.start, AFTER_JUNK.search(reading.text, word.end)) for word in junk)
    return [reading.text[start : end.start()] for start, end in ends if end is not None]
