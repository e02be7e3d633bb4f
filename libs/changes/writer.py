"""The writer: applies every waiting changeset of this process, one per lane, in one transaction and one round trip.

Batching adds no delay: while one batch commits, the next one fills, round-robin by tenant. A bad changeset fails alone:
a conflict names itself (SU001), bad data is found by bisection, and the rest of the batch is applied (bus.md 5-8).
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

import asyncpg
import orjson

from libs.bus.ports import Partition, Record
from libs.changes import batch
from libs.changes.batch import Lane, Parking, Queued
from libs.changes.changeset import Changeset
from libs.clock import Clock
from libs.database import SILENCE, Database, DatabaseDown
from libs.errors import Conflict, Crowded, Rejected, Unavailable
from libs.events.base import Event
from libs.events.envelope import Envelope
from libs.leases.ports import Lease, NewLease
from libs.scheduling import FairBatches
from libs.telemetry import metrics, traces

Waiting: TypeAlias = "tuple[Queued, asyncio.Future[Applied]]"

MOST = 64
WAITING_MOST = 10_000
CONFLICT = "SU001"
FRESH, SEEN, BEHIND, LOST = "fresh", "seen", "behind", "lost"


class Closed(Unavailable):
    """The writer has stopped; the inbox tells whether the changeset was applied."""

    code = "CLOSED"


class Stale(Conflict):
    """A row that the decision rests on has changed."""


class BadChangeset(Rejected):
    """The database refuses this changeset by itself, whatever else is in its batch."""

    code = "BAD_CHANGESET"


class Overloaded(Crowded):
    """Too many changesets are waiting."""

    code = "OVERLOADED"


@dataclass(frozen=True, slots=True)
class Applied:
    """The outcome of a changeset: fresh (applied), seen (its input was answered before), behind (its key is parked), or
    lost (its lease has moved on). Only a fresh one has changed anything.
    """

    verdict: str
    records: Sequence[Record] = ()
    claimed: Sequence[Lease] = ()


Sign = Callable[[Envelope[Event]], Envelope[Event]]
Add = Callable[[Changeset], None]
"""Add the changeset of a consequence to a chain. Raises Rejected, with nothing added, if it cannot be written."""
Fuse = Callable[[Queued, Add], AbstractAsyncContextManager[None]]
"""Let what follows from a changeset join it, for as long as it is applied."""


@dataclass(frozen=True, slots=True)
class WriterHooks:
    """Callbacks of the host, which `run` is given: claims before a commit, and its outcomes after it."""

    claim: Callable[[str, str, NewLease], bool] = lambda group, tenant, start: False
    """Return whether this lease may be claimed at birth; a yes reserves its room until `begin` or `unclaim`."""
    unclaim: Callable[[Lease], None] = lambda lease: None
    begin: Callable[[Lease], None] = lambda lease: None
    note_due: Callable[[str, str, str], None] = lambda group, kind, tenant: None
    """Called when a lease was created unclaimed and is due at once."""
    deliver: Callable[[Sequence[Record], Collection[Partition]], None] = lambda records, left: None
    """Called with the published events, and the partitions that their commit left to be projected."""
    cancelled: Callable[[Sequence[str]], None] = lambda ids: None
    point: Callable[[str], None] = lambda point: None
    fuse: Fuse | None = None


class Writer:
    """Applies changesets over one pinned connection as suma_app, one writer per process; any number may run side by
    side. `sign` returns an event as it is published: the gateway signs what speaks for a person.
    """

    def __init__(self, database: Database, clock: Clock, member: str, *, sign: Sign = lambda event: event) -> None:
        self._database = database
        self._clock = clock
        self._member = member
        self._queue: FairBatches[Waiting] = FairBatches()
        self._wake = asyncio.Event()
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None
        self._open: set[asyncio.Future[Applied]] = set()
        self._closed = False
        self.sign, self.hooks = sign, WriterHooks()
        self.waiting = 0
        self.problem: str | None = None
        """Why nothing can be written, for `/readyz`; None while it can."""

    async def apply(
        self, changeset: Changeset, *, state: str = "done", parking: Parking | None = None, waits: bool = True
    ) -> Applied:
        """Apply a changeset and return once it has committed.

        Raises:
            Conflict: a row that the decision rests on has changed; decide again.
            Rejected: the database refuses it; nothing of it was applied.
            Unavailable: the queue is full, or the writer has stopped. While Postgres is away it waits, unless it may
                not wait and nothing of it was sent.
        """
        # Records and leases are bounded where they are read; only requests can be turned away here.
        if self.waiting >= WAITING_MOST and changeset.cause.topic is None and changeset.cause.lease is None:
            raise Overloaded()
        # Nothing of it was sent, so the caller may repeat it or give it up.
        if self.problem is not None and not waits:
            raise DatabaseDown
        entry = self._entry((changeset,), state, parking, (changeset.cause.group, changeset.cause.key))
        entry.waits = waits
        if self.hooks.fuse is None or parking is not None:
            return await self._applied(entry)
        async with self.hooks.fuse(entry, lambda consequence: self._add(entry, consequence)):
            return await self._applied(entry)

    async def apply_gathered(self, changesets: Sequence[Changeset], *, lane: tuple[str, str]) -> Applied:
        """Apply the changesets of several inputs as one, all or none; none may rest on rows that were read.

        Raises:
            Conflict: some inputs were answered before, or a row has changed; apply them one by one.
            Rejected, Unavailable: as `apply`.
        """
        return await self._applied(self._entry(changesets, "done", None, lane))

    async def run(self, hooks: WriterHooks | None = None) -> None:
        """Write until cancelled."""
        self.hooks, self._closed = hooks or self.hooks, False
        try:
            while True:
                await self._wake.wait()
                taken = self._take()
                if not taken:
                    # No await since the queue was found empty, so no wake-up is lost.
                    self._wake.clear()
                    continue
                await self._write(taken)
        finally:
            self._closed = True
            self._drop_connection()
            # Callers of a stopped writer would wait for ever.
            for done in list(self._open):
                if not done.done():
                    done.set_exception(Closed())

    async def _applied(self, entry: Queued) -> Applied:
        if self._closed:
            raise Closed()
        # Last, since it reserves places: an event that cannot be written must leave none reserved.
        for place, changeset in enumerate(entry.changesets):
            self._start(entry, changeset, place)
        done: asyncio.Future[Applied] = asyncio.get_running_loop().create_future()
        self._queue.put(_tenant(entry.changesets), entry.lane, (entry, done))
        self._open.add(done)
        self.waiting += 1
        self._wake.set()
        try:
            return await done
        finally:
            self.waiting -= 1
            self._open.discard(done)

    def _entry(self, changesets: Sequence[Changeset], state: str, parking: Parking | None, lane: Lane) -> Queued:
        entry = Queued([], [], lane)
        for changeset in changesets:
            self._add(entry, changeset, state)
        if parking is not None:
            entry.parks.append(batch.parked(changesets[0].cause, parking))
        return entry

    def _add(self, entry: Queued, changeset: Changeset, state: str = "done") -> None:
        place, now, traceparent = len(entry.items), self._clock.now(), traces.traceparent()
        headers = batch.shared(changeset.cause, now=now, traceparent=traceparent)
        spoken = []
        try:
            for event in batch.travelling(changeset.events):
                # Signed last: the proof covers the id and the turn, too (architecture.md 9).
                said = self.sign(batch.envelope(changeset.cause, event, now=now, traceparent=traceparent))
                spoken.append((*batch.spoken(said, headers), place))
        except (ValueError, TypeError) as error:
            raise BadChangeset(f"an event cannot be written as JSON: {error}") from error
        item = batch.item(changeset.cause, state)
        if spoken or changeset.starts:
            item = batch.abridged(item, headers, next(iter(entry.items), None))
        entry.changesets.append(changeset)
        entry.items.append(item)
        entry.headers.append(headers)
        entry.spoken += spoken

    def _start(self, entry: Queued, changeset: Changeset, place: int) -> None:
        cause = changeset.cause
        for start in changeset.starts:
            claimed = start.delay is None and self.hooks.claim(cause.group, cause.tenant, start)
            row, lease = batch.started(
                cause,
                start,
                entry.headers[place],
                owner=self._member if claimed else None,
                with_event=entry.says(cause.id),
            )
            entry.starts.append((row, place))
            if lease is not None:
                entry.claimed.append(lease)

    def _take(self) -> list[Waiting]:
        """Take up to 64 waiting entries, at most one per lane: a second one would not see the first one's rows."""
        taken: list[Waiting] = []
        while not taken and self._queue:
            for waiting in self._queue.take(MOST):
                entry, done = waiting
                if done.cancelled():
                    # The caller was cancelled before the commit: withdraw its changeset.
                    self._unclaim(entry)
                else:
                    taken.append(waiting)
        self._keep_lanes_apart([entry for entry, _ in taken])
        return taken

    def _keep_lanes_apart(self, entries: Sequence[Queued]) -> None:
        """Cut the chains that share a lane with another entry of the batch, such as a request of the same key."""
        lanes = Counter(lane for entry in entries for lane in entry.lanes)
        for entry in entries:
            if any(lanes[lane] > 1 for lane in entry.lanes):
                self._cut(entry)

    async def _write(self, taken: list[Waiting]) -> None:
        """Apply these entries together; an entry that conflicts or is bad fails alone."""
        while taken := await self._reachable(taken):
            try:
                document = batch.document([entry for entry, _ in taken])
                answer = await self._commit(document, len(taken))
            except asyncpg.PostgresError as error:
                # An error is an answer, too: Postgres can be reached.
                self.problem = None
                if conflicts := _conflicts(error, len(taken)):
                    # The others were rolled back with them, and are applied without them.
                    stale = Stale(str(error))
                    taken = [w for n, w in enumerate(taken) if n not in conflicts or self._goes_on_alone(w, stale)]
                else:
                    taken = await self._halve(taken, BadChangeset(f"{error.sqlstate}: {error}"))
            except TypeError as error:
                taken = await self._halve(taken, BadChangeset(f"it cannot be written as JSON: {error}"))
            else:
                self._answer(taken, answer)
                return

    async def _reachable(self, taken: list[Waiting]) -> list[Waiting]:
        """Connect to Postgres; meanwhile fail the entries that do not wait. None of these entries was sent."""
        pause = 0.05
        while taken and (self._connection is None or self._connection.is_closed()):
            try:
                self._connection = await self._database.pinned()
            except DatabaseDown as error:
                self.problem = f"nothing can be written: {error}"
                for waiting in taken:
                    if not waiting[0].waits:
                        self._fail(waiting, error)
                taken = [waiting for waiting in taken if waiting[0].waits]
                if taken:
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, 1.0)
        self.problem = None
        return taken

    async def _halve(self, taken: list[Waiting], error: BadChangeset) -> list[Waiting]:
        """Bisect a batch with a bad entry: write the first half, return the second; a single entry is the bad one."""
        if len(taken) == 1:
            return taken if self._goes_on_alone(taken[0], error) else []
        half = len(taken) // 2
        await self._write(taken[:half])
        return taken[half:]

    async def _commit(self, document: str, size: int) -> dict[str, Any]:
        """Commit in one round trip. After a lost connection, send it again: the inbox skips what was applied."""
        pause = 0.05
        while True:
            try:
                if self._connection is None or self._connection.is_closed():
                    self._connection = await self._database.pinned()
                self.hooks.point("writer:commit:before")
                with metrics.commit_seconds.time():
                    answer: str = await self._connection.fetchval("select bus.commit($1)", document)
                self.hooks.point("writer:commit:after")
                self.problem = None
                metrics.batch_size.observe(size)
                return orjson.loads(answer)  # type: ignore[no-any-return]
            # Also for entries that may not wait: it is unknown whether they were applied, and only a repetition tells.
            except (*SILENCE, DatabaseDown) as error:
                self._drop_connection()
                self.problem = f"nothing can be written: {error}"
                await asyncio.sleep(pause)
                pause = min(pause * 2, 1.0)
            # A deadlock or a serialization failure (class 40): nothing was applied, so send it again.
            except asyncpg.TransactionRollbackError:
                continue

    def _drop_connection(self) -> None:
        if self._connection is not None:
            # Not `close()`: that would wait for a server that does not answer.
            self._connection.terminate()
            self._connection = None

    def _answer(self, taken: list[Waiting], answer: dict[str, Any]) -> None:
        """Report the outcomes: readers first, so that published events are on their way before their cause is done."""
        loop = asyncio.get_running_loop()
        verdicts, positions = answer["verdicts"], answer["positions"]
        left = {Partition(topic, part) for topic, part in answer.get("left", ())}
        for n, (entry, done) in enumerate(taken):
            verdict = verdicts[str(n)]
            # Run the callbacks first: handlers of the published events rely on the copies that they set.
            for then in (then for changeset in entry.changesets if verdict == FRESH for then in changeset.then):
                # Called by the loop, so that a failing callback harms nothing else, and still before the caller
                # resumes.
                loop.call_soon(then)
            records = entry.records(positions) if verdict == FRESH else []
            if records:
                self.hooks.deliver(records, left)
            for row, place in entry.starts if verdict == FRESH else ():
                if not row.get("owner") and not row["delay"]:
                    cause = entry.changesets[place].cause
                    self.hooks.note_due(cause.group, row["kind"], cause.tenant)
            for lease in entry.claimed:
                # A repeated input created no lease, so its reserved place is free again.
                (self.hooks.begin if verdict == FRESH else self.hooks.unclaim)(lease)
            for changeset in entry.changesets if verdict == FRESH else ():
                if changeset.cancels:
                    self.hooks.cancelled(changeset.cancels)
            # A caller that was cancelled during the commit gets no answer; its changeset is applied nevertheless.
            if not done.done():
                done.set_result(Applied(verdict, entry.of_first(records), entry.claimed))

    def _goes_on_alone(self, waiting: Waiting, error: Exception) -> bool:
        """Cut a chain that failed, so that its first changeset is applied alone; fail any other entry."""
        if cut := self._cut(waiting[0]):
            metrics.chains_cut.inc()
        else:
            self._fail(waiting, error)
        return cut

    def _cut(self, entry: Queued) -> bool:
        """Take the consequences out of a chain: their events are delivered as ever. Return whether it had any."""
        if not entry.consequences:
            return False
        for lease in entry.cut():
            self.hooks.unclaim(lease)
        return True

    def _fail(self, waiting: Waiting, error: Exception) -> None:
        entry, done = waiting
        self._unclaim(entry)
        if not done.done():
            done.set_exception(error)

    def _unclaim(self, entry: Queued) -> None:
        for lease in entry.claimed:
            self.hooks.unclaim(lease)


def _tenant(changesets: Sequence[Changeset]) -> str:
    """Return the tenant that the entry is queued under; gathered changesets of several tenants share the empty one."""
    tenants = {changeset.cause.tenant for changeset in changesets}
    return tenants.pop() if len(tenants) == 1 else ""


def _conflicts(error: asyncpg.PostgresError, size: int) -> set[int]:
    """Return the numbers of the changesets whose rows have changed; empty for any other error."""
    if error.sqlstate != CONFLICT:
        return set()
    return {n for n in map(int, re.findall(r"\d+", str(getattr(error, "detail", "")))) if n < size}
