"""Recall: searches the memories of one scope by meaning and by words, and fuses the rankings.

A reranker, if there is one, orders the best of them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from libs.clock import Clock, SystemClock
from libs.errors import Unavailable
from libs.resilience import Level
from libs.search import NOTHING, Embedder, Match, Reranker, Vector, offline, rerank
from libs.search.words import FILLERS, words
from libs.telemetry.logs import logger
from services.memory_service.domain import fitting
from services.memory_service.domain.adaptation import Mind, adapted
from services.memory_service.domain.modulators import Modulators
from services.memory_service.domain.ranking import Found, Recalled, best, fused, with_linked
from services.memory_service.mind.store import RecentMinds
from services.memory_service.store import SESSION, Ranked, Scope, Store
from services.memory_service.writing import SessionMissing

log = logger("memory")

QUERY_MOST = 4_000
"""Characters of a query that are used."""
POOL = 4
"""Candidates per ranking, as a multiple of `top_k`: a memory good in both rankings may beat one good in either."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The memories, best first, and how many of the person's are not consolidated yet (counted up to 1,000)."""

    memories: tuple[Recalled, ...]
    waiting: int
    lagging: bool
    """Some vectors are of an earlier embedder, so meaning counts for less."""

    @property
    def fitting(self) -> tuple[Recalled, ...]:
        """Return those that fit well enough to be used; none if nothing is known."""
        return tuple(one for one in self.memories if one.fit >= fitting.LEAST)


class Recalling:
    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        minds: RecentMinds,
        reranker: Reranker | None = None,
        noticed: Callable[[Scope, Ranked], None] = lambda scope, ranked: None,
        strain: Callable[[], Level] = lambda: Level.NONE,
        *,
        clock: Clock = SystemClock(),  # noqa: B008 - it has no state
    ) -> None:
        """`noticed` is called with what each recall has searched; `strain` is how far the embedder's server is
        degraded.
        """
        self._store, self._embedder, self._minds, self._reranker = store, embedder, minds, reranker
        self._noticed, self._strain, self._clock = noticed, strain, clock

    async def recall(self, scope: Scope, query: str, top_k: int) -> Recall:
        """Return the best memories, best first: fewer when the person is focused, with linked ones if there is room.

        Raises:
            Unavailable: the database does not answer. Without the embedder, words alone decide.
        """
        text = query[:QUERY_MOST]
        ranked: Ranked | None = None

        async def read(*_: str) -> Mind:
            nonlocal ranked
            ranked = await self._ranked(scope, text, top_k * POOL, mind=True)
            return ranked.mind or Mind()

        mind = await self._minds.of(scope.tenant, scope.person, read)
        if ranked is None:
            ranked = await self._ranked(scope, text, top_k * POOL)
        self._noticed(scope, ranked)
        found, levels = ranked.found, mind.modulators
        matches = self._timely(text, found, await self._ordered(text, found, top_k * POOL, levels))
        most = levels.recalled(top_k)
        chosen = best(found, adapted(matches, found, mind), most, levels)
        fits = fitting.fits(text, found, self._embedder.calibrate)
        chosen = fitting.outdated([replace(one, fit=fits[one.id]) for one in chosen])
        # A sleep makes links, and creativity gives them the last place.
        room = most - len(chosen) or int(levels.creativity_boost and most > 1)
        if mind.slept and chosen and room:
            linked = await self._minds.store.linked(scope.tenant, scope.person, [one.id for one in chosen], room)
            chosen = with_linked(chosen, linked, most)
        return Recall(chosen, mind.awake, any(name != self._embedder.name for name in ranked.embedders))

    async def waiting(self, tenant: str, person: str) -> int:
        """Return how many of a person's memories are not consolidated yet, counted up to 1,000."""
        return (await self._minds.of(tenant, person)).awake

    def _timely(self, question: str, found: Sequence[Found], matches: Sequence[Match]) -> Sequence[Match]:
        """Return the matches of the time that the question names first, and newer ones before older ones."""
        today = self._clock.now().date()
        timely = fitting.timely(matches, found, question, today)
        return fitting.newest_first(timely, found, question, today)

    async def _ranked(self, scope: Scope, text: str, pool: int, *, mind: bool = False) -> Ranked:
        given = {self._embedder.name: await self._embedded(self._embedder, text)}
        words = without_fillers(text)
        ranked = await self._store.ranked(scope, given, words=words, pool=pool, mind=mind)
        # After a change of the embedder: ask again with the embedders that can still be had.
        earlier = [one for name in ranked.embedders if name not in given and (one := offline(name)) is not None]
        if not earlier:
            return ranked
        given |= {one.name: await self._embedded(one, text) for one in earlier}
        return await self._store.ranked(scope, given, words=words, pool=pool, mind=mind)

    async def _embedded(self, embedder: Embedder, query: str) -> Vector:
        # A server that takes over 15 s would hold up the turn for longer than its vectors are worth.
        if self._strain() >= Level.SEVERE:
            return NOTHING
        try:
            return await embedder.embed_query(query)
        except Unavailable:
            log.warning("recalled without vectors")
            return NOTHING

    async def _ordered(self, query: str, found: Sequence[Found], most: int, levels: Modulators) -> Sequence[Match]:
        matches = fused(found, levels)[:most]
        if self._reranker is None or not matches or self._strain() >= Level.MODERATE:
            return matches
        try:
            return await rerank(query, matches, {one.id: one.text for one in found}, self._reranker)
        except Unavailable:
            log.warning("recalled without the reranker")
            return matches

    async def recall_near(
        self, tenant: str, *, session: str | None, user: str, query: str, most: int
    ) -> Sequence[dict[str, Any]]:
        """Return the best memories of a session that fit, for callers in this process.

        Raises:
            SessionMissing: no session is named.
            Unavailable: as `recall`.
        """
        if session is None:
            raise SessionMissing
        found = await self.recall(Scope(tenant, SESSION, session, user), query, most)
        return [
            {"id": one.id, "text": one.text, "score": one.score, "sources": [asdict(source) for source in one.sources]}
            for one in found.fitting
        ]


def without_fillers(query: str) -> str:
    """Return the query without filler words, which occur in every memory."""
    return " ".join(part for part in query.split() if not FILLERS.issuperset(words(part)))
