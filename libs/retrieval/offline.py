"""The embedder that needs no network: concepts, words and letter n-grams, hashed into 768 numbers.

Hashed n-grams alone scored 0.05–0.71 on correct skills (DESIGN §11), so what a word *means* weighs most: synonyms,
also of another language, share a concept and so a direction.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from libs.retrieval.ports import DIMS, Matrix, Vector
from libs.retrieval.words import words

CONCEPT, WORD, NGRAM = 1.0, 0.6, 0.12
"""How much each kind of sign weighs."""

COSINES = (0.0, 0.15, 0.35, 0.5, 0.7, 1.0)
SCORES = (0.0, 0.2, 0.55, 0.72, 0.9, 1.0)
"""Cosine to score: bundled skills against their own step descriptions lie above 0.48, against others' mostly below
0.4.
"""


class HashedEmbedder:
    """Deterministic on every machine: the hash is BLAKE2b, not Python's."""

    name = "offline-hashed-1"
    dims = DIMS

    async def embed_document(self, texts: Sequence[str]) -> Matrix:
        """In a thread, since a folder's worth of text takes longer than the event loop may wait."""
        return await asyncio.to_thread(self.embed, texts)

    async def embed_query(self, text: str) -> Vector:
        return _vector(text)

    def calibrate(self, cosine: float) -> float:
        return float(np.interp(cosine, COSINES, SCORES))

    def embed(self, texts: Sequence[str]) -> Matrix:
        return np.stack([_vector(text) for text in texts]) if texts else np.zeros((0, DIMS), np.float32)


def _vector(text: str) -> Vector:
    vector = np.zeros(DIMS, np.float32)
    for sign, weight in _signs(text):
        place, direction = _bucket(sign)
        vector[place] += direction * weight
    # The square root keeps a word said ten times from drowning the rest.
    vector = np.sign(vector) * np.sqrt(np.abs(vector))
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


def _signs(text: str) -> Iterator[tuple[str, float]]:
    for word in words(text):
        yield from ((f"concept:{concept}", CONCEPT) for concept in word.concepts)
        if word.filler:
            continue
        yield f"word:{word.folded}", WORD
        padded = f"<{word.folded}>"
        yield from ((f"gram:{padded[at : at + 3]}", NGRAM) for at in range(len(padded) - 2))


@lru_cache(maxsize=100_000)
def _bucket(sign: str) -> tuple[int, int]:
    digest = int.from_bytes(hashlib.blake2b(sign.encode(), digest_size=8).digest(), "big")
    return digest % DIMS, 1 if digest >> 63 else -1
