"""Lists of near vectors, and codes of a few bits: what makes the search of very many vectors cheap.

Vectors are put into lists by spherical k-means (an inverted file, Jégou and others, 2011); a search reads the lists
whose centroids are nearest. A code has the signs of a random projection, so that the share of its bits that differ from
another's approximates their angle (Charikar, 2002). Both only propose candidates, to be compared exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import shake_256
from math import isqrt

import numpy as np

from libs.search.ports import DIMS, Matrix, Vector, normalized

ROUNDS = 8
SAMPLED = 20
"""Vectors of the sample for each list."""
LISTS_MOST = 2_000
BLOCK = 4_096
"""Vectors that are compared with all centroids at once: their products take BLOCK x LISTS_MOST numbers."""
HALF = np.dtype(">f2")
HEADER_BYTES = 4
"""pgvector's binary format: two numbers of 16 bits, then big-endian halves."""


def lists_for(count: int) -> int:
    """Return the number of lists for so many vectors: twice its square root. Of 200,000 clustered vectors a search then
    reads a third of what it reads with half as many lists, at the same recall.
    """
    return max(1, min(LISTS_MOST, 2 * isqrt(count)))


def centroids(sample: Matrix, lists: int) -> Matrix:
    """Return the centroids of at most `lists` lists; the same ones for the same sample. CPU-bound."""
    found = sample[:lists].copy()
    for _ in range(ROUNDS):
        sums = np.zeros_like(found)
        np.add.at(sums, nearest(sample, found), sample)
        # An empty list keeps its centroid.
        found = np.where(sums.any(axis=1, keepdims=True), normalized(sums), found)
    return found


def nearest(vectors: Matrix, centers: Matrix) -> Sequence[int]:
    """Return the place of the nearest centroid of each vector."""
    found: list[int] = []
    for start in range(0, len(vectors), BLOCK):
        found += np.argmax(vectors[start : start + BLOCK] @ centers.T, axis=1).tolist()
    return found


def nearest_of(asked: Matrix, known: Sequence[Matrix], more: Matrix, most: int) -> Sequence[Matrix]:
    """Return the `most` vectors nearest to each that is asked for, of those known and of some more, nearest first.
    CPU-bound.
    """
    close = np.argpartition(-(asked @ more.T), min(most, len(more)) - 1, axis=1)[:, :most]
    pools = [np.concatenate([before, more[places]]) for before, places in zip(known, close, strict=True)]
    return [pool[np.argsort(-(pool @ vector))[:most]] for pool, vector in zip(pools, asked, strict=True)]


def rank(vector: Vector, centers: Matrix, place: int) -> int:
    """Return how many centroids are at least as near to a vector as the one at a place."""
    products: Vector = centers @ vector
    return int((products >= products[place]).sum())


def codes(vectors: Matrix) -> Sequence[str]:
    """Return the code of each vector, as hexadecimal digits."""
    # For one query, the threads of a product cost a hundred times as much as the product.
    one = len(vectors) == 1
    products = np.einsum("j,jk->k", vectors[0], _projection())[None] if one else vectors @ _projection()
    return [row.tobytes().hex() for row in np.packbits(products > 0, axis=1)]


def halves(rows: Sequence[bytes]) -> Matrix:
    """Parse vectors in pgvector's binary format."""
    parsed = [np.frombuffer(row, HALF, offset=HEADER_BYTES) for row in rows]
    return np.stack(parsed).astype(np.float32) if parsed else np.zeros((0, DIMS), np.float32)


@cache
def _projection() -> Matrix:
    """Random signs, which give each bit a share of all numbers: the codes of sparse vectors would be mostly zeros
    without. They never change, as codes are stored.
    """
    bits = np.frombuffer(shake_256(b"suma").digest(DIMS * DIMS // 8), np.uint8)
    return np.unpackbits(bits).reshape(DIMS, DIMS).astype(np.float32) * 2 - 1
