"""Summaries by extraction: the most informative sentences of a text, unchanged and in their order.

A sentence scores by the weight of its words in the whole text (the centroid of Radev and others, 2004), with a bonus
for an early position and a penalty for repeating a chosen sentence (maximal marginal relevance, Carbonell and
Goldstein, 1998). The same text always gives the same summary.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from libs.search.words import FILLERS, words

SENTENCES_MOST, LETTERS_MOST = 2_000, 1_000_000
"""Maximum sentences and letters of a text that are read."""
SHORTEST, LONGEST = 3, 60
"""Minimum and maximum words of a sentence that may be chosen."""
EARLY, REPEATED = 0.3, 0.6
_ABBREVIATIONS = "mr mrs ms dr prof sr jr st vs etc e.g i.e no vol fig approx dept est inc ltd co u.s a.m p.m"
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
"""Words whose full stop does not end a sentence."""
TOKEN = re.compile(r"\w+")
END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)")
"""Possessive, and only at the first sign, so that a line of dots takes linear time."""
MARKUP = re.compile(r"\s{0,3}(?:#{1,6}\s|[-*+]\s|\d{1,3}[.)]\s|>\s?)")
BREAK = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Summary:
    """The chosen sentences in their order, and the numbers of words and sentences of the whole text."""

    sentences: tuple[str, ...]
    words: int
    of: int
    complete: bool = True
    """False if the text was too long to be read to its end."""


def summarize(text: str, most: int = 5) -> Summary:
    """Choose at most `most` sentences of a text; none if it has no sentences."""
    found = list(islice(_sentences(text[:LETTERS_MOST]), SENTENCES_MOST))
    firsts = {sentence: n for n, sentence in reversed(list(enumerate(found)))}
    fit = sorted(n for sentence, n in firsts.items() if SHORTEST <= len(TOKEN.findall(sentence)) <= LONGEST)
    terms = {n: counted for n in fit if (counted := _terms(found[n]))}
    chosen = sorted(_chosen(terms, most))
    complete = len(text) <= LETTERS_MOST and len(found) < SENTENCES_MOST
    return Summary(tuple(found[n] for n in chosen), sum(1 for _ in TOKEN.finditer(text)), len(found), complete)


def sentences(text: str) -> list[str]:
    """Cut a text into sentences; a paragraph and a list item end one, an abbreviation or an initial does not."""
    return list(_sentences(text))


def _sentences(text: str) -> Iterator[str]:
    for paragraph in BREAK.split(text):
        for block in _blocks(paragraph):
            yield from (sentence for sentence in _cut(block) if TOKEN.search(sentence))


def _blocks(paragraph: str) -> Iterator[str]:
    """Yield list items one by one and join other lines; skip headings."""
    held: list[str] = []
    for line in paragraph.splitlines():
        mark = MARKUP.match(line)
        if mark:
            yield " ".join(held)
            held = []
        if not (mark and mark[0].lstrip().startswith("#")):
            held.append(line[mark.end() :].strip() if mark else line.strip())
    yield " ".join(held)


def _cut(block: str) -> Iterator[str]:
    start = 0
    for end in END.finditer(block):
        if ends(block, end.start(), end.end()):
            yield block[start : end.end()].strip()
            start = end.end()
    if block[start:].strip():
        yield block[start:].strip()


def ends(block: str, stop: int, after: int) -> bool:
    """Return whether the sign at `stop` ends a sentence; `after` follows it and its quotes."""
    if block[stop] != "." or block[stop : stop + 2] == "..":
        return True
    before = block[max(0, stop - 20) : stop].split()
    word = before[-1].casefold().lstrip("(\"'“") if before else ""
    if word in ABBREVIATIONS or (len(word) == 1 and word.isalpha()):
        return False
    return not block[after : after + 20].lstrip()[:1].islower()


def _terms(sentence: str) -> Counter[str]:
    return Counter(word for word in words(sentence) if len(word) > 2 and word not in FILLERS)


def _chosen(terms: Mapping[int, Counter[str]], most: int) -> list[int]:
    spread = Counter(word for counted in terms.values() for word in counted)
    worth = {n: _worth(counted, spread) for n, counted in terms.items()}
    top = max(worth.values(), default=0.0) or 1.0
    last = max(terms, default=0) or 1
    score = {n: worth[n] / top + EARLY * (1 - n / last) for n in terms}
    chosen: list[int] = []
    repeated = dict.fromkeys(terms, 0.0)
    """Share of each sentence that a chosen one already contains."""
    while repeated and len(chosen) < most:
        best = max(repeated, key=lambda n: (score[n] - REPEATED * repeated[n], -n))
        del repeated[best]
        chosen.append(best)
        repeated = {n: max(share, _overlap(terms[n], terms[best])) for n, share in repeated.items()}
    return chosen


def _worth(counted: Counter[str], spread: Counter[str]) -> float:
    """Divide by the root of the length, so that long sentences do not always win."""
    return sum(math.log(1 + spread[word]) for word in counted) / math.sqrt(len(counted))


def _overlap(counted: Counter[str], other: Counter[str]) -> float:
    return len(counted.keys() & other.keys()) / len(counted)
