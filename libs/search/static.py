"""The static embedder: a table of word vectors in the wheel of `wordllama`, an optional package. It needs no network.

The table takes 0.8 s and 98 MB to load, so it is loaded at the first use, in a thread (decision 0122).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from libs.errors import Rejected
from libs.search.ports import DIMS, Matrix, Vector, normalized
from libs.search.words import words

COSINES = (0.0, 0.15, 0.3, 0.45, 0.6, 1.0)
SCORES = (0.0, 0.18, 0.55, 0.72, 0.9, 1.0)
"""Calibration from cosine to score, by the retrieval set: half of the right facts have a cosine above 0.28."""


class NotInstalled(Rejected):
    """The package wordllama is not installed; install suma[wordllama]."""

    code = "EMBEDDER_NOT_INSTALLED"


class StaticEmbedder:
    """Averages of word vectors. Raises NotInstalled if the package is missing."""

    dimensions, batch = 256, 64

    def __init__(self) -> None:
        try:
            self.name = f"wordllama-{version('wordllama')}-{self.dimensions}"
        except PackageNotFoundError:
            raise NotInstalled from None
        self._loading = threading.Lock()
        self._table: Any = None

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        return await asyncio.to_thread(self._embed, texts)

    async def embed_query(self, text: str) -> Vector:
        vector: Vector = (await asyncio.to_thread(self._embed, [text]))[0]
        return vector

    def calibrate(self, cosine: float) -> float:
        return float(np.interp(cosine, COSINES, SCORES))

    def _embed(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, DIMS), np.float32)
        with self._loading:
            self._table = self._table or _load()
        # The library has vectors for punctuation, and for an empty text a division by zero.
        said = [bool(words(text)) for text in texts]
        rows: Matrix = self._table.embed([*texts], batch_size=self.batch)
        return normalized(np.where(np.array(said)[:, None], rows, np.float32(0)))


def _load() -> Any:
    import wordllama

    # The tokenizer is in the wheel, in a folder where the library looks only if it is named as the cache.
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
