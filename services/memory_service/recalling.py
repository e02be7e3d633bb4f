"""Recall: searches the memories of one scope by meaning and by words, and fuses the rankings."""

from __future__ import annotations

from collections.abc import Sequence

from libs.search import Embedder
from libs.search.words import FILLERS, words
from services.memory_service.domain.ranking import Recalled, best
from services.memory_service.store import SESSION, Scope, Store
from services.memory_service.writing import SessionMissing

QUERY_MOST = 4_000
"""Characters of a query that are used."""
POOL = 4
"""Candidates per ranking, as a multiple of `top_k`: a memory good in both rankings may beat one good in either."""


class Recalling:
    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store, self._embedder = store, embedder

    async def recall(self, scope: Scope, query: str, top_k: int) -> tuple[Recalled, ...]:
        """Return the best memories, best first.

        Raises:
            Unavailable: the database or the embedder does not answer.
        """
        text = query[:QUERY_MOST]
        vector = await self._embedder.embed_query(text)
        found = await self._store.ranked(
            scope, vector, words=without_fillers(text), embedder=self._embedder.name, pool=top_k * POOL
        )
        return best(found, top_k)

    async def recall_texts(
        self, tenant: str, *, session: str | None, user: str, query: str, most: int
    ) -> Sequence[str]:
        """Return the best memories of a session as texts, for callers in this process.

        Raises:
            SessionMissing: no session is named.
            Unavailable: as `recall`.
        """
        if session is None:
            raise SessionMissing
        found = await self.recall(Scope(tenant, SESSION, session, user), query, most)
        return [memory.text for memory in found]


def without_fillers(query: str) -> str:
    """Return the query without filler words, which occur in every memory."""
    return " ".join(part for part in query.split() if not FILLERS.issuperset(words(part)))
