"""Search in the names and the text of files: by words (BM25) and by meaning (vectors), the two rankings fused, with
the passage that matched.

People look for one file. One that has all the words in its name is the one meant, then one that has them all in its
text; what has only a common word of several is not shown beside these.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from libs.retrieval.chunks import Strategy, chunks
from libs.retrieval.likeness import alike, sought, terms
from libs.retrieval.ports import Embedder
from libs.retrieval.rank import fuse
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
    """Files, best first, and the words of the search that no file has."""

    matches: tuple[ContentMatch, ...] = ()
    missing: tuple[str, ...] = ()


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

    async def find(self, query: str, top_k: int = 10, *, within: str = ".") -> Found:
        """Files under `within`, best first: by words, and where no file has one of them, by what is near in
        meaning.
        """
        inside = {key: passage for key, passage in self._passages.items() if under(passage.path, within)}
        search = _Search.of(query, inside)
        near = await self._by_meaning(query, inside)
        worded = search.by_words()
        shares = search.shares()
        best: dict[str, ContentMatch] = {}
        for found in fuse(list(worded), [key for key in near if key in worded or not worded]):
            passage = inside[found.id]
            score = shares.get(passage.path, near.get(found.id, 0.0))
            match = ContentMatch(passage.path, round(score, 4), search.excerpt(passage))
            if passage.path not in best or (match.excerpt and not best[passage.path].excerpt):
                best[passage.path] = match
        return Found(tuple(search.ranked(list(best.values()), shares)[:top_k]), search.missing)

    async def _by_meaning(self, query: str, inside: Mapping[str, Passage]) -> dict[str, float]:
        near = self._vectors.search(await self._embedder.embed_query(query), len(self._vectors))
        calibrated = {match.id: self._embedder.calibrate(match.score) for match in near if match.id in inside}
        return {key: score for key, score in calibrated.items() if score >= NEAR}


@dataclass(frozen=True, slots=True)
class _Search:
    """A search's words, and for each the words of the texts that it means."""

    passages: Mapping[str, Passage]
    meant: Mapping[str, Mapping[str, float]]
    weights: Mapping[str, float]
    """Of each word that is there: the rarer, the more."""

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
        return cls(passages, meant, weights)

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(term for term in self.meant if term not in self.weights)

    def by_words(self) -> dict[str, float]:
        """BM25 of each passage that has one of the words, best first."""
        holding = {key: passage for key, passage in self.passages.items() if self._has(passage)}
        mean = sum(passage.terms.total() for passage in holding.values()) / max(1, len(holding))
        scores = {key: self._bm25(passage, mean) for key, passage in holding.items()}
        return {key: scores[key] for key in sorted(scores, key=lambda key: (-scores[key], key))}

    def shares(self, *, names: bool = False) -> dict[str, float]:
        """For each file, the weighed share of the words that its name has, or its name and text."""
        held: dict[str, dict[str, float]] = {}
        for passage in self.passages.values():
            if passage.name or not names:
                file = held.setdefault(passage.path, {})
                for term in self.weights:
                    file[term] = max(file.get(term, 0.0), self._strength(term, passage))
        whole = sum(self.weights.values())
        told = {path: sum(self.weights[term] * much for term, much in file.items()) for path, file in held.items()}
        return {path: much / whole for path, much in told.items() if much}

    def ranked(self, found: list[ContentMatch], shares: Mapping[str, float]) -> list[ContentMatch]:
        """All words in the name, then all in the text, then most of them; a stable sort keeps the order within."""
        named = self.shares(names=True)
        least = TAIL * max((match.score for match in found), default=0.0)
        kept = [match for match in found if match.score >= least]

        def order(match: ContentMatch) -> tuple[bool, bool, float]:
            name, share = named.get(match.path, 0.0), shares.get(match.path, 0.0)
            return name < WHOLE, share < WHOLE, -(share + name / 2)

        return sorted(kept, key=order)

    def excerpt(self, passage: Passage) -> str:
        known = {term for meant in self.meant.values() for term in meant}
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


def excerpt(text: str, wanted: Collection[str], length: int = EXCERPT) -> str:
    """A window of the text around the first of these words, on one line; its beginning where none occurs."""
    flat = re.sub(r"\s+", " ", text).strip()
    at = next((found.start() for found in TOKEN.finditer(flat) if not {*terms(found.group())}.isdisjoint(wanted)), 0)
    start = max(0, min(at - length // 3, len(flat) - length))
    cut = flat[start : start + length].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + length < len(flat) else ''}"


def under(path: str, folder: str) -> bool:
    """Is it the folder, or in it at any depth?"""
    return folder in (".", path) or path.startswith(f"{folder}/")
