"""Which of several described things does a text mean? Used for skills: `query` ranks, `confident` decides, else a
person is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from libs.retrieval.ports import Embedder
from libs.retrieval.rank import GAP, THRESHOLD, confident
from libs.retrieval.vectors import Match, VectorStore


class Retriever:
    """An index of ids, each described by one or more texts; the best of an id's texts counts (S4-47)."""

    def __init__(self, embedder: Embedder, *, threshold: float = THRESHOLD, gap: float = GAP) -> None:
        self._embedder, self._threshold, self._gap = embedder, threshold, gap
        self._store = VectorStore(embedder.dims)
        self._texts: dict[str, tuple[str, ...]] = {}

    async def build(self, described: Mapping[str, Sequence[str]]) -> None:
        """Make the index exactly this. Only texts that changed are embedded again (S4-17)."""
        for id in set(self._texts) - set(described):
            self.forget(id)
        for id, texts in described.items():
            if self._texts.get(id) != tuple(texts):
                await self.reload(id, texts)

    async def reload(self, id: str, texts: Sequence[str]) -> None:
        """Embed one id anew."""
        rows = await self._embedder.embed_document(texts)
        self.forget(id)
        self._texts[id] = tuple(texts)
        self._store.put({_key(id, n): row for n, row in enumerate(rows)})

    def forget(self, id: str) -> None:
        for n in range(len(self._texts.pop(id, ()))):
            self._store.remove(_key(id, n))

    async def query(self, text: str, top_k: int = 5) -> tuple[Match, ...]:
        """Ids by calibrated score, best first."""
        found = self._store.search(await self._embedder.embed_query(text), len(self._store))
        best: dict[str, float] = {}
        for match in found:
            best.setdefault(match.id.rpartition("#")[0], self._embedder.calibrate(match.score))
        return tuple(Match(id, score) for id, score in list(best.items())[:top_k])

    def confident(self, matches: Sequence[Match]) -> bool:
        return confident(matches, threshold=self._threshold, gap=self._gap)


def _key(id: str, n: int) -> str:
    return f"{id}#{n}"
