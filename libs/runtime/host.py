"""The host: runs services on a platform, in one process together or one alone; a crash of one part ends the process.

Stopping is orderly: take nothing more, finish what is in hand within a bound, give leases and partitions back, leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from libs.budgets.schema import SCHEMA as BUDGETS
from libs.bus.log import SCHEMA, declare, kept
from libs.bus.ports import Record
from libs.bus.reader import FLUSH_EVERY_SECONDS, OWN_EVERY_SECONDS, Reader
from libs.bus.relay import RELAY, Relay, lag
from libs.bus.trimming import Trimming
from libs.changes.lanes import Lanes
from libs.database import migrate
from libs.errors import Unavailable
from libs.events.topics import TOPICS
from libs.leases.ports import BEAT_SECONDS
from libs.runtime.consumer import Consumer, deciding
from libs.runtime.health import Health
from libs.runtime.keeper import SWEEP_SECONDS, Keeper
from libs.runtime.notices import Notices
from libs.runtime.platform import Platform
from libs.runtime.service import Service
from libs.telemetry import metrics
from libs.telemetry.logs import logger

STOP_SECONDS = 10.0
LEAVE_SECONDS = 5.0
TRIM_SECONDS, BREATH_SECONDS = 60.0, 0.1
"""How often the log is trimmed, and the pause between two of its transactions."""
ACCOUNT_SECONDS = 600.0
"""How often old accounts are looked for: so seldom that no connection is kept for it."""

log = logger("host")


@dataclass(frozen=True, slots=True)
class Pace:
    """How often each thing is looked at, in seconds. The bus's own bounds (a lease's 15 s) stand in database time."""

    own: float = OWN_EVERY_SECONDS
    flush: float = FLUSH_EVERY_SECONDS
    beat: float = BEAT_SECONDS
    sweep: float = SWEEP_SECONDS
    trim: float = TRIM_SECONDS
    account: float = ACCOUNT_SECONDS


DEFAULT_PACE = Pace()


@dataclass(frozen=True)
class Running:
    """Services at work. `failed` ends with the error of the part that ends the process."""

    services: Sequence[Service]
    failed: asyncio.Future[None]
    health: Health
    _problems: Callable[[], Sequence[str]]

    def problems(self) -> list[str]:
        """Why this process is not ready; empty when it is."""
        return [*self._problems(), *(problem for service in self.services for problem in service.problems())]


async def prepare(platform: Platform, services: Sequence[Service]) -> None:
    """Bring the services' schemas up to date and declare what they listen to. Safe in every process at every start."""
    own = [service.schema for service in services if service.schema is not None]
    await migrate(platform.database.dsns.owner, SCHEMA, BUDGETS, *own)
    groups = {s.name: sorted({sub.event.topic.name for sub in s.subscriptions}) for s in services}
    topics = list(TOPICS.values())
    if platform.route is not None:
        await platform.route.outlet.declare(topics)
        groups = {RELAY: list(TOPICS)}
    await declare(platform.database, topics, groups)


@asynccontextmanager
async def host(platform: Platform, services: Sequence[Service], *, pace: Pace = DEFAULT_PACE) -> AsyncIterator[Running]:
    """Run the services until the block ends; entered once they own their partitions."""
    engine = _Engine(platform, services, pace)
    tasks = {name: asyncio.ensure_future(part()) for name, part in engine.parts().items()}
    for task in tasks.values():
        task.add_done_callback(lambda task: _notice(task, engine.lanes.failed))
    ready = asyncio.ensure_future(engine.ready())
    try:
        await asyncio.wait((ready, engine.lanes.failed), return_when=asyncio.FIRST_COMPLETED)
        yield Running(services, engine.lanes.failed, engine.health, engine.problems)
    finally:
        ready.cancel()
        await engine.stop(tasks)


class _Engine:
    """The parts of one process, wired to each other."""

    def __init__(self, platform: Platform, services: Sequence[Service], pace: Pace) -> None:
        self.platform, self.services, self.pace = platform, services, pace
        self.lanes, gate = (lanes := Lanes()), deciding()
        self.consumers = consumers = {
            s.name: Consumer(
                s,
                writer=platform.writer,
                lanes=lanes,
                parked=platform.parked,
                notices=Notices(platform.objects, platform.board),
                point=platform.point,
                gate=gate,
            )
            for s in services
        }
        self.reader = Reader(
            platform.bus,
            {name: consumer.take for name, consumer in consumers.items()},
            {s.name: frozenset(sub.event.topic.name for sub in s.subscriptions) for s in services},
            own_every=pace.own,
            flush_every=pace.flush,
        )
        route = platform.route
        self.relay = (
            Relay(
                route,
                platform.point,
                groups=consumers,
                carried=self.reader.carried,
                own_every=pace.own,
                flush_every=pace.flush,
            )
            if route is not None
            else None
        )
        self.keeper = Keeper(
            services,
            leases=platform.leases,
            writer=platform.writer,
            lanes=lanes,
            consumers=consumers,
            point=platform.point,
            gate=gate,
            beat_every=pace.beat,
            sweep_every=pace.sweep,
        )
        self.health = Health(platform, [service.name for service in services])
        self._introduce()
        _count_from_zero(services)

    def _introduce(self) -> None:
        desk, keeper = self.platform.writer.desk, self.keeper
        desk.claim, desk.unclaim, desk.begin, desk.cancelled = keeper.claim, keeper.unclaim, keeper.begin, keeper.stop
        desk.due = keeper.due
        desk.hand, desk.point = self._hand, self.platform.point
        for consumer in self.consumers.values():
            consumer.retried = keeper.look

    def parts(self) -> dict[str, Callable[[], Awaitable[None]]]:
        point = self.platform.point
        return {
            "writer": self.platform.writer.run,
            "beat": self.keeper.beat,
            "own": self.reader.own,
            "follow": self.reader.follow,
            "listen": self.reader.listen,
            "flush": lambda: self.reader.flush_often(point),
            "wake": lambda: self.reader.wake_others(point),
            "sweep": self.keeper.sweep,
            "health": self.health.run,
            "skills": self.platform.catalogue.watch,
            "trim": lambda: _trim(self.platform, self.pace.trim),
            "account": lambda: _account(self.platform, self.pace.account),
            "measure": lambda: _measure(self.platform, list(self.consumers)),
            **(self.relay.parts() if self.relay is not None else {}),
            **{f"{s.name}:{n}": task for s in self.services for n, task in enumerate(s.tasks)},
        }

    async def ready(self) -> None:
        """Returns once partitions are shared with the other members."""
        await self.reader.ready.wait()
        if self.relay is not None:
            await self.relay.reader.ready.wait()

    def problems(self) -> Sequence[str]:
        stopped = [reason for consumer in self.consumers.values() for reason in consumer.stopped]
        relaying = self.relay.problem if self.relay is not None else None
        silent = [problem for problem in (self.platform.writer.problem, self.platform.bus.problem, relaying) if problem]
        leaving = self.platform.leaving.problems()
        return [*leaving, *stopped, *self.keeper.stopped, *silent, *self.health.problems()]

    def _hand(self, records: Sequence[Record]) -> None:
        """Our writer's own, to whoever consumes them here, and to who carries them on."""
        taken = self.reader.hand(records)
        if self.relay is not None:
            self.relay.hand(records, taken)

    async def stop(self, tasks: Mapping[str, asyncio.Future[None]]) -> None:
        """In this order: take nothing more, let work end, let lanes empty, give everything back, stop writing."""
        log.info("stopping")
        # After a crash nothing is waited for: what is not written will be handled again.
        patience = 0.0 if self.lanes.failed.done() else STOP_SECONDS
        self.reader.rest()
        self.keeper.rest()
        last = {"writer", "beat", *(self.relay.parts() if self.relay is not None else ())}
        await _end(task for name, task in tasks.items() if name not in last)
        leaving = self.platform.leaving
        await leaving.within(patience, self.keeper.idle())
        await self.keeper.let_go()
        await leaving.within(patience, self.lanes.idle())
        await self.lanes.close()
        await _end([tasks["writer"], tasks["beat"]])
        if self.relay is not None:
            await self._end_relay(self.relay, patience)
        await _end(tasks.values())
        with suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self.platform.leases.free([self.platform.member])
                await self.reader.leave()
        _forget(self.lanes.failed)

    async def _end_relay(self, relay: Relay, patience: float) -> None:
        """What the last changesets said still goes out, where the bus takes it."""
        with suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(min(patience, LEAVE_SECONDS)):
                await relay.finish()
        await relay.close()


def _notice(task: asyncio.Future[None], failed: asyncio.Future[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None and not failed.done():
        failed.set_exception(error)


async def _end(tasks: Iterable[asyncio.Future[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


def _forget(failed: asyncio.Future[None]) -> None:
    """Nobody needs to have looked at it."""
    if not failed.done():
        failed.cancel()
    elif not failed.cancelled():
        failed.exception()


def _count_from_zero(services: Sequence[Service]) -> None:
    """A counter that is first seen at 1 has not grown, as far as Prometheus can tell."""
    for service in services:
        for counter in (metrics.parked, metrics.dead_letters, metrics.conflicts):
            counter.labels(service.name)
        for kind in service.kinds:
            metrics.leases_lost.labels(service.name, kind.name)


async def _measure(platform: Platform, groups: Sequence[str]) -> None:
    while True:
        await asyncio.sleep(10)
        with suppress(Unavailable):
            for (group, topic), records in (await lag(platform.bus, platform.route, groups)).items():
                metrics.lag.labels(group, topic).set(records)
            await _measure_parked(platform, groups)
            for held in await kept(platform.database, TOPICS.values()):
                metrics.oldest_record.labels(held.topic).set(held.age or 0.0)


async def _measure_parked(platform: Platform, groups: Sequence[str]) -> None:
    backlog = await platform.parked.backlog(groups)
    # What nothing waits of any more has no row.
    metrics.parked_events.clear()
    metrics.parked_age.clear()
    for each in backlog:
        metrics.parked_events.labels(each.group, each.topic).set(each.events)
        metrics.parked_age.labels(each.group, each.topic).set(each.age)


async def _trim(platform: Platform, every: float) -> None:
    """Delete what nobody needs any more, a little at a time, while there is something; now and then look again."""
    trimming = Trimming(platform.database, platform.log_readers)
    while True:
        await asyncio.sleep(every)
        with suppress(Unavailable):
            while trimmed := await trimming.trim():
                for topic, records in trimmed.log.items():
                    metrics.trimmed_records.labels(topic).inc(records)
                for group, rows in trimmed.inbox.items():
                    metrics.trimmed_inbox.labels(group).inc(rows)
                await asyncio.sleep(BREATH_SECONDS)


async def _account(platform: Platform, every: float) -> None:
    """Write off and forget what is old in the accounts, in the same way."""
    pause = every
    while True:
        await asyncio.sleep(pause)
        pause = every
        with suppress(Unavailable):
            if await platform.budgets.trim():
                pause = BREATH_SECONDS
