"""Sleep: consolidates a person's memories batch by batch, each under a lease of its own, oldest first.

Nrem merges each memory into a later one with the same words, and lets old ones fade; rem links those that are near.
A crash repeats one batch, with the same rows. Memories that sleep has not reached are recalled as they are.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from libs import ids
from libs.changes import Cause, Changeset
from libs.errors import SumaError
from libs.events import RememberRequested
from libs.leases import Lease
from libs.search import Embedder
from libs.telemetry.logs import logger
from services.memory_service.domain.consolidation import Consolidated, consolidate
from services.memory_service.mind.rows import MemoriesLinked, MemoryMerged, SleepStep
from services.memory_service.mind.store import MindStore
from services.memory_service.mind.writing import MindWriting
from services.memory_service.store import GROUP
from services.memory_service.writing import Person

LOAD_MOST = 0.8
"""A cognitive load above this starts a sleep (S3-06)."""
LOOKS_EACH = 32
"""Memories of a person after which this process looks at the load."""
LOOKS_MOST = 100
PEOPLE_MOST = 10_000
BATCH = 20
PAUSE_SECONDS = 1.0
"""The pause between two batches of an automatic sleep, which would otherwise double the CPU of turns under load."""

Apply: TypeAlias = Callable[[Changeset], Awaitable[object]]

log = logger("memory")


@dataclass(frozen=True, slots=True)
class Batch:
    """The consolidation of some memories; `last` is the time and id of the last one, and `count` their number."""

    found: Consolidated
    last: tuple[str, str] | None
    count: int
    fade_days: float


class Sleeping:
    def __init__(
        self, store: MindStore, writing: MindWriting, embedder: Embedder, apply: Apply, *, load_memories: int
    ) -> None:
        self._store, self._writing, self._embedder, self._apply = store, writing, embedder, apply
        self._load_memories = load_memories
        self._degraded: Callable[[], bool] = lambda: False
        self._counts = Counter[tuple[str, str]]()
        self._looks = asyncio.Queue[tuple[str, Person]](LOOKS_MOST)

    def rests_while(self, degraded: Callable[[], bool]) -> None:
        """Begin no sleep by itself while this holds: it is background work, which needs the same database."""
        self._degraded = degraded

    def load(self, awake: int) -> float:
        """Return the cognitive load, from 0 to 1: the share of memories that may wait for sleep."""
        return min(1.0, awake / self._load_memories)

    def look(self, tenant: str, asked: RememberRequested) -> None:
        """Note a committed memory, and look at the load after some."""
        key = tenant, asked.user
        self._counts[key] += 1
        if self._counts[key] % LOOKS_EACH == 0 and not self._looks.full():
            self._looks.put_nowait((tenant, Person(asked.user, asked.scopes)))
        if len(self._counts) > PEOPLE_MOST:
            self._counts.clear()

    async def watch(self) -> None:
        """Start a sleep of each person with too high a load, for ever."""
        while True:
            tenant, person = await self._looks.get()
            try:
                await self._start_if_tired(tenant, person)
            except SumaError as error:
                log.warning("could not start a sleep", reason=str(error))

    async def _start_if_tired(self, tenant: str, person: Person) -> None:
        if self._degraded():
            return
        mind = await self._store.mind(tenant, person.id)
        latest = await self._store.sleeps(tenant, person.id, most=1)
        if self.load(mind.awake) > LOAD_MOST and not (latest and latest[0].state == "running"):
            cause = Cause.request(GROUP, id=ids.new(), tenant=tenant, key=f"{tenant}:user:{person.id}")
            written = await self._writing.sleep(cause, person, nrem=True, rem=True, pause=PAUSE_SECONDS)
            # A conflict: another process has started one.
            await self._apply(written.changeset)

    async def run(self, lease: Lease) -> Batch:
        """Consolidate the next memories after those of the lease before."""
        tenant, about = lease.tenant, lease.input
        mind = await self._store.mind(tenant, about["person"])
        at, id = await self._begin(tenant, about)
        pairs = await self._store.neighbours(tenant, about["person"], at, id, BATCH)
        found = consolidate(pairs, nrem=about["nrem"], rem=about["rem"], calibrate=self._embedder.calibrate)
        last = (pairs[-1].created_at.isoformat(), pairs[-1].id) if pairs else None
        return Batch(found, last, len({pair.id for pair in pairs}), mind.modulators.fade_days)

    async def ended(self, lease: Lease, batch: Batch) -> Changeset:
        """Write what was found, and go on with the next batch, or end."""
        about = lease.input
        sleep, person = about["sleep_id"], about["person"]
        totals = {
            "scanned": about.get("scanned", 0) + batch.count,
            "merged": about.get("merged", 0) + len(batch.found.merged),
            "linked": about.get("linked", 0) + len(batch.found.linked),
        }
        to = batch.last[0] if batch.last else None
        changes = Changeset(Cause.of_lease(lease)).put(
            *(MemoryMerged(sleep, id, into) for id, into in batch.found.merged),
            *(MemoriesLinked(sleep, person, id, other, likeness) for id, other, likeness in batch.found.linked),
        )
        if batch.last is not None and batch.count == BATCH:
            on = {**_plain(about), **totals, "after": list(batch.last)}
            goes_on = lease.successor(on, delay=about.get("pause"))
            return changes.put(SleepStep(sleep, person, to=to, **totals)).start(goes_on)
        log.info("slept", **totals)
        fade = batch.fade_days if about["nrem"] else None
        return changes.put(SleepStep(sleep, person, to=to, state="done", fade_days=fade, **totals))

    async def failed(self, lease: Lease, error: SumaError) -> Changeset:
        """End the sleep; what it has done stays, and can be undone."""
        log.warning("could not finish a sleep", reason=str(error))
        totals = {name: lease.input.get(name, 0) for name in ("scanned", "merged", "linked")}
        step = SleepStep(lease.input["sleep_id"], lease.input["person"], state="failed", **totals)
        return Changeset(Cause.of_lease(lease)).put(step)

    async def _begin(self, tenant: str, about: Any) -> tuple[datetime, str]:
        if "after" in about:
            at, id = about["after"]
            return datetime.fromisoformat(at), id
        # From where the last sleep ended; memories of that very time are looked at again.
        return await self._store.slept_to(tenant, about["person"]) or datetime(1, 1, 2, tzinfo=UTC), ""


def _plain(about: Any) -> dict[str, Any]:
    """Return a lease's input without what its start added."""
    return {name: value for name, value in about.items() if not name.startswith("_")}
