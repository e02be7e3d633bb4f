"""Upkeep of vectors, in the background: an index for each large scope, and new vectors after a change of embedder.

A recall that reads too many memories, or meets vectors of another embedder, starts it. The work is a chain of leases of
one batch each, so that it is resumed after a crash and never holds up other writes (decision 0128). Meanwhile recalls
read all memories of the scope, and the vectors that they find. It stores nothing that policy has not permitted before:
only numbers that follow from stored texts.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libs import ids
from libs.changes import Cause, Changeset, Row
from libs.errors import SumaError
from libs.leases import Lease, NewLease
from libs.runtime import Kind, Platform
from libs.search import Matrix
from libs.search.lists import SAMPLED, centroids, codes, lists_for, nearest, nearest_of, rank
from libs.telemetry.logs import logger
from services.memory_service.rows import IndexMade, IndexReady, MemoryCoded, MemoryEmbedded, ScopesLeft
from services.memory_service.store import GROUP, Ranked, Scope, Store, Vectors, dense, literal

log = logger("memory")

INDEX, EMBED = "memory_index", "memory_embed"
INDEXED_AT_ONCE, EMBEDDED_AT_ONCE = 1_000, 100
"""Memories of a batch: fewer than a second's work, also for the writer, which all services of a process share. For
5,000 the planner, which underestimates a scope, sorts all of it each time."""
COMMON = 1_000
"""Memories of a scope that may have a word which is looked up; by a more common word, memories are only compared."""
PROVED_BY, NEIGHBOURS, FOUND = 50, 10, 0.97
"""An index reads as many lists as hold this share of the nearest memories, of so many memories."""
RETRY_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Step:
    """The rows of one batch, and the input of the next one; None at the end."""

    rows: Sequence[Row]
    next: Mapping[str, Any] | None


class Upkeep:
    def __init__(self, platform: Platform, store: Store, *, index_from: int) -> None:
        self._platform, self._store, self._index_from = platform, store, index_from
        self._wanted: asyncio.Queue[tuple[str, NewLease]] = asyncio.Queue()
        self._asked: set[object] = set()
        self._centroids: tuple[int, Matrix] | None = None
        """The last ones used, which the next batch needs again."""

    @property
    def kinds(self) -> Sequence[Kind[Step]]:
        # One at a time: they compete with turns for the database.
        return [
            Kind(INDEX, self.index, self.ended, self.failed, 1, 1),
            Kind(EMBED, self.embed, self.ended, self.failed, 1, 1),
        ]

    def noticed(self, scope: Scope, ranked: Ranked) -> None:
        """Start what a recall has shown to be missing. Does not wait."""
        name = self._platform.embedder.name
        if any(other != name for other in ranked.embedders):
            self._want((scope.tenant, name), scope.tenant, EMBED, {"embedder": name, "after": "", "done": 0})
        elif ranked.read >= self._index_from:
            about = {"universe": scope.universe, "within": scope.within, "person": scope.person, "embedder": name}
            self._want((scope, name), scope.tenant, INDEX, {**about, "size": ranked.read, "stage": "make"})

    def _want(self, key: object, tenant: str, kind: str, about: Mapping[str, Any]) -> None:
        if key not in self._asked:
            self._asked.add(key)
            self._wanted.put_nowait((tenant, NewLease(ids.new(), kind, about)))

    async def run(self) -> None:
        """Start what was noticed, unless this tenant has work of its kind already. Until cancelled."""
        while True:
            tenant, lease = await self._wanted.get()
            try:
                counts = await self._platform.leases.counts(tenant)
                if not any((one.group, one.kind) == (GROUP, lease.kind) for one in counts):
                    cause = Cause.request(GROUP, id=ids.new(), tenant=tenant, key=f"{tenant}:{lease.kind}")
                    await self._platform.writer.apply(Changeset(cause).start(lease))
            except SumaError as error:
                log.warning("could not start upkeep", kind=lease.kind, reason=str(error))
            # What is still missing is noticed again.
            self._asked.clear()

    async def index(self, lease: Lease) -> Step:
        about = lease.input
        scope = Scope(lease.tenant, about["universe"], about["within"], about["person"])
        match about["stage"]:
            case "make":
                return await self._make(scope, about)
            case "fill":
                part = await self._store.numbered(scope, about["embedder"], after=about["after"], most=INDEXED_AT_ONCE)
                if not part.ids:
                    return Step((), {**about, "stage": "mend"})
                return Step(await self._coded(scope, about, part), {**about, "after": part.numbers[-1]})
            case "mend":
                part = await self._store.missed(scope, about["embedder"], most=INDEXED_AT_ONCE)
                if part.ids:
                    return Step(await self._coded(scope, about, part), about)
                return Step((), {**about, "stage": "prove"})
            case _:
                return await self._prove(scope, about)

    async def _make(self, scope: Scope, about: Mapping[str, Any]) -> Step:
        lists = lists_for(about["size"])
        step = max(1, about["size"] // (lists * SAMPLED))
        sample = await self._store.sampled(scope, about["embedder"], step=step, most=2 * lists * SAMPLED)
        number = await self._store.number(scope, about["embedder"])
        if not sample.numbers or number is None:
            return Step((), None)
        found = await asyncio.to_thread(centroids, sample.rows, lists)
        counted = Counter(word for words in sample.words for word in words)
        made = IndexMade(
            number=number,
            centroids=tuple(map(dense, found)),
            common=tuple(word for word, count in counted.items() if count * step > COMMON),
        )
        return Step([made], {**about, "stage": "fill", "after": 0, "number": number})

    async def _coded(self, scope: Scope, about: Mapping[str, Any], part: Vectors) -> Sequence[Row]:
        centers = await self._centroids_of(scope.tenant, about["number"])
        places, bits = await asyncio.to_thread(lambda: (nearest(part.rows, centers), codes(part.rows)))
        return [MemoryCoded(id, place + 1, code) for id, place, code in zip(part.ids, places, bits, strict=True)]

    async def _prove(self, scope: Scope, about: Mapping[str, Any]) -> Step:
        """Choose how many lists to read: compare some memories with all, a part at a time, and count the lists before
        those of their neighbours.
        """
        centers = await self._centroids_of(scope.tenant, about["number"])
        step = max(1, about["size"] // PROVED_BY)
        sample = await self._store.sampled(scope, about["embedder"], step=step, most=PROVED_BY)
        near: Sequence[Matrix] = [sample.rows[:0]] * len(sample.rows)
        after = 0
        while (part := await self._store.numbered(scope, about["embedder"], after=after, most=INDEXED_AT_ONCE)).ids:
            # Each is its own nearest.
            near = await asyncio.to_thread(nearest_of, sample.rows, near, part.rows, NEIGHBOURS + 1)
            after = part.numbers[-1]
        ranks = [rank(each[0], centers, place) for each in near for place in nearest(each[1:], centers)]
        probes = sorted(ranks)[math.ceil(len(ranks) * FOUND) - 1] if ranks else len(centers)
        log.info("indexed memories", lists=len(centers), probes=probes)
        return Step([IndexReady(about["number"], probes)], None)

    async def _centroids_of(self, tenant: str, number: int) -> Matrix:
        if self._centroids is None or self._centroids[0] != number:
            self._centroids = number, await self._store.centroids(tenant, number)
        return self._centroids[1]

    async def embed(self, lease: Lease) -> Step:
        """Embed the next texts of a tenant."""
        about, embedder = lease.input, self._platform.embedder
        if about["embedder"] != embedder.name:
            # Of another release or another process's settings. Two would replace each other's vectors for ever.
            return Step((), None)
        found = await self._store.outdated(lease.tenant, embedder.name, after=about["after"], most=EMBEDDED_AT_ONCE)
        if not found:
            log.info("embedded memories again", embedder=embedder.name, memories=about["done"])
            return Step([ScopesLeft(embedder.name)], None)
        vectors = await embedder.embed_documents([one["text"] for one in found])
        rows = [
            MemoryEmbedded(one["memory_id"], one["embedder"], embedder.name, literal(vector), code)
            for one, vector, code in zip(found, vectors, codes(vectors), strict=True)
        ]
        return Step(rows, {**about, "after": found[-1]["memory_id"], "done": about["done"] + len(rows)})

    async def ended(self, lease: Lease, step: Step) -> Changeset:
        changes = Changeset(Cause.of_lease(lease)).put(*step.rows)
        return changes if step.next is None else changes.start(lease.successor(_own(step.next)))

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        """Try the same batch later."""
        log.warning("upkeep failed", kind=lease.kind, reason=str(error))
        again = lease.successor(_own(lease.input), delay=RETRY_SECONDS)
        return Changeset(Cause.of_lease(lease)).start(again)


def _own(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return an input without what the writer adds to it."""
    return {name: value for name, value in about.items() if not name.startswith("_")}
