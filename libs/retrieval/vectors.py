"""An in-memory store of vectors by id, searched by cosine with one matrix product (S4-45)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from libs.errors import Rejected
from libs.retrieval.ports import DIMS, Matrix, Vector


class WrongDimensions(Rejected):
    """The vector was made by another embedder."""

    code = "WRONG_DIMENSIONS"


@dataclass(frozen=True, slots=True)
class Match:
    """A found id. `score` is a cosine as it comes from the store, calibrated where a retriever returns it."""

    id: str
    score: float


class VectorStore:
    """Vectors by id. Rows are kept sorted by id, so that equal scores come in the order of their ids: the same
    search, the same answer.
    """

    def __init__(self, dims: int = DIMS) -> None:
        self._dims = dims
        self._vectors: dict[str, Vector] = {}
        self._table: tuple[list[str], Matrix] | None = None

    def __len__(self) -> int:
        return len(self._vectors)

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Add or replace."""
        wrong = next((name for name, vector in vectors.items() if vector.shape != (self._dims,)), None)
        if wrong is not None:
            raise WrongDimensions(f"{wrong} has not {self._dims} dimensions")
        self._vectors.update(vectors)
        self._table = None

    def remove(self, id: str) -> None:
        if self._vectors.pop(id, None) is not None:
            self._table = None

    def search(self, query: Vector, top_k: int) -> tuple[Match, ...]:
        """The nearest by cosine, best first; vectors are taken to be of length 1."""
        if not self._vectors or top_k < 1:
            return ()
        ids, rows = self._rows()
        scores = rows @ query
        # Every row that reaches the k-th score is sorted, else a tie at the cut would depend on partition's whim.
        floor = np.partition(scores, -top_k)[-top_k] if top_k < len(ids) else -np.inf
        near = np.flatnonzero(scores >= floor)
        best = near[np.argsort(-scores[near], kind="stable")][:top_k]
        return tuple(Match(ids[row], float(scores[row])) for row in best)

    def _rows(self) -> tuple[list[str], Matrix]:
        if self._table is None:
            ids = sorted(self._vectors)
            self._table = ids, np.stack([self._vectors[id] for id in ids])
        return self._table
