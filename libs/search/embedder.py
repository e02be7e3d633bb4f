"""The offline embedder: synonyms, words and letter n-grams, hashed into 768 numbers. It needs no network."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from libs.search.ports import DIMS, Matrix, Vector
from libs.search.words import FILLERS, meaning, words

MEANING, WORD, NGRAM = 1.0, 0.6, 0.12
"""The weight of each kind of feature."""
COSINES = (0.0, 0.15, 0.35, 0.5, 0.7, 1.0)
SCORES = (0.0, 0.2, 0.55, 0.72, 0.9, 1.0)
"""Calibration from cosine to score."""


SHORT = 1_000
"""Characters that are embedded in about a millisecond."""


class HashedEmbedder:
    """An embedder with the same vectors on every machine: it hashes with BLAKE2b."""

    name = "offline-hashed-2"
    dimensions, batch = DIMS, 1_000

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed in a thread, unless it is little: many texts would block the event loop."""
        if sum(map(len, texts)) <= SHORT:
            return self.embed(texts)
        return await asyncio.to_thread(self.embed, texts)

    async def embed_query(self, text: str) -> Vector:
        return _vector(text)

    def calibrate(self, cosine: float) -> float:
        return float(np.interp(cosine, COSINES, SCORES))

    def embed(self, texts: Sequence[str]) -> Matrix:
        return np.stack([_vector(text) for text in texts]) if texts else np.zeros((0, DIMS), np.float32)


def _vector(text: str) -> Vector:
    vector = np.zeros(DIMS, np.float32)
    for feature, weight in _features(text):
        place, direction = _bucket(feature)
        vector[place] += direction * weight
    # The square root limits the weight of a word that is repeated often.
    vector = np.sign(vector) * np.sqrt(np.abs(vector))
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in words(text):
        if word in FILLERS:
            continue
        yield f"meaning:{meaning(word)}", MEANING
        yield f"word:{word}", WORD
        padded = f"<{word}>"
        yield from ((f"gram:{padded[at : at + 3]}", NGRAM) for at in range(len(padded) - 2))


@lru_cache(maxsize=100_000)
def _bucket(feature: str) -> tuple[int, int]:
    digest = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
    return digest % DIMS, 1 if digest >> 63 else -1
