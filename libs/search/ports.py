"""The embedder port: vectors of 768 numbers for texts, and scores that mean the same for every embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

DIMS = 768
Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]


class Embedder(Protocol):
    """Vectors are float32 and of length 1 (0 for a text without words). The same text gives the same vector.

    Raises `Unavailable` if it is remote and does not answer.
    """

    @property
    def name(self) -> str:
        """The model and its version. Vectors of different names are never compared."""
        ...

    @property
    def dims(self) -> int: ...

    async def embed_document(self, texts: Sequence[str]) -> Matrix:
        """Embed texts as rows, in order."""
        ...

    async def embed_query(self, text: str) -> Vector: ...

    def calibrate(self, cosine: float) -> float:
        """Map a cosine to a score from 0 to 1, monotonically; a likely match scores above 0.70 (S4-46)."""
        ...
