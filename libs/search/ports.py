"""The search ports: vectors for texts, with scores that mean the same for every embedder, and second opinions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

LIKELY, GAP = 0.70, 0.05
"""The score above which a match is likely, and its least lead on the next; a lead of exactly GAP asks (S4-46)."""
DIMS = 768
"""The numbers of a stored vector. An embedder with fewer appends zeros, which changes no cosine."""
Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]
NOTHING: Vector = np.zeros(DIMS, np.float32)
"""The vector of a text without words: near to none."""
NOTHING.flags.writeable = False


class Embedder(Protocol):
    """Vectors are float32, DIMS wide and of length 1 (0 for a text without words). The same text gives the same vector.

    Raises `Unavailable` if it is remote and does not answer.
    """

    @property
    def name(self) -> str:
        """The model and its version. Vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int | None:
        """The model's own numbers, at most DIMS; None before a remote model has answered."""
        ...

    @property
    def batch(self) -> int:
        """The most texts that the model takes at once. Callers may pass any number."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Embed texts as rows, in order."""
        ...

    async def embed_query(self, text: str) -> Vector: ...

    def calibrate(self, cosine: float) -> float:
        """Map a cosine to a score from 0 to 1, monotonically; a likely match scores above LIKELY."""
        ...


class Reranker(Protocol):
    """A slower second opinion on a few matches, such as a cross-encoder.

    Raises `Unavailable` if it is remote and does not answer.
    """

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score from 0 to 1 for each text, in their order."""
        ...


def normalized(rows: Matrix) -> Matrix:
    """Return rows of length 1 and DIMS numbers; a row without a length is all zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, lengths, out=np.zeros_like(rows, np.float32), where=lengths > 0)
    return np.pad(unit, ((0, 0), (0, DIMS - rows.shape[1])))
