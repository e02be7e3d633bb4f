"""The lease runner: runs the work that this process holds leases for, renews them in one statement, claims due ones.

A lease that a heartbeat does not return is lost: its work is cancelled and its result is discarded. After ten seconds
without a successful heartbeat all work is cancelled, before another process can claim it (bus.md 17, 18).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from libs.changes.changeset import Cause, Changeset
from libs.changes.lanes import Lanes
from libs.changes.writer import Applied, Writer
from libs.errors import Conflict, Rejected, SumaError, Unavailable
from libs.leases.ports import (
    BEAT_SECONDS,
    DEATHS_MOST,
    GIVE_UP_SECONDS,
    TTL_SECONDS,
    Cancelled,
    Exhausted,
    Lease,
    Leases,
    NewLease,
    ProcessDied,
)
from libs.polling import Pause
from libs.resilience import CircuitOpen
from libs.runtime.consumer import (
    DECIDE_MOST,
    FAULTS_MOST,
    Consumer,
    Crashed,
    backoff,
    being_cancelled,
    deciding,
    is_fault,
)
from libs.runtime.failure_reports import FailureReports
from libs.runtime.service import Kind, Service
from libs.scheduling import FairSemaphore
from libs.telemetry import metrics
from libs.telemetry.logs import logger
from libs.telemetry.traces import span

SWEEP_SECONDS = 1.0
BEAT_ANSWER_SECONDS = 2.0
MARGIN_SECONDS = 3.0
"""Seconds before a lease's expiry from which it permits no effects, so that the last permitted one happens in time."""
WAIT_MOST = 60.0
"""Longest delay in seconds that an error's `retry_after` can cause."""
CANCEL_SECONDS = 2.0
"""Seconds that cancelled work may take to end when the process stops."""

log = logger("leases")
End: TypeAlias = Callable[[], Awaitable[Changeset]]


class ConcurrencyLimit:
    """The leases of one kind that this process holds, in all and by tenant, against their limits."""

    def __init__(self, kind: Kind[Any]) -> None:
        self.kind = kind
        self.taken = 0
        self.tenants: dict[str, int] = {}
        self.is_full = False
        """More leases are due than fit. A tenant that holds one already queues behind the due ones."""
        self.waiting: set[str] = set()
        """Tenants that may have due leases; these come before newly created ones."""

    @property
    def left(self) -> int:
        return self.kind.room - self.taken

    def admits(self, tenant: str) -> bool:
        """Return whether this tenant's next lease may be claimed at birth; otherwise it waits for the sweep, where
        tenants take turns.
        """
        fits = self.left > 0 and not self.is_tenant_full(tenant)
        if fits and tenant not in self.waiting and not (self.is_full and tenant in self.tenants):
            return True
        self.waiting.add(tenant)
        return False

    def is_tenant_full(self, tenant: str) -> bool:
        return self.tenants.get(tenant, 0) >= self.kind.per_tenant

    def has_waiting(self, tenant: str) -> bool:
        """Return whether a lease of this tenant, or any lease, probably waits for the place that becomes free."""
        return self.is_full or self.left <= 0 or tenant in self.waiting or self.is_tenant_full(tenant)

    def swept(self, waited: set[str], *, filled: bool) -> None:
        """Update the waiting tenants after a claim: all of `waited` if filled, else those at their limit."""
        self.is_full = filled
        self.waiting |= waited if filled else set(filter(self.is_tenant_full, waited))

    def enter(self, tenant: str) -> None:
        self.taken += 1
        self.tenants[tenant] = self.tenants.get(tenant, 0) + 1

    def leave(self, tenant: str) -> None:
        self.taken -= 1
        self.tenants[tenant] -= 1
        if not self.tenants[tenant]:
            del self.tenants[tenant]


@dataclass(slots=True, eq=False)
class Work:
    """A running piece of work and its lease."""

    lease: Lease
    renewed: float
    """When the last successful claim or renewal was requested, by `time.monotonic`, which also counts while the process
    is stopped.
    """
    task: asyncio.Task[None] = field(init=False)
    stopping: bool = False
    """The work was cancelled on request; its end reports that."""
    settling: bool = False
    """The long part is done and its end is being applied; it can no longer be cancelled."""
    lost: bool = False

    def valid(self) -> bool:
        """Return whether the lease still permits effects. Safe to call from any thread."""
        return not self.lost and time.monotonic() - self.renewed < TTL_SECONDS - MARGIN_SECONDS


class LeaseRunner:
    """Runs the leased work of one process, for all kinds of all its services."""

    def __init__(
        self,
        services: Sequence[Service],
        *,
        leases: Leases,
        writer: Writer,
        lanes: Lanes,
        consumers: Mapping[str, Consumer],
        notices: FailureReports,
        point: Callable[[str], None],
        gate: FairSemaphore | None = None,
        beat_every: float = BEAT_SECONDS,
        sweep_every: float = SWEEP_SECONDS,
    ) -> None:
        self._limits = {
            (service.name, kind.name): ConcurrencyLimit(kind) for service in services for kind in service.kinds
        }
        self._leases, self._writer, self._lanes, self._consumers = leases, writer, lanes, consumers
        self._notices, self._point, self._gate = notices, point, gate or deciding()
        self._beat_every, self._sweep_every = beat_every, sweep_every
        self._work: dict[str, Work] = {}
        self._born: dict[str, float] = {}
        """When each lease that is being claimed at birth was requested, by `time.monotonic`."""
        self._sweep = asyncio.Event()
        self._taking = True
        self.stopped: list[str] = []
        """Leases whose end cannot be written, for `/readyz`."""

    def claim(self, group: str, tenant: str, start: NewLease) -> bool:
        """Return whether a lease may be claimed at birth, and if so reserve its place."""
        limit = self._limits.get((group, start.kind))
        # A kind that another process runs is claimed by its sweep.
        if limit is None or not self._taking:
            return False
        if not limit.admits(tenant):
            return False
        limit.enter(tenant)
        # Counted from before the commit, so that it ends before the database's time does.
        self._born[start.id] = time.monotonic()
        return True

    def unclaim(self, lease: Lease) -> None:
        """Release the place of a lease that was not created."""
        self._born.pop(lease.id, None)
        self._limits[lease.group, lease.kind].leave(lease.tenant)

    def note_due(self, group: str, kind: str, tenant: str) -> None:
        """Note that a lease was created unclaimed, and sweep if there is room for it by now."""
        limit = self._limits.get((group, kind))
        if limit is not None and limit.left > 0 and not limit.is_tenant_full(tenant):
            self.sweep_now()

    def begin(self, lease: Lease, *, since: float | None = None) -> None:
        """Start work on a claimed lease, valid from `since` or from its birth; its place is reserved already."""
        born = self._born.pop(lease.id, None)
        if not self._taking:
            # The runner is stopping: the lease is released with all others when the process leaves.
            self.unclaim(lease)
            return
        # Claimed again while its work still runs here: the older token cannot finish it any more.
        if (older := self._work.get(lease.id)) is not None:
            self._drop([older])
        work = Work(lease, since or born or time.monotonic())
        work.lease = replace(lease, valid=work.valid)
        self._work[lease.id] = work
        work.task = asyncio.get_running_loop().create_task(self._run(work))
        work.task.add_done_callback(lambda task: self._ended(work, task))
        metrics.leases_held.labels(lease.group, lease.kind).inc()

    def stop(self, ids: Iterable[str]) -> None:
        """Cancel the work of these leases; its end reports the cancel. Work that has already ended keeps its result."""
        for id in ids:
            work = self._work.get(id)
            if work is not None and not (work.stopping or work.settling or work.lost):
                work.stopping = True
                _cancel(work)

    def sweep_now(self) -> None:
        """Run the sweep now: something may be due."""
        self._sweep.set()

    def stop_claiming(self) -> None:
        """Claim nothing more; running work continues."""
        self._taking = False

    async def renew(self) -> None:
        """Renew all leases, for ever, and drop lost ones."""
        loop = asyncio.get_running_loop()
        renewed, pause = loop.time(), self._beat_every
        while True:
            await asyncio.sleep(pause)
            # Counted from before the request: the database may have renewed them at any moment since.
            mine, asked = list(self._work.values()), time.monotonic()
            try:
                async with asyncio.timeout(BEAT_ANSWER_SECONDS):
                    alive = await self._leases.renew([work.lease for work in mine]) if mine else {}
            except (Unavailable, TimeoutError):
                log.warning("could not renew leases")
                # More often than usual: the leases run out meanwhile.
                pause = min(1.0, self._beat_every)
                # The next attempt may take as long again before it shows that nothing answers.
                if loop.time() - renewed > GIVE_UP_SECONDS - BEAT_ANSWER_SECONDS:
                    self._drop(mine)
                continue
            renewed, pause = loop.time(), self._beat_every
            for work in mine:
                if work.lease.id in alive:
                    work.renewed = asked
            # Only those that were asked about: work that began during the request is not lost.
            self._drop([work for work in mine if work.lease.id not in alive])
            self.stop(id for id, cancelled in alive.items() if cancelled)

    async def sweep(self) -> None:
        """Claim due leases as soon as there is room, and every second (four in a quiet process); look for cancels."""
        groups, loop, pause = list(self._consumers), asyncio.get_running_loop(), Pause(self._sweep_every)
        checked = loop.time()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause.next()):
                    await self._sweep.wait()
            if self._sweep.is_set() or self._work:
                pause.found()
            # Cleared before the look, so that a wake-up during it causes another one.
            self._sweep.clear()
            # A busy process is woken far more often than cancels need to be looked for.
            if loop.time() - checked >= self._sweep_every:
                checked = loop.time()
                await _quietly(self._look_for_cancels())
            await _quietly(self._take_due(groups, pause))

    async def idle(self) -> None:
        """Return once all running work has ended."""
        if tasks := [work.task for work in self._work.values()]:
            await asyncio.wait(tasks)

    async def release(self) -> None:
        """Cancel work that still runs, so that its leases can be released."""
        left = list(self._work.values())
        self._drop(left)
        if left:
            await asyncio.wait([work.task for work in left], timeout=CANCEL_SECONDS)

    async def _take_due(self, groups: Sequence[str], pause: Pause) -> None:
        for group, kind in await self._leases.pending(groups):
            pause.found()
            if not kind:
                self._point(f"{group}:parked:before")
                await self._consumers[group].retry_due()
                self._point(f"{group}:parked:after")
            elif (limit := self._limits.get((group, kind))) is not None:
                limit.is_full = limit.is_full or limit.left <= 0
                if limit.left > 0:
                    self._point(f"{group}:{kind}:sweep:before")
                    await self._claim_due(limit, group, kind)
                    self._point(f"{group}:{kind}:sweep:after")

    async def _claim_due(self, limit: ConcurrencyLimit, group: str, kind: str) -> None:
        asked = limit.left
        waited, limit.waiting = limit.waiting, set()
        # Reserve the places during the query, so that claims at birth cannot take it meanwhile.
        limit.taken += asked
        since = time.monotonic()
        try:
            due = await self._leases.claim_due(group, kind, room=asked, per_tenant=limit.kind.per_tenant)
        except Unavailable:
            limit.waiting |= waited
            raise
        finally:
            # No await from here to `enter`, so a claim at birth cannot take a place in between.
            limit.taken -= asked
        for lease in due:
            limit.enter(lease.tenant)
            self.begin(lease, since=since)
        limit.swept(waited, filled=len(due) >= asked)

    async def _look_for_cancels(self) -> None:
        if self._work:
            found = await self._leases.cancelled_or_lost([work.lease for work in self._work.values()])
            self.stop(id for id, lost in found.items() if not lost)

    def _drop(self, works: Sequence[Work]) -> None:
        """Cancel the work of lost leases; its result is discarded."""
        for work in works:
            if not (work.stopping or work.lost or work.task.done()):
                work.lost = True
                metrics.leases_lost.labels(work.lease.group, work.lease.kind).inc()
                # An end that is being applied may finish: the database refuses it if its token is old (bus.md 17).
                if not work.settling:
                    _cancel(work)

    async def _run(self, work: Work) -> None:
        lease = work.lease
        kind, cause = self._limits[lease.group, lease.kind].kind, Cause.of_lease(lease)
        about: dict[str, str | int] = {"suma.lease": lease.id, "suma.attempt": lease.attempts}
        with (
            span(f"work {lease.kind}", parent=cause.traceparent, attributes=about),
            metrics.task_seconds.labels(lease.group, lease.kind).time(),
        ):
            self._point(f"{lease.group}:{lease.kind}:run:before")
            end = await self._end(kind, work)
            self._point(f"{lease.group}:{lease.kind}:run:after")
            if end is not None:
                await self._settle(work, kind, end)

    async def _end(self, kind: Kind[Any], work: Work) -> End | None:
        """Run the long work and return how to end it, or None when it will be retried later."""
        lease = work.lease
        if lease.cancelled:
            return _failing(kind, lease, Cancelled())
        if lease.deaths >= DEATHS_MOST:
            return lambda: self._dead_letter(kind, lease)
        if lease.attempts > kind.attempts:
            return _failing(kind, lease, Exhausted(f"{lease.kind} did not finish in {kind.attempts} attempts"))
        try:
            result = await kind.run(lease)
        except Unavailable as error:
            return await self._later(kind, lease, error)
        except SumaError as error:
            return _failing(kind, lease, error)
        except asyncio.CancelledError as error:
            if work.stopping and (task := asyncio.current_task()) is not None:
                # The cancel was for the work; its end must be able to await.
                task.uncancel()
                return _failing(kind, lease, Cancelled())
            # Lost, or given back at a stop: the next holder of the lease repeats the work.
            if being_cancelled():
                raise
            return await self._later(kind, lease, _crashed(lease, error))
        except Exception as error:
            return await self._later(kind, lease, _crashed(lease, error))
        return lambda: kind.finish(lease, result)

    async def _dead_letter(self, kind: Kind[Any], lease: Lease) -> Changeset:
        """End work whose process died each time: write a dead letter, and the failure report to the waiting turn."""
        turn = Cause.of_lease(lease).turn
        of = f" of turn {turn}" if turn else ""
        error = ProcessDied(f"The process died {lease.deaths} times while it worked on “{lease.kind}”{of}.")
        log.error(
            "dead-lettered work whose process died", group=lease.group, kind=lease.kind, lease=lease.id, turn=turn
        )
        dead_letter = await self._notices.lease(lease, error)
        metrics.dead_letters.labels(lease.group).inc()
        return (await kind.fail(lease, error)).emit(dead_letter)

    async def _later(self, kind: Kind[Any], lease: Lease, error: SumaError) -> End | None:
        if lease.attempts >= (min(FAULTS_MOST, kind.attempts) if is_fault(error) else kind.attempts):
            return _failing(
                kind, lease, Exhausted(f"{lease.attempts} attempts failed; the last error: {error}", code=error.code)
            )
        # If this fails, the lease runs out by itself: its work is over here, so no heartbeat renews it.
        await _quietly(self._leases.release([lease], delay=max(backoff(lease.attempts), _asked_for(error))))
        return None

    async def _settle(self, work: Work, kind: Kind[Any], end: End) -> None:
        """Apply the end in its key's lane."""
        work.settling = True
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def job() -> None:
            try:
                await self._apply(work, kind, end)
            finally:
                if not done.done():
                    done.set_result(None)

        # In the key's lane: an event of the same session may be deciding right now.
        self._lanes.submit(work.lease.group, work.lease.key, job)
        await done

    async def _apply(self, work: Work, kind: Kind[Any], end: End) -> None:
        """Retry the end until it is applied or the lease is lost; a conflict never repeats the work itself."""
        lease, tries, failing = work.lease, 0, False
        while not work.lost:
            tries += 1
            try:
                applied = await self._decide(lease, end)
                metrics.tasks.labels(lease.group, lease.kind, applied.verdict).inc()
                return
            except (Conflict, Unavailable) as error:
                hopeless = isinstance(error, Crashed) and tries >= DECIDE_MOST
                reason: SumaError = error
            except Rejected as error:
                hopeless, reason = True, error
            if not hopeless:
                # A conflict is usually settled by deciding again at once.
                await asyncio.sleep(backoff(tries - DECIDE_MOST) if tries >= DECIDE_MOST else 0)
            elif failing:
                await self._give_up(lease, reason)
                return
            else:
                # The end can never be written: end the work as a failure, so that its turn does not wait for ever.
                failing, tries, end = True, 0, _failing(kind, lease, reason)

    async def _decide(self, lease: Lease, end: End) -> Applied:
        try:
            async with self._gate.through(lease.tenant):
                changeset = await end()
        except (Conflict, Rejected, Unavailable):
            raise
        except Exception as error:
            raise _crashed(lease, error) from error
        self._point(f"{lease.group}:{lease.kind}:finish:before")
        applied = await self._writer.apply(changeset)
        self._point(f"{lease.group}:{lease.kind}:finish:after")
        return applied

    async def _give_up(self, lease: Lease, error: SumaError) -> None:
        """Report work whose end and failure both cannot be written, so that an operator intervenes."""
        log.error("could not finish leased work", group=lease.group, kind=lease.kind, error=str(error))
        self.stopped.append(f"{lease.group} cannot finish {lease.kind} {lease.id}: {error}")
        await _quietly(self._leases.release([lease], delay=backoff(DECIDE_MOST + lease.attempts)))

    def _ended(self, work: Work, task: asyncio.Task[None]) -> None:
        lease = work.lease
        # A later claim of the same lease may have taken its place.
        if self._work.get(lease.id) is work:
            del self._work[lease.id]
        limit = self._limits[lease.group, lease.kind]
        # Ask before the place is free: afterwards nothing shows that others waited for it.
        tight = limit.has_waiting(lease.tenant)
        limit.leave(lease.tenant)
        metrics.leases_held.labels(lease.group, lease.kind).dec()
        if tight:
            self.sweep_now()
        if not task.cancelled() and (error := task.exception()) is not None and not self._lanes.failed.done():
            self._lanes.failed.set_exception(error)


async def _quietly(ask: Awaitable[object]) -> None:
    try:
        await ask
    except Unavailable:
        log.warning("could not reach the lease store")


def _asked_for(error: SumaError) -> float:
    """Return the delay in seconds that an error asks for, such as a vendor's Retry-After. An open circuit does not
    count: it closes as soon as a probe succeeds.
    """
    asked: float | None = getattr(error, "retry_after", None)
    return 0.0 if asked is None or isinstance(error, CircuitOpen) else min(asked, WAIT_MOST)


def _cancel(work: Work) -> None:
    # Cancel after the task's first step, which may not have run yet: a task that never started cannot report its end.
    asyncio.get_running_loop().call_soon(lambda: work.settling or work.task.cancel())


def _failing(kind: Kind[Any], lease: Lease, error: SumaError) -> End:
    return lambda: kind.fail(lease, error)


def _crashed(lease: Lease, error: BaseException) -> Crashed:
    log.error("leased work crashed", group=lease.group, kind=lease.kind, lease=lease.id, exc_info=error)
    return Crashed(error)
