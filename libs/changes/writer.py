"""The writer: applies every waiting changeset of this process, at most one per lane, in one transaction and one round
trip.

Batching is natural, never lingering: while one batch commits, the next gathers, from all tenants in turn. A bad
changeset fails alone: a conflict names itself (SU001), bad data is found by halving, and everything else of the batch
goes through (bus.md 5-8).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import asyncpg
import orjson

from libs.bus.ports import Record
from libs.changes import batch
from libs.changes.batch import Entry, Parking
from libs.changes.changeset import Changeset
from libs.clock import Clock
from libs.database import SILENCE, Database, DatabaseDown
from libs.errors import Conflict, Crowded, Rejected, Unavailable
from libs.fair import Batches
from libs.leases.ports import Held, Start
from libs.telemetry import metrics, traces

Waiting: TypeAlias = "tuple[Entry, asyncio.Future[Applied]]"

MOST = 64
WAITING_MOST = 10_000
CONFLICT = "SU001"
FRESH, SEEN, BEHIND, LOST = "fresh", "seen", "behind", "lost"


class Closed(Unavailable):
    """The writer has stopped; whether this was written is for the inbox to say."""

    code = "CLOSED"


class Stale(Conflict):
    """What the decision rested on has changed."""


class BadChangeset(Rejected):
    """The database refuses this changeset whatever it stands beside."""

    code = "BAD_CHANGESET"


class Overloaded(Crowded):
    """Too many changesets are waiting."""

    code = "OVERLOADED"


@dataclass(frozen=True, slots=True)
class Applied:
    """How a changeset went: fresh (applied), seen (its input was answered before), behind (its key is parked), lost
    (its lease has moved on). Only a fresh one has changed anything."""

    verdict: str
    records: Sequence[Record] = ()
    held: Sequence[Held] = ()


class Desk:
    """What the writer asks of the rest of its process; the host fills it in."""

    def __init__(self) -> None:
        self.claim: Callable[[str, str, Start], bool] = lambda group, tenant, start: False
        """May this lease be claimed at birth? A yes reserves its room until `begin` or `unclaim`."""
        self.unclaim: Callable[[Held], None] = lambda held: None
        self.begin: Callable[[Held], None] = lambda held: None
        self.due: Callable[[str, str, str], None] = lambda group, kind, tenant: None
        """A lease was born that nobody holds, and that may be worked on at once."""
        self.hand: Callable[[Sequence[Record]], None] = lambda records: None
        self.cancelled: Callable[[Sequence[str]], None] = lambda ids: None
        self.point: Callable[[str], None] = lambda point: None


class Writer:
    """One per process, on one pinned connection as suma_app; nothing depends on there being only one."""

    def __init__(self, database: Database, clock: Clock, member: str) -> None:
        self._database = database
        self._clock = clock
        self._member = member
        self._queue: Batches[Waiting] = Batches()
        self._wake = asyncio.Event()
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None
        self._open: set[asyncio.Future[Applied]] = set()
        self._closed = False
        self.desk = Desk()
        self.waiting = 0
        self.problem: str | None = None
        """Why nothing is being written, for `/readyz`."""

    async def apply(self, changeset: Changeset, *, state: str = "done", parking: Parking | None = None) -> Applied:
        """Apply it, and answer once it has committed.

        Raises:
            Conflict: a row that the decision rests on has changed; decide again.
            Rejected: the database refuses it; nothing of it was applied.
            Unavailable: the queue is full, or the writer has stopped. (While Postgres is away it waits.)
        """
        # Records and leases are bounded where they are taken; only requests can be sent away.
        if self.waiting >= WAITING_MOST and changeset.cause.topic is None and changeset.cause.lease is None:
            raise Overloaded()
        return await self._applied((changeset,), state, parking, (changeset.cause.group, changeset.cause.key))

    async def apply_gathered(self, changesets: Sequence[Changeset], *, lane: tuple[str, str]) -> Applied:
        """Apply several inputs' changesets as one, all or none: for changes that rest on nothing that was read.

        Raises:
            Conflict: some of the inputs were answered before, or a row has changed: go through them one by one.
            Rejected, Unavailable: as `apply`.
        """
        return await self._applied(changesets, "done", None, lane)

    async def run(self) -> None:
        """Write until cancelled."""
        self._closed = False
        try:
            while True:
                await self._wake.wait()
                taken = self._take()
                if not taken:
                    self._wake.clear()
                    continue
                await self._write(taken)
        finally:
            self._closed = True
            self._drop_connection()
            for done in list(self._open):
                if not done.done():
                    done.set_exception(Closed())

    async def _applied(
        self, changesets: Sequence[Changeset], state: str, parking: Parking | None, lane: tuple[str, str]
    ) -> Applied:
        if self._closed:
            raise Closed()
        entry = self._entry(changesets, state, parking, lane)
        done: asyncio.Future[Applied] = asyncio.get_running_loop().create_future()
        self._queue.put(_tenant(changesets), lane, (entry, done))
        self._open.add(done)
        self.waiting += 1
        self._wake.set()
        try:
            return await done
        finally:
            self.waiting -= 1
            self._open.discard(done)

    def _entry(
        self, changesets: Sequence[Changeset], state: str, parking: Parking | None, lane: tuple[str, str]
    ) -> Entry:
        entry = Entry(changesets, [batch.item(changeset.cause, state) for changeset in changesets], lane)
        now, traceparent = self._clock.now(), traces.traceparent()
        try:
            for changeset in changesets:
                for event in changeset.events:
                    said = batch.envelope(changeset.cause, event, now=now, traceparent=traceparent)
                    entry.spoken.append(batch.spoken(said))
        except (ValueError, TypeError) as error:
            raise BadChangeset(f"an event cannot be written as JSON: {error}") from error
        if parking is not None:
            entry.parks.append(batch.parked(changesets[0].cause, parking))
        for changeset in changesets:
            self._start(entry, changeset)
        return entry

    def _start(self, entry: Entry, changeset: Changeset) -> None:
        cause = changeset.cause
        for start in changeset.starts:
            claimed = start.delay is None and self.desk.claim(cause.group, cause.tenant, start)
            row, held = batch.started(cause, start, owner=self._member if claimed else None)
            entry.starts.append(row)
            if held is not None:
                entry.held.append(held)

    def _take(self) -> list[Waiting]:
        """Up to 64 waiting entries, at most one per lane: a lane's second would not see the first's rows."""
        taken: list[Waiting] = []
        while not taken and self._queue:
            for waiting in self._queue.take(MOST):
                entry, done = waiting
                if done.cancelled():
                    # Its caller has given up in time: it is withdrawn.
                    self._unclaim(entry)
                else:
                    taken.append(waiting)
        return taken

    async def _write(self, taken: list[Waiting]) -> None:
        """Apply these together; whoever must not be among them fails alone."""
        while taken:
            try:
                document = batch.document([entry for entry, _ in taken])
                answer = await self._commit(document, len(taken))
            except asyncpg.PostgresError as error:
                conflicts = _conflicts(error, len(taken))
                for n in conflicts:
                    self._fail(taken[n], Stale(str(error)))
                if conflicts:
                    taken = [waiting for n, waiting in enumerate(taken) if n not in conflicts]
                else:
                    taken = await self._halve(taken, BadChangeset(f"{error.sqlstate}: {error}"))
            except TypeError as error:
                taken = await self._halve(taken, BadChangeset(f"it cannot be written as JSON: {error}"))
            else:
                self._answer(taken, answer)
                return

    async def _halve(self, taken: list[Waiting], error: BadChangeset) -> list[Waiting]:
        """Someone of these is bad: write the first half, and answer with the second; one alone is the one."""
        if len(taken) == 1:
            self._fail(taken[0], error)
            return []
        half = len(taken) // 2
        await self._write(taken[:half])
        return taken[half:]

    async def _commit(self, document: str, size: int) -> dict[str, Any]:
        """One round trip; through a lost connection it asks again, and the inbox tells what was already applied."""
        pause = 0.05
        while True:
            try:
                if self._connection is None or self._connection.is_closed():
                    self._connection = await self._database.pinned()
                self.desk.point("writer:commit:before")
                with metrics.commit_seconds.time():
                    answer: str = await self._connection.fetchval("select bus.commit($1)", document)
                self.desk.point("writer:commit:after")
                self.problem = None
                metrics.batch_size.observe(size)
                return orjson.loads(answer)  # type: ignore[no-any-return]
            except (*SILENCE, DatabaseDown) as error:
                self._drop_connection()
                self.problem = f"nothing can be written: {error}"
                await asyncio.sleep(pause)
                pause = min(pause * 2, 1.0)
            except asyncpg.TransactionRollbackError:
                continue

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    def _answer(self, taken: list[Waiting], answer: dict[str, Any]) -> None:
        """Tell everyone: the readers first, so that what was published is on its way before its cause is done."""
        loop = asyncio.get_running_loop()
        verdicts, positions = answer["verdicts"], answer["positions"]
        for n, (entry, done) in enumerate(taken):
            verdict = verdicts[str(n)]
            # What follows here comes first: whoever handles what was published finds the copies that it sets.
            for then in (then for changeset in entry.changesets if verdict == FRESH for then in changeset.then):
                # From the loop, so that one that fails harms nobody; still before the caller goes on.
                loop.call_soon(then)
            records = entry.records(positions) if verdict == FRESH else []
            if records:
                self.desk.hand(records)
            for row in entry.starts if verdict == FRESH else ():
                if row["owner"] is None and not row["delay"]:
                    self.desk.due(row["grp"], row["kind"], row["tenant"])
            for held in entry.held:
                (self.desk.begin if verdict == FRESH else self.desk.unclaim)(held)
            for changeset in entry.changesets if verdict == FRESH else ():
                if changeset.cancels:
                    self.desk.cancelled(changeset.cancels)
            if not done.done():
                done.set_result(Applied(verdict, records, entry.held))

    def _fail(self, waiting: Waiting, error: Exception) -> None:
        entry, done = waiting
        self._unclaim(entry)
        if not done.done():
            done.set_exception(error)

    def _unclaim(self, entry: Entry) -> None:
        for held in entry.held:
            self.desk.unclaim(held)


def _tenant(changesets: Sequence[Changeset]) -> str:
    """Whose turn it takes: gathered ones of several tenants take one of their own."""
    tenants = {changeset.cause.tenant for changeset in changesets}
    return tenants.pop() if len(tenants) == 1 else ""


def _conflicts(error: asyncpg.PostgresError, size: int) -> set[int]:
    """The numbers of the changesets whose rows have changed; none when the error is of another kind."""
    if error.sqlstate != CONFLICT:
        return set()
    return {n for n in map(int, re.findall(r"\d+", str(getattr(error, "detail", "")))) if n < size}
