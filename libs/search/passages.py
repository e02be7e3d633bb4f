"""Passages by meaning: vectors of the chunks of each file, in memory, compared with a query by their cosines (S4-27).

A vector is kept as bytes and their scale: 20,000 passages take 15 MB, and a cosine is off by less than 0.01. Halves of
floats would take twice the memory, and 20 times as long to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from libs.search.chunks import Chunk
from libs.search.ports import DIMS, Matrix, Vector

LARGEST = 127
BLOCK = 256
"""Vectors that are compared at once: as float32 they stay in the cache of the processor."""


@dataclass(frozen=True, slots=True)
class Place:
    """The range of a passage in its text: offsets, and lines from 1."""

    start: int
    end: int
    first: int
    last: int

    @classmethod
    def of(cls, chunk: Chunk) -> Place:
        return cls(chunk.start, chunk.end, chunk.first, chunk.last)


@dataclass(frozen=True, slots=True)
class Near:
    """The passage of a file that is nearest to a query."""

    path: str
    cosine: float
    place: Place


class Passages:
    """At most `most` passages. Not safe for two threads at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows = np.zeros((0, DIMS), np.int8)
        self._scales = np.zeros(0, np.float32)
        self._owners: list[tuple[str, Place] | None] = []
        """The file and the place of each row; None for a row that is free."""
        self._held: dict[str, list[int]] = {}
        self._free: list[int] = []

    def __contains__(self, path: str) -> bool:
        return path in self._held

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self._held)

    @property
    def paths(self) -> Sequence[str]:
        return [*self._held]

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def clear(self) -> None:
        """Forget every vector, as after a change of the model."""
        self.__init__(self._most)  # type: ignore[misc]

    def put(self, path: str, chunks: Sequence[Chunk], vectors: Matrix) -> bool:
        """Add a file's passages, or replace them. Return False if there is no room for them."""
        self.remove(path)
        if len(chunks) > self._most - len(self._owners) + len(self._free):
            return False
        rows = [self._row() for _ in chunks]
        self._held[path] = rows
        for row, chunk in zip(rows, chunks, strict=True):
            self._owners[row] = path, Place.of(chunk)
        scales = np.abs(vectors).max(axis=1, initial=0.0) / LARGEST
        self._rows[rows] = np.rint(vectors / np.where(scales > 0, scales, 1)[:, None])
        self._scales[rows] = scales
        return True

    def remove(self, path: str) -> None:
        for row in self._held.pop(path, ()):
            self._owners[row] = None
            self._free.append(row)

    def near(self, query: Vector, least: float, keep: Callable[[str], bool]) -> list[Near]:
        """Return the nearest passage of each file that `keep` accepts, best first; none has a cosine below `least`."""
        best: dict[str, Near] = {}
        for at in range(0, len(self._owners), BLOCK):
            end = min(at + BLOCK, len(self._owners))
            cosines = self._rows[at:end].astype(np.float32) @ query * self._scales[at:end]
            for row in np.flatnonzero(cosines >= least).tolist():
                owner, cosine = self._owners[at + row], float(cosines[row])
                if owner is not None and keep(owner[0]) and (owner[0] not in best or cosine > best[owner[0]].cosine):
                    best[owner[0]] = Near(owner[0], cosine, owner[1])
        return sorted(best.values(), key=lambda near: (-near.cosine, near.path))

    def _row(self) -> int:
        if self._free:
            return self._free.pop()
        if len(self._owners) == len(self._rows):
            added = min(self._most, max(256, 2 * len(self._rows))) - len(self._rows)
            self._rows = np.pad(self._rows, ((0, added), (0, 0)))
            self._scales = np.pad(self._scales, (0, added))
        self._owners.append(None)
        return len(self._owners) - 1
