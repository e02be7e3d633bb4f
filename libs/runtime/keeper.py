"""The keeper: runs what this process holds leases for, renews them all in one statement, and sweeps what falls due.

An id that a heartbeat does not return is lost: its work is cancelled and its finish is not sent. Ten seconds without a
successful heartbeat cancel everything, before anyone else can hold it (bus.md 17, 18).
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
from libs.fair import Gate
from libs.leases.ports import (
    BEAT_SECONDS,
    GIVE_UP_SECONDS,
    TTL_SECONDS,
    Cancelled,
    Exhausted,
    Held,
    Leases,
    Start,
)
from libs.outbound import CircuitOpen
from libs.runtime.consumer import DECIDE_MOST, Consumer, Crashed, backoff, being_cancelled, deciding
from libs.runtime.service import Kind, Service
from libs.telemetry import metrics
from libs.telemetry.logs import logger
from libs.telemetry.traces import span

SWEEP_SECONDS = 1.0
BEAT_ANSWER_SECONDS = 2.0
MARGIN_SECONDS = 3.0
"""How long before it runs out a lease is no longer acted under: what was allowed last must have happened by then."""
WAIT_MOST = 60.0
"""Nobody is left alone for longer before work is tried again."""
CANCEL_SECONDS = 2.0
"""How long cancelled work may take to let go, when the process stops."""

log = logger("keeper")
End: TypeAlias = Callable[[], Awaitable[Changeset]]


class Room:
    """How many leases of one kind this process works under, in all and by tenant."""

    def __init__(self, kind: Kind[Any]) -> None:
        self.kind = kind
        self.taken = 0
        self.tenants: dict[str, int] = {}
        self.crowded = False
        """More is due than there is room for. Whoever has work here already then queues behind it."""
        self.waiting: set[str] = set()
        """Tenants that may have something due, which goes before what is born now."""

    @property
    def left(self) -> int:
        return self.kind.room - self.taken

    def admits(self, tenant: str) -> bool:
        """May this tenant's next be claimed at birth? A no means that it waits for the sweep, where tenants take
        turns."""
        fits = self.left > 0 and not self.capped(tenant)
        if fits and tenant not in self.waiting and not (self.crowded and tenant in self.tenants):
            return True
        self.waiting.add(tenant)
        return False

    def capped(self, tenant: str) -> bool:
        return self.tenants.get(tenant, 0) >= self.kind.per_tenant

    def tight(self, tenant: str) -> bool:
        """Is something of this tenant, or of anyone, likely to wait for the place that it leaves?"""
        return self.crowded or self.left <= 0 or tenant in self.waiting or self.capped(tenant)

    def swept(self, waited: set[str], *, filled: bool) -> None:
        """Who of `waited` waits still, after what was due has been claimed: all, or those who may have no more."""
        self.crowded = filled
        self.waiting |= waited if filled else set(filter(self.capped, waited))

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
    """A lease that this process works under."""

    held: Held
    renewed: float
    """When the lease was claimed or renewed last: the moment before it was asked for, by `time.monotonic`, which goes
    on while the process is stopped."""
    task: asyncio.Task[None] = field(init=False)
    stopping: bool = False
    """Someone cancelled it; its end will say so."""
    settling: bool = False
    """The long part is over: its end is on its way, and no cancel reaches it any more."""
    lost: bool = False

    def valid(self) -> bool:
        """May it still be acted under? Asked from any thread."""
        return not self.lost and time.monotonic() - self.renewed < TTL_SECONDS - MARGIN_SECONDS


class Keeper:
    """One per process, for all its services' kinds."""

    def __init__(
        self,
        services: Sequence[Service],
        *,
        leases: Leases,
        writer: Writer,
        lanes: Lanes,
        consumers: Mapping[str, Consumer],
        point: Callable[[str], None],
        gate: Gate | None = None,
        beat_every: float = BEAT_SECONDS,
        sweep_every: float = SWEEP_SECONDS,
    ) -> None:
        self._rooms = {(service.name, kind.name): Room(kind) for service in services for kind in service.kinds}
        self._leases, self._writer, self._lanes, self._consumers = leases, writer, lanes, consumers
        self._point, self._gate = point, gate or deciding()
        self._beat_every, self._sweep_every = beat_every, sweep_every
        self._work: dict[str, Work] = {}
        self._born: dict[str, float] = {}
        """Since when what is claimed at birth may be held."""
        self._sweep = asyncio.Event()
        self._taking = True
        self.stopped: list[str] = []
        """Leases whose end cannot be written, for `/readyz`."""

    def claim(self, group: str, tenant: str, start: Start) -> bool:
        """May a lease be claimed at birth? A yes takes its room."""
        room = self._rooms.get((group, start.kind))
        if room is None or not self._taking:
            return False
        if not room.admits(tenant):
            return False
        room.enter(tenant)
        self._born[start.id] = time.monotonic()
        return True

    def unclaim(self, held: Held) -> None:
        """It was not born after all."""
        self._born.pop(held.id, None)
        self._rooms[held.group, held.kind].leave(held.tenant)

    def due(self, group: str, kind: str, tenant: str) -> None:
        """One was born that could not be claimed. By now there may be room for it."""
        room = self._rooms.get((group, kind))
        if room is not None and room.left > 0 and not room.capped(tenant):
            self.look()

    def begin(self, held: Held, *, since: float | None = None) -> None:
        """Work on what was claimed, `since` then or at its birth; its room is taken already."""
        born = self._born.pop(held.id, None)
        if not self._taking:
            # Too late: it is given back with everything else of ours when the process leaves.
            self.unclaim(held)
            return
        if (older := self._work.get(held.id)) is not None:
            self._drop([older])
        work = Work(held, since or born or time.monotonic())
        work.held = replace(held, valid=work.valid)
        self._work[held.id] = work
        work.task = asyncio.get_running_loop().create_task(self._run(work))
        work.task.add_done_callback(lambda task: self._ended(work, task))
        metrics.leases_held.labels(held.group, held.kind).inc()

    def stop(self, ids: Iterable[str]) -> None:
        """These were cancelled: their work ends now, and says so. What has already ended keeps its end."""
        for id in ids:
            work = self._work.get(id)
            if work is not None and not (work.stopping or work.settling or work.lost):
                work.stopping = True
                _cancel(work)

    def look(self) -> None:
        """There may be something due already."""
        self._sweep.set()

    def rest(self) -> None:
        """Take nothing more; what is under way goes on."""
        self._taking = False

    async def beat(self) -> None:
        """Renew for ever, and drop what is lost."""
        loop = asyncio.get_running_loop()
        renewed, pause = loop.time(), self._beat_every
        while True:
            await asyncio.sleep(pause)
            mine, asked = list(self._work.values()), time.monotonic()
            try:
                async with asyncio.timeout(BEAT_ANSWER_SECONDS):
                    alive = await self._leases.beat([work.held for work in mine]) if mine else {}
            except (Unavailable, TimeoutError):
                log.warning("cannot renew leases")
                pause = min(1.0, self._beat_every)
                if loop.time() - renewed > GIVE_UP_SECONDS - BEAT_ANSWER_SECONDS:
                    self._drop(mine)
                continue
            renewed, pause = loop.time(), self._beat_every
            for work in mine:
                if work.held.id in alive:
                    work.renewed = asked
            self._drop([work for work in mine if work.held.id not in alive])
            self.stop(id for id, cancelled in alive.items() if cancelled)

    async def sweep(self) -> None:
        """Look every second, or as soon as there is room again, for what is due; and for cancels of what is ours."""
        groups, loop = list(self._consumers), asyncio.get_running_loop()
        looked = loop.time()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._sweep_every):
                    await self._sweep.wait()
            self._sweep.clear()
            if loop.time() - looked >= self._sweep_every:
                looked = loop.time()
                await _quietly(self._look_for_cancels())
            await _quietly(self._take_due(groups))

    async def idle(self) -> None:
        """Until what is under way has ended."""
        if tasks := [work.task for work in self._work.values()]:
            await asyncio.wait(tasks)

    async def let_go(self) -> None:
        """Cancel what is still under way, to be given back."""
        left = list(self._work.values())
        self._drop(left)
        if left:
            await asyncio.wait([work.task for work in left], timeout=CANCEL_SECONDS)

    async def _take_due(self, groups: Sequence[str]) -> None:
        for group, kind in await self._leases.pending(groups):
            if not kind:
                self._point(f"{group}:parked:before")
                await self._consumers[group].retry_due()
                self._point(f"{group}:parked:after")
            elif (room := self._rooms.get((group, kind))) is not None:
                room.crowded = room.crowded or room.left <= 0
                if room.left > 0:
                    self._point(f"{group}:{kind}:sweep:before")
                    await self._claim_due(room, group, kind)
                    self._point(f"{group}:{kind}:sweep:after")

    async def _claim_due(self, room: Room, group: str, kind: str) -> None:
        asked = room.left
        waited, room.waiting = room.waiting, set()
        # Held free while we ask, so that claims at birth cannot take the same room meanwhile.
        room.taken += asked
        since = time.monotonic()
        try:
            due = await self._leases.due(group, kind, room=asked, per_tenant=room.kind.per_tenant)
        except Unavailable:
            room.waiting |= waited
            raise
        finally:
            room.taken -= asked
        for held in due:
            room.enter(held.tenant)
            self.begin(held, since=since)
        room.swept(waited, filled=len(due) >= asked)

    async def _look_for_cancels(self) -> None:
        if self._work:
            marked = await self._leases.marked([work.held for work in self._work.values()])
            self.stop(id for id, lost in marked.items() if not lost)

    def _drop(self, works: Sequence[Work]) -> None:
        """These are not ours any more: no end of theirs is sent."""
        for work in works:
            if not (work.stopping or work.lost or work.task.done()):
                work.lost = True
                metrics.leases_lost.labels(work.held.group, work.held.kind).inc()
                if not work.settling:
                    _cancel(work)

    async def _run(self, work: Work) -> None:
        held = work.held
        kind, cause = self._rooms[held.group, held.kind].kind, Cause.held(held)
        about: dict[str, str | int] = {"suma.lease": held.id, "suma.attempt": held.attempts}
        with (
            span(f"work {held.kind}", parent=cause.traceparent, attributes=about),
            metrics.task_seconds.labels(held.group, held.kind).time(),
        ):
            self._point(f"{held.group}:{held.kind}:run:before")
            end = await self._end(kind, work)
            self._point(f"{held.group}:{held.kind}:run:after")
            if end is not None:
                await self._settle(work, kind, end)

    async def _end(self, kind: Kind[Any], work: Work) -> End | None:
        """Do the long work; what its end is to be, or None when it is to be tried later."""
        held = work.held
        if held.cancelled:
            return _failing(kind, held, Cancelled())
        if held.attempts > kind.attempts:
            return _failing(kind, held, Exhausted(f"{held.kind} did not end in {kind.attempts} attempts"))
        try:
            result = await kind.run(held)
        except Unavailable as error:
            return await self._later(kind, held, error)
        except SumaError as error:
            return _failing(kind, held, error)
        except asyncio.CancelledError as error:
            if work.stopping and (task := asyncio.current_task()) is not None:
                task.uncancel()
                return _failing(kind, held, Cancelled())
            if being_cancelled():
                raise
            return await self._later(kind, held, _crashed(held, error))
        except Exception as error:
            return await self._later(kind, held, _crashed(held, error))
        return lambda: kind.finish(held, result)

    async def _later(self, kind: Kind[Any], held: Held, error: SumaError) -> End | None:
        if held.attempts >= kind.attempts:
            return _failing(kind, held, Exhausted(f"{held.attempts} attempts; the last: {error}", code=error.code))
        await _quietly(self._leases.release([held], delay=max(backoff(held.attempts), _asked_for(error))))
        return None

    async def _settle(self, work: Work, kind: Kind[Any], end: End) -> None:
        """Apply the end in the key's lane."""
        work.settling = True
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def job() -> None:
            try:
                await self._apply(work, kind, end)
            finally:
                if not done.done():
                    done.set_result(None)

        self._lanes.submit(work.held.group, work.held.key, job)
        await done

    async def _apply(self, work: Work, kind: Kind[Any], end: End) -> None:
        """Decide until it is applied or the lease is lost. Work that is done is not done again for a conflict's
        sake."""
        held, tries, failing = work.held, 0, False
        while not work.lost:
            tries += 1
            try:
                applied = await self._decide(held, end)
                metrics.tasks.labels(held.group, held.kind, applied.verdict).inc()
                return
            except (Conflict, Unavailable) as error:
                hopeless = isinstance(error, Crashed) and tries >= DECIDE_MOST
                reason: SumaError = error
            except Rejected as error:
                hopeless, reason = True, error
            if not hopeless:
                await asyncio.sleep(backoff(tries - DECIDE_MOST) if tries >= DECIDE_MOST else 0)
            elif failing:
                await self._give_up(held, reason)
                return
            else:
                failing, tries, end = True, 0, _failing(kind, held, reason)

    async def _decide(self, held: Held, end: End) -> Applied:
        try:
            async with self._gate.through(held.tenant):
                changeset = await end()
        except (Conflict, Rejected, Unavailable):
            raise
        except Exception as error:
            raise _crashed(held, error) from error
        self._point(f"{held.group}:{held.kind}:finish:before")
        applied = await self._writer.apply(changeset)
        self._point(f"{held.group}:{held.kind}:finish:after")
        return applied

    async def _give_up(self, held: Held, error: SumaError) -> None:
        """Neither its end nor its failure can be written; people must look."""
        log.error("leased work could not be finished", group=held.group, kind=held.kind, error=str(error))
        self.stopped.append(f"{held.group} cannot end {held.kind} {held.id}: {error}")
        await _quietly(self._leases.release([held], delay=backoff(DECIDE_MOST + held.attempts)))

    def _ended(self, work: Work, task: asyncio.Task[None]) -> None:
        held = work.held
        if self._work.get(held.id) is work:
            del self._work[held.id]
        room = self._rooms[held.group, held.kind]
        tight = room.tight(held.tenant)
        room.leave(held.tenant)
        metrics.leases_held.labels(held.group, held.kind).dec()
        if tight:
            self.look()
        if not task.cancelled() and (error := task.exception()) is not None and not self._lanes.failed.done():
            self._lanes.failed.set_exception(error)


async def _quietly(ask: Awaitable[object]) -> None:
    try:
        await ask
    except Unavailable:
        log.warning("leases cannot be reached")


def _asked_for(error: SumaError) -> float:
    """How long whoever was asked in vain wants to be left alone, as a vendor's Retry-After says. A circuit does not
    count: it closes as soon as someone sees that the other side answers."""
    asked: float | None = getattr(error, "retry_after", None)
    return 0.0 if asked is None or isinstance(error, CircuitOpen) else min(asked, WAIT_MOST)


def _cancel(work: Work) -> None:
    # Behind its first step, which may not have run yet: a task that never started could not say how it ended.
    asyncio.get_running_loop().call_soon(lambda: work.settling or work.task.cancel())


def _failing(kind: Kind[Any], held: Held, error: SumaError) -> End:
    return lambda: kind.fail(held, error)


def _crashed(held: Held, error: BaseException) -> Crashed:
    log.error("leased work crashed", group=held.group, kind=held.kind, lease=held.id, exc_info=error)
    return Crashed(f"{type(error).__name__}: {error}")
