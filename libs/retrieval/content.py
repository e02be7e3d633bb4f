"""Search in the text of files: by words (BM25) and by meaning (vectors), the two rankings fused, with the passage
that matched.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from libs.retrieval.chunks import Strategy, chunks
from libs.retrieval.ports import Embedder
from libs.retrieval.rank import fuse
from libs.retrieval.vectors import VectorStore
from libs.retrieval.words import TOKEN, fold

K1, B = 1.2, 0.75
"""BM25's usual constants (Robertson and Zaragoza, 2009)."""
EXCERPT = 160
NEAR = 0.4
"""Calibrated score from which a passage without a common word still counts as found."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk of one file."""

    path: str
    text: str
    terms: Counter[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ContentMatch:
    """A file, its score from 0 to 1, and the passage that matched best."""

    path: str
    score: float
    excerpt: str


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
            rows = await self._embedder.embed_document(cut)
            self._keys[path] = [f"{path}#{n}" for n in range(len(cut))]
            self._passages |= {
                key: Passage(path, piece, Counter(_terms(piece)))
                for key, piece in zip(self._keys[path], cut, strict=True)
            }
            self._vectors.put(dict(zip(self._keys[path], rows, strict=True)))

    def remove(self, path: str) -> None:
        for key in self._keys.pop(path, ()):
            del self._passages[key]
            self._vectors.remove(key)

    async def search(self, query: str, top_k: int = 10, *, within: str = ".") -> tuple[ContentMatch, ...]:
        """Files under `within`, best first. A file is found by a common word, or by a passage that is near in
        meaning.
        """
        inside = {key: passage for key, passage in self._passages.items() if _under(passage.path, within)}
        worded = _by_words(query, inside)
        meant = await self._by_meaning(query, inside)
        best: dict[str, ContentMatch] = {}
        for found in fuse(list(worded), list(meant)):
            passage = inside[found.id]
            score = max(worded.get(found.id, 0.0), meant.get(found.id, 0.0))
            best.setdefault(passage.path, ContentMatch(passage.path, round(score, 4), excerpt(passage.text, query)))
        return tuple(list(best.values())[:top_k])

    async def _by_meaning(self, query: str, inside: Mapping[str, Passage]) -> dict[str, float]:
        near = self._vectors.search(await self._embedder.embed_query(query), len(self._vectors))
        calibrated = {match.id: self._embedder.calibrate(match.score) for match in near if match.id in inside}
        return {key: score for key, score in calibrated.items() if score >= NEAR}


def _by_words(query: str, passages: Mapping[str, Passage]) -> dict[str, float]:
    """BM25, best first; a score is the share of the query's words that occur, scaled by how the passage ranks."""
    asked = set(_terms(query))
    holding = {key: passage for key, passage in passages.items() if asked & passage.terms.keys()}
    if not holding:
        return {}
    mean = sum(passage.terms.total() for passage in passages.values()) / len(passages)
    rarity = {
        term: _rarity(sum(term in passage.terms for passage in holding.values()), len(passages)) for term in asked
    }
    scores = {key: _bm25(passage, rarity, mean) for key, passage in holding.items()}
    top = max(scores.values())
    shares = {key: _share(asked, holding[key]) * score / top for key, score in scores.items()}
    return dict(sorted(shares.items(), key=lambda item: (-scores[item[0]], item[0])))


def _bm25(passage: Passage, rarity: Mapping[str, float], mean: float) -> float:
    longer = 1 - B + B * passage.terms.total() / mean
    counts = {term: passage.terms[term] for term in rarity}
    return sum(rarity[term] * count * (K1 + 1) / (count + K1 * longer) for term, count in counts.items() if count)


def _rarity(holders: int, passages: int) -> float:
    return math.log(1 + (passages - holders + 0.5) / (holders + 0.5))


def excerpt(text: str, query: str, length: int = EXCERPT) -> str:
    """A window of the text around the first word of the query, on one line; its beginning where no word occurs."""
    flat = re.sub(r"\s+", " ", text).strip()
    asked = set(_terms(query))
    at = next((found.start() for found in TOKEN.finditer(flat) if fold(found.group()) in asked), 0)
    start = max(0, min(at - length // 3, len(flat) - length))
    cut = flat[start : start + length].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + length < len(flat) else ''}"


def _terms(text: str) -> Sequence[str]:
    return TOKEN.findall(fold(text))


def _share(asked: set[str], passage: Passage) -> float:
    return sum(1 for term in asked if passage.terms[term]) / len(asked)


def _under(path: str, folder: str) -> bool:
    return folder in (".", path) or path.startswith(f"{folder}/")
