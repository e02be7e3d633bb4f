"""Search in the names and the text of files: by words (BM25) and by meaning (vectors), the two rankings fused, with
the passage that matched.

People look for one file. One that has the words as they were said, one after the other, is the one meant; then one
that has them all in its name, then one that has them all in its text. What has but one of several is not shown beside
these. Words in double quotes are a phrase: where files have it, no others are shown.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from libs.retrieval.chunks import Strategy, chunks
from libs.retrieval.likeness import FORM, alike, sought, terms
from libs.retrieval.ports import Embedder
from libs.retrieval.rank import fuse
from libs.retrieval.regexes import regex
from libs.retrieval.vectors import VectorStore
from libs.retrieval.words import TOKEN

K1, B = 1.2, 0.75
"""BM25's usual constants (Robertson and Zaragoza, 2009)."""
EXCERPT = 160
NEAR = 0.4
"""Calibrated score from which a passage counts as near in meaning."""
TAIL = 0.38
"""What has less than this share of the best file's words is not shown."""
FOLDER = 0.5
"""A word of a folder's name, beside one of the file's own."""
WHOLE = 0.7
"""A file with all words, be some of them slips, has at least this share."""
QUOTED = regex(r'"([^"]+)"')
EITHER = regex(r"\w\W+(?:or|oder|o)\W+\w", re.IGNORECASE)
"""Between two words of a search: one of them is enough."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk of one file, or its name."""

    path: str
    text: str
    terms: Counter[str] = field(repr=False)
    name: bool = False
    above: frozenset[str] = frozenset()
    """Of a name, the words that only its folders have: these say less."""


@dataclass(frozen=True, slots=True)
class ContentMatch:
    """A file, its score from 0 to 1, and the passage that matched best; none where the name did."""

    path: str
    score: float
    excerpt: str


@dataclass(frozen=True, slots=True)
class Found:
    """Files, best first, the words and quoted phrases of the search that no file has, and what has fewer of them."""

    matches: tuple[ContentMatch, ...] = ()
    missing: tuple[str, ...] = ()
    fewer: tuple[str, ...] = ()
    """Files that have one of the words, where those that have more were found; the best first."""
    elsewhere: tuple[str, ...] = ()
    """Files that were not asked about and have all of the words; the best first."""


class ContentIndex:
    """Texts by path. Not safe for two writers at once; the executor keeps one per workspace."""

    def __init__(self, embedder: Embedder, *, strategy: Strategy = "fixed", size: int = 512) -> None:
        self._embedder = embedder
        self._strategy: Strategy = strategy
        self._size = size
        self._passages: dict[str, Passage] = {}
        self._keys: dict[str, list[str]] = {}
        self._vectors = VectorStore(embedder.dims)

    async def put(self, texts: Mapping[str, str]) -> None:
        """Add these files, or replace what was known of them."""
        for path, text in texts.items():
            self.remove(path)
            cut = chunks(text, strategy=self._strategy, size=self._size)
            named = " ".join(terms(path))
            rows = await self._embedder.embed_document([named, *cut])
            self._keys[path] = [f"{path}#{n}" for n in range(len(cut) + 1)]
            self._passages |= {
                key: Passage(
                    path, piece, Counter(terms(piece)), name=n == 0, above=_above(path) if n == 0 else frozenset()
                )
                for n, (key, piece) in enumerate(zip(self._keys[path], (named, *cut), strict=True))
            }
            self._vectors.put(dict(zip(self._keys[path], rows, strict=True)))

    def remove(self, path: str) -> None:
        for key in self._keys.pop(path, ()):
            del self._passages[key]
            self._vectors.remove(key)

    async def find(
        self, query: str, top_k: int = 10, *, within: str = ".", keep: Callable[[str], bool] = lambda path: True
    ) -> Found:
        """Files under `within` that are to be kept, best first: by words, and where no file has one of them, by what
        is near in meaning.
        """
        kept = {path for path in self._keys if under(path, within) and keep(path)}
        inside = {key: passage for key, passage in self._passages.items() if passage.path in kept}
        search = _Search.of(query, inside)
        near = await self._by_meaning(query, inside)
        worded = search.by_words()
        held, said = search.held(), search.said()
        shares = search.shares(held)
        best: dict[str, Passage] = {}
        scores: dict[str, float] = {}
        for found in fuse(list(worded), [key for key in near if key in worded or not worded]):
            passage = inside[found.id]
            if passage.path not in best or (best[passage.path].name and not passage.name):
                best[passage.path] = passage
                scores[passage.path] = round(shares.get(passage.path, near.get(found.id, 0.0)), 4)
        first = search.ranked(scores, held, said)[:top_k]
        shown = (said[path].excerpt() if path in said else search.excerpt(best[path]) for path in first)
        matches = (ContentMatch(path, scores[path], text) for path, text in zip(first, shown, strict=True))
        return Found(tuple(matches), search.missing(said), search.fewer(scores, held, said))

    async def _by_meaning(self, query: str, inside: Mapping[str, Passage]) -> dict[str, float]:
        near = self._vectors.search(await self._embedder.embed_query(query), len(self._vectors))
        calibrated = {match.id: self._embedder.calibrate(match.score) for match in near if match.id in inside}
        return {key: score for key, score in calibrated.items() if score >= NEAR}


Forms = frozenset[str]
"""The words of a text that are one word of the search."""
Held = Mapping[str, Mapping[str, float]]
"""By file and word of the search."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Words that were said one after the other, each in the forms that it may have."""

    text: str
    words: tuple[Forms, ...]

    @classmethod
    def of(cls, text: str, meant: Mapping[str, Mapping[str, float]]) -> _Phrase:
        """Little words count within a phrase, and not around it."""
        said = terms(text)
        telling = [at for at, term in enumerate(said) if term in meant]
        inner = said[telling[0] : telling[-1] + 1] if telling else []
        return cls(text, tuple(_forms(term, meant) for term in inner))

    @classmethod
    def pairs(cls, text: str, meant: Mapping[str, Mapping[str, float]]) -> tuple[_Phrase, ...]:
        """Of more than two words, each two that stand together: "second photographer" in "… in the contracts"."""
        said = terms(text)
        told = [(one, other) for one, other in pairwise(said) if one in meant and other in meant]
        longer = sum(term in meant for term in said) > 2
        return tuple(cls(" ".join(two), tuple(_forms(term, meant) for term in two)) for two in told if longer)


def _forms(term: str, meant: Mapping[str, Mapping[str, float]]) -> Forms:
    return frozenset({term, *(known for known, much in meant.get(term, {}).items() if much >= FORM)})


@dataclass(frozen=True, slots=True)
class _Said:
    """Which phrases a file has, and the part of its text with the first of them; none where its name alone has it."""

    phrases: frozenset[str]
    text: str
    first: _Phrase | None

    def excerpt(self) -> str:
        return excerpt(self.text, *self.first.words) if self.first is not None else ""


@dataclass(frozen=True, slots=True)
class _Search:
    """A search's words, and for each the words of the texts that it means."""

    passages: Mapping[str, Passage]
    meant: Mapping[str, Mapping[str, float]]
    weights: Mapping[str, float]
    """Of each word that is there: the rarer, the more."""
    quoted: tuple[_Phrase, ...]
    whole: _Phrase
    """All that was said."""
    pairs: tuple[_Phrase, ...]
    either: bool = False
    """Is each of the words as good as all of them?"""

    @classmethod
    def of(cls, query: str, passages: Mapping[str, Passage]) -> _Search:
        vocabulary = dict.fromkeys(term for passage in passages.values() for term in passage.terms)
        meant = {term: alike(term, vocabulary) for term in sought(query)}
        files = {passage.path for passage in passages.values()}
        weights = {}
        for term, known in meant.items():
            holders = {passage.path for passage in passages.values() if known.keys() & passage.terms.keys()}
            if holders:
                weights[term] = _rarity(len(holders), len(files))
        quoted = tuple(_Phrase.of(said, meant) for said in QUOTED.findall(query))
        several = tuple(phrase for phrase in quoted if len(phrase.words) > 1)
        either = EITHER.search(QUOTED.sub(" x ", query)) is not None
        return cls(passages, meant, weights, several, _Phrase.of(query, meant), _Phrase.pairs(query, meant), either)

    def missing(self, said: Mapping[str, _Said]) -> tuple[str, ...]:
        """The words that no file has, and the quoted phrases of words that are there, though not together."""
        words = [term for term in self.meant if term not in self.weights]
        held = {text for one in said.values() for text in one.phrases}
        apart = [phrase.text for phrase in self.quoted if phrase.text not in held]
        return (*words, *(text for text in apart if {*words}.isdisjoint(terms(text))))

    def by_words(self) -> dict[str, float]:
        """BM25 of each passage that has one of the words, best first."""
        holding = {key: passage for key, passage in self.passages.items() if self._has(passage)}
        mean = sum(passage.terms.total() for passage in holding.values()) / max(1, len(holding))
        scores = {key: self._bm25(passage, mean) for key, passage in holding.items()}
        return {key: scores[key] for key in sorted(scores, key=lambda key: (-scores[key], key))}

    def held(self, *, names: bool = False) -> Held:
        """For each file, how surely its name has each of the words, or its name and text."""
        held: dict[str, dict[str, float]] = {}
        for passage in self.passages.values():
            if passage.name or not names:
                file = held.setdefault(passage.path, {})
                for term in self.weights:
                    file[term] = max(file.get(term, 0.0), self._strength(term, passage))
        return held

    def shares(self, held: Held) -> dict[str, float]:
        """For each file, the weighed share of the words that it has."""
        whole = sum(self.weights.values())
        told = {path: sum(self.weights[term] * much for term, much in file.items()) for path, file in held.items()}
        return {path: much / whole for path, much in told.items() if much}

    def said(self) -> dict[str, _Said]:
        """The files that have a quoted phrase, or else all that was said in its order, or two words of it."""
        sought = self.quoted or ((self.whole, *self.pairs) if len(self.whole.words) > 1 else ())
        files: dict[str, list[Passage]] = {}
        for passage in self.passages.values() if sought else ():
            files.setdefault(passage.path, []).append(passage)
        told = {path: _said(file, sought) for path, file in files.items()}
        return {path: one for path, one in told.items() if one.phrases}

    def ranked(self, scores: Mapping[str, float], held: Held, said: Mapping[str, _Said]) -> list[str]:
        """As it was said, then all words in the name, then all in the text, and of these those that have some as they
        were said, then most of them; a stable sort keeps the order within.
        """
        shares, named = self.shares(held), self.shares(self.held(names=True))
        least = 0.0 if self.either else TAIL * max(scores.values(), default=0.0)
        better = self._better(held, said)

        def order(path: str) -> tuple[int, bool, bool, int, float]:
            name, share = named.get(path, 0.0), shares.get(path, 0.0)
            phrases = said[path].phrases if path in said else frozenset()
            whole = len(phrases) if self.quoted else self.whole.text in phrases
            return -whole, name < WHOLE, share < WHOLE, -len(phrases), -(share + name / 2)

        kept = (path for path, score in scores.items() if score >= least and (not better or path in better))
        return sorted(kept, key=order)

    def fewer(self, scores: Mapping[str, float], held: Held, said: Mapping[str, _Said]) -> tuple[str, ...]:
        """What has one of the words and was left out, since others have more; of a quoted phrase there is no part."""
        better = () if self.quoted else self._better(held, said)
        return tuple(sorted((path for path in scores if better and path not in better), key=lambda path: -scores[path]))

    def _better(self, held: Held, said: Mapping[str, _Said]) -> Collection[str]:
        """What alone is worth showing: a quoted phrase, or more than one of several words that some file has all of."""
        if self.either:
            return ()
        if self.quoted and said:
            return said
        counts = {path: sum(much > 0 for much in file.values()) for path, file in held.items()}
        whole = len(self.weights) > 1 and len(self.weights) in counts.values()
        return {path for path, count in counts.items() if count > 1} if whole else ()

    def excerpt(self, passage: Passage) -> str:
        known = frozenset(term for meant in self.meant.values() for term in meant)
        return "" if passage.name else excerpt(passage.text, known)

    def _has(self, passage: Passage) -> bool:
        return any(known.keys() & passage.terms.keys() for known in self.meant.values())

    def _strength(self, term: str, passage: Passage) -> float:
        held = ((known, much) for known, much in self.meant[term].items() if known in passage.terms)
        return max((much * (FOLDER if known in passage.above else 1) for known, much in held), default=0.0)

    def _bm25(self, passage: Passage, mean: float) -> float:
        longer = 1 - B + B * passage.terms.total() / mean
        counts = {term: sum(passage.terms[known] for known in self.meant[term]) for term in self.weights}
        return sum(self.weights[term] * count * (K1 + 1) / (count + K1 * longer) for term, count in counts.items())


def _above(path: str) -> frozenset[str]:
    folders, _, name = path.rpartition("/")
    return frozenset(terms(folders)) - frozenset(terms(name))


def _rarity(holders: int, passages: int) -> float:
    return math.log(1 + (passages - holders + 0.5) / (holders + 0.5))


def _said(file: Sequence[Passage], phrases: Sequence[_Phrase]) -> _Said:
    """A name is its first passage; a phrase may go over from one passage of the text to the next."""
    name, *text = file
    windows = [*pairwise(text)] if len(text) > 1 else [(one,) for one in text]
    inside = {phrase: place for phrase in phrases if (place := _stands(windows, phrase)) is not None}
    held = {phrase.text for phrase in phrases if phrase in inside or _stands([(name,)], phrase) is not None}
    return _Said(frozenset(held), next(iter(inside.values()), ""), next(iter(inside), None))


def _stands(windows: Iterable[Sequence[Passage]], phrase: _Phrase) -> str | None:
    """The first of these texts in which it stands."""
    for window in windows:
        if all(any(not forms.isdisjoint(passage.terms) for passage in window) for forms in phrase.words):
            text = " ".join(passage.text for passage in window)
            told = terms(text)
            heads = (at for at, term in enumerate(told) if term in phrase.words[0])
            if any(_follow(told[at : at + len(phrase.words)], phrase.words) for at in heads):
                return text
    return None


def _follow(told: Sequence[str], words: Sequence[Forms]) -> bool:
    return len(told) == len(words) and all(term in forms for term, forms in zip(told, words, strict=True))


def _places(text: str, words: Sequence[Forms]) -> Iterator[int]:
    """Where these words stand one after the other."""
    told = [(found.start(), term) for found in TOKEN.finditer(text) for term in terms(found.group())]
    for at in range(len(told)):
        if _follow([term for _, term in told[at : at + len(words)]], words):
            yield told[at][0]


def excerpt(text: str, *wanted: Forms, length: int = EXCERPT) -> str:
    """A window of the text around the first place where such words stand one after the other, on one line; its
    beginning where they never do.
    """
    flat = re.sub(r"\s+", " ", text).strip()
    at = next(_places(flat, wanted), 0)
    start = max(0, min(at - length // 3, len(flat) - length))
    cut = flat[start : start + length].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + length < len(flat) else ''}"


def under(path: str, folder: str) -> bool:
    """Is it the folder, or in it at any depth?"""
    return folder in (".", path) or path.startswith(f"{folder}/")
