"""The search of knowledge bases: chunks by meaning and by words, fused, with the file and range of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from libs.errors import Unavailable
from libs.search import NOTHING, Embedder, Source, Vector, diversify, fuse
from libs.search.words import FILLERS, meaning, telling, words
from libs.telemetry.logs import logger
from services.memory_service.knowledge.store import Base, Found, Store

QUERY_MOST = 4_000
POOL = 4
"""Candidates per ranking, as a multiple of the passages that are wanted."""
BALANCE = 0.5
"""The weight of a score against repetition: the same text in two files comes back once before others."""
LIKELY = 0.70
"""A calibrated similarity above which a passage is likely to be meant (S4-46)."""
SHARED = 0.5
"""The share of a request's words that a passage has, from which it fits the request."""

log = logger("memory")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with its place: `unit` says whether `first` and `last` are lines or pages. `score` is from 0 to 1;
    `sources` explain it. It `fits` if it is likely to answer the query.
    """

    base: str
    path: str
    unit: str
    first: int
    last: int
    text: str
    score: float
    sources: tuple[Source, ...]
    fits: bool


class Searching:
    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store, self._embedder = store, embedder

    async def passages(self, tenant: str, bases: Sequence[Base], query: str, most: int) -> list[Passage]:
        """Return the best passages, best first.

        Raises:
            Unavailable: the database does not answer. Without the embedder, words alone decide.
        """
        text = query[:QUERY_MOST]
        if not bases:
            return []
        found = await self._store.ranked(
            tenant,
            [base.base_id for base in bases],
            await self._embedded(text),
            words=" ".join(word for word in words(text) if word not in FILLERS),
            embedder=self._embedder.name,
            pool=most * POOL,
        )
        return self._best(found, {base.base_id: base.name for base in bases}, text, most)

    async def _embedded(self, query: str) -> Vector:
        try:
            return await self._embedder.embed_query(query)
        except Unavailable:
            log.warning("searched knowledge without vectors")
            return NOTHING

    def _best(self, found: Sequence[Found], names: dict[str, str], query: str, most: int) -> list[Passage]:
        by_id = {chunk.id: chunk for chunk in found}
        near = [chunk.id for chunk in sorted(found, key=lambda chunk: chunk.near or 0) if chunk.near is not None]
        worded = [chunk.id for chunk in sorted(found, key=lambda chunk: chunk.worded or 0) if chunk.worded is not None]

        def alike(one: str, other: str) -> float:
            return float(by_id[one].text == by_id[other].text)

        chosen = diversify(fuse({"vectors": near, "words": worded}), alike, most, balance=BALANCE)
        return [
            Passage(
                names[chunk.base_id],
                chunk.path,
                chunk.unit,
                chunk.first,
                chunk.last,
                chunk.text,
                round(match.score, 4),
                match.sources,
                self._fits(chunk, query),
            )
            for match in chosen
            for chunk in [by_id[match.id]]
        ]

    def _fits(self, chunk: Found, query: str) -> bool:
        if chunk.similarity is not None and self._embedder.calibrate(chunk.similarity) > LIKELY:
            return True
        asked, said = {*map(meaning, telling(query))}, {*map(meaning, words(chunk.text))}
        return len(asked & said) >= max(2, SHARED * len(asked))
