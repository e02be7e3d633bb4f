"""Summaries by extraction: the sentences of a text that say most of it, word for word and in their order.

A sentence is worth what its words are worth to the whole text (the centroid of Radev and others, 2004: a word that
many sentences share weighs more, a filler nothing), with a little for standing early, and less for saying what was
chosen already (maximal marginal relevance, Carbonell and Goldstein, 1998). The same text always gives the same
summary, and no word of it is ours.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from libs.retrieval.lexicon import FILLERS, Language
from libs.retrieval.regexes import regex
from libs.retrieval.words import TOKEN, fold, language_of

SENTENCES_MOST, LETTERS_MOST = 2_000, 1_000_000
"""Of a text; what comes later is not chosen from."""
SHORTEST, LONGEST = 3, 60
"""Words of a sentence that is worth repeating."""
EARLY, REPEATED = 0.3, 0.6
LANGUAGE_LETTERS = 5_000

_SAID: Mapping[Language, str] = {
    "en": "mr mrs ms dr prof sr jr st vs etc e.g i.e no vol fig approx dept est inc ltd co u.s a.m p.m",
    "de": "z.b d.h u.a bzw ca dr prof hr fr nr str usw etc evtl ggf inkl max min mio mrd vgl abs s.o s.u i.d.r o.ä",
    "es": "sr sra srta dr dra ud uds p.ej etc núm pág art av ee.uu aprox a.m p.m prof",
}
ABBREVIATIONS = {language: frozenset(said.split()) for language, said in _SAID.items()}
"""After these a full stop ends no sentence."""
END = regex(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)")
MARKUP = regex(r"^\s{0,3}(?:#{1,6}\s|[-*+]\s|\d{1,3}[.)]\s|>\s?)")
BREAK = regex(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Summary:
    """The chosen sentences in their order, and how many words and sentences the text has. Without sentences there was
    no text to choose from.
    """

    sentences: tuple[str, ...]
    words: int
    of: int
    complete: bool = True
    """False where the text was too long to be read to its end."""


def summarize(text: str, most: int = 5) -> Summary:
    """At most `most` sentences of the text."""
    found = list(islice(_sentences(text[:LETTERS_MOST]), SENTENCES_MOST))
    words = sum(1 for _ in TOKEN.finditer(text))
    once = {sentence: n for n, sentence in reversed(list(enumerate(found)))}
    told = [n for sentence, n in once.items() if SHORTEST <= len(TOKEN.findall(sentence)) <= LONGEST]
    terms = {n: _terms(found[n]) for n in sorted(told)}
    chosen = sorted(_chosen({n: said for n, said in terms.items() if said}, most))
    complete = len(text) <= LETTERS_MOST and len(found) < SENTENCES_MOST
    return Summary(tuple(found[n] for n in chosen), words, len(found), complete)


def sentences(text: str) -> list[str]:
    """The sentences of a text: paragraphs and the lines of lists end one; an abbreviation, an initial or a number
    does not.
    """
    return list(_sentences(text))


def _sentences(text: str) -> Iterator[str]:
    language = language_of(text[:LANGUAGE_LETTERS])
    for paragraph in BREAK.split(text):
        for block in _blocks(paragraph):
            yield from (sentence for sentence in _cut(block, language) if TOKEN.search(sentence))


def _blocks(paragraph: str) -> Iterator[str]:
    """Items of a list stand alone, other lines flow together; a heading is no sentence."""
    held: list[str] = []
    for line in paragraph.splitlines():
        mark = MARKUP.match(line)
        if mark:
            yield " ".join(held)
            held = []
        if not (mark and mark[0].lstrip().startswith("#")):
            held.append(line[mark.end() :].strip() if mark else line.strip())
    yield " ".join(held)


def _cut(block: str, language: Language) -> Iterator[str]:
    start = 0
    for end in END.finditer(block):
        if _ends(block, end.start(), end.end(), language):
            yield block[start : end.end()].strip()
            start = end.end()
    if block[start:].strip():
        yield block[start:].strip()


def _ends(block: str, stop: int, after: int, language: Language) -> bool:
    if block[stop] != "." or block[stop : stop + 2] == "..":
        return True
    before = block[max(0, stop - 20) : stop].split()
    word = before[-1].casefold().lstrip("(\"'„“«") if before else ""
    following = block[after : after + 20].lstrip()[:1]
    if word in ABBREVIATIONS[language] or (len(word) == 1 and word.isalpha()):
        return False
    # "am 3. Mai" is an ordinal.
    ordinal = language == "de" and word.isdigit() and len(word) < 3
    return not ordinal and not following.islower()


def _terms(sentence: str) -> Counter[str]:
    return Counter(word for word in TOKEN.findall(fold(sentence)) if len(word) > 2 and word not in _FILLERS)


_FILLERS = frozenset(word for fillers in FILLERS.values() for word in fillers.split())


def _chosen(terms: Mapping[int, Counter[str]], most: int) -> list[int]:
    spread = Counter(word for said in terms.values() for word in said)
    worth = {n: _worth(said, spread) for n, said in terms.items()}
    top = max(worth.values(), default=0.0) or 1.0
    last = max(terms, default=0) or 1
    score = {n: worth[n] / top + EARLY * (1 - n / last) for n in terms}
    chosen: list[int] = []
    told = dict.fromkeys(terms, 0.0)
    """How much of each sentence was said by one that is chosen."""
    while told and len(chosen) < most:
        best = max(told, key=lambda n: (score[n] - REPEATED * told[n], -n))
        del told[best]
        chosen.append(best)
        told = {n: max(said, _alike(terms[n], terms[best])) for n, said in told.items()}
    return chosen


def _worth(said: Counter[str], spread: Counter[str]) -> float:
    """What the words weigh in the text, by the root of the length, so that the longest do not always win."""
    return sum(math.log(1 + spread[word]) for word in said) / math.sqrt(len(said))


def _alike(said: Counter[str], other: Counter[str]) -> float:
    """The share of the words that the other has, too."""
    return len(said.keys() & other.keys()) / len(said)
