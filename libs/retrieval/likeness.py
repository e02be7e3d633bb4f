"""When a word of a search means a word of a text: the same word, another form of it, a part of a compound, a slip of
the keyboard, or a synonym of the lexicon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from libs.retrieval.lexicon import CATEGORIES, CONCEPTS
from libs.retrieval.regexes import regex
from libs.retrieval.words import concepts_of, fold, one_slip, words

EXACT, FORM, SYNONYM, PART, SLIP = 1.0, 0.95, 0.8, 0.8, 0.7
"""How much of a word each likeness is."""
ENDINGS = ("innen", "ies", "es", "en", "er", "em", "ed", "ing", "s", "n", "e", "a", "o", "as", "os")
SPELLINGS = str.maketrans({"ß": "ss"})
NAMED = 0.75
"""A file whose name has at least this much of what is looked for is the one that is meant."""
TERM = regex(r"[^\W\d_]+|\d+")
"""A word or a number: `IMG_2043v2` has four."""
LEAST_STEM, LEAST_PART, LEAST_SLIP = 3, 5, 5


def terms(text: str) -> list[str]:
    """The words and numbers of a text, of a path too: `GasBill_2024` is "gas bill 2024"."""
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])", " ", text)
    return TERM.findall(fold(apart.translate(SPELLINGS)))


def sought(query: str) -> list[str]:
    """The words of a search that carry meaning; all of them where none does."""
    telling = [word for word in words(query) if not word.filler]
    found = [term for word in telling or words(query) for term in terms(word.text)]
    return list(dict.fromkeys(found))


def alike(term: str, vocabulary: Mapping[str, object]) -> dict[str, float]:
    """The words of the vocabulary that this one means, and how surely. A slip is the last reading: where the word or a
    form of it is there, it is none.
    """
    found = {known: FORM for known in vocabulary if _same_stem(term, known)}
    found |= {known: SYNONYM for known in synonyms(term) if known in vocabulary and known not in found}
    if term in vocabulary:
        found[term] = EXACT
    if not found and len(term) >= LEAST_PART:
        found = {known: PART for known in vocabulary if _part(term, known)}
    if not found and len(term) >= LEAST_SLIP and term.isalpha():
        found = {known: SLIP for known in vocabulary if known[0] == term[0] and one_slip(known, term)}
    return found


@lru_cache(maxsize=1024)
def synonyms(term: str) -> frozenset[str]:
    """Other words for the kinds of files, in any language: "Fotos" and "pictures"."""
    kinds = [concept for concept in concepts_of(term) if concept in CATEGORIES]
    return frozenset(form for kind in kinds for spoken in CONCEPTS[kind].values() for form in spoken.split())


def _same_stem(one: str, other: str) -> bool:
    if one[0] != other[0] or abs(len(one) - len(other)) > max(map(len, ENDINGS)):
        return False
    return not _stems(one).isdisjoint(_stems(other))


@lru_cache(maxsize=100_000)
def _stems(term: str) -> frozenset[str]:
    """The word, and what is left of it without an ending; umlauts written out are umlauts."""
    if not term.isalpha():
        return frozenset((term,))
    plain = re.sub(r"(?<=[aou])e(?=[^aeiou])", "", term)
    return frozenset(stem for spelt in (term, plain) for stem in _cut(spelt))


def _cut(term: str) -> Iterator[str]:
    yield term
    for end in ENDINGS:
        stem = term.removesuffix(end)
        if stem != term and len(stem) >= LEAST_STEM:
            yield stem


def _part(term: str, known: str) -> bool:
    """Of a compound: "Frist" in "Kündigungsfrist", and the other way round."""
    short, long = sorted((term, known), key=len)
    return len(short) >= LEAST_PART and short in long


def nearest(sought: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The files whose names have most of these words, where that is nearly all of them that any name has."""
    named = {path: frozenset(terms(path)) for path in paths}
    vocabulary = dict.fromkeys(term for held in named.values() for term in held)
    meant = {term: alike(term, vocabulary) for term in sought}
    held = {term: known for term, known in meant.items() if known}
    if not held:
        return []
    shares = {
        path: sum(
            max((much for one, much in known.items() if one in held_by_it), default=0.0) for known in held.values()
        )
        for path, held_by_it in named.items()
    }
    best = max(shares.values())
    return [path for path, share in shares.items() if share == best] if best >= NAMED * len(held) else []
