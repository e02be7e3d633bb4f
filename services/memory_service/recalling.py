"""Recalling: the memories of one scope by meaning and by words, fused."""

from __future__ import annotations

from collections.abc import Sequence

from libs.retrieval import Embedder
from libs.retrieval.words import words
from services.memory_service.domain.ranking import Recalled, best
from services.memory_service.store import Scope, Store

ASKED_MOST = 4_000
"""Characters of a question that are looked at."""
POOL = 4
"""Each ranking offers this many times what was asked for: a memory good in both may win over one good in either."""


class Recalling:
    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store, self._embedder = store, embedder

    async def recall(self, scope: Scope, query: str, top_k: int) -> Sequence[Recalled]:
        """The best first; nothing where nothing is remembered, without embedding anything.

        Raises:
            Unavailable: the database or the embedder does not answer.
        """
        if not await self._store.any(scope):
            return ()
        asked = query[:ASKED_MOST]
        vector = await self._embedder.embed_query(asked)
        found = await self._store.ranked(
            scope, vector, words=telling(asked), embedder=self._embedder.name, pool=top_k * POOL
        )
        return best(found, top_k)


def telling(query: str) -> str:
    """The query without its fillers, which every memory shares. `or` and `is` find nothing."""
    return " ".join(part for part in query.split() if not all(word.filler for word in words(part)))
