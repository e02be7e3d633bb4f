"""The embedder: from text to a vector of 768 numbers, and from a cosine to a score that means the same for every
embedder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

DIMS = 768
Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]


class Embedder(Protocol):
    """Vectors are float32, of length 1 (0 for a text without a word), and the same for the same text.

    One embedder serves skills and content alike (S4-44). Raises `Unavailable` when it is remote and cannot be reached.
    """

    @property
    def name(self) -> str:
        """Names model and version: vectors of different names are never compared."""
        ...

    @property
    def dims(self) -> int: ...

    async def embed_document(self, texts: Sequence[str]) -> Matrix:
        """One row per text, in order."""
        ...

    async def embed_query(self, text: str) -> Vector: ...

    def calibrate(self, cosine: float) -> float:
        """A score from 0 to 1 to which the thresholds of S4-46 apply: above 0.70 means a likely match. Monotonic."""
        ...
