"""The host: runs services on a platform, together or one per process; a crash of one part ends the process.

It stops in order: take nothing new, finish running work within a time limit, give leases and partitions back, exit.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from libs.budgets.schema import SCHEMA as BUDGETS
from libs.bus.log import SCHEMA, declare, topic_sizes
from libs.bus.parked import Backlog
from libs.bus.ports import Partition, Record
from libs.bus.projections import Projections
from libs.bus.reader import FLUSH_EVERY_SECONDS, OWN_EVERY_SECONDS, Reader
from libs.bus.relay import RELAY, Relay, Route, lag
from libs.bus.trimming import Trimming
from libs.changes.lanes import Lanes
from libs.changes.writer import WriterHooks
from libs.database import BUS, Database, Schema, check, migrate
from libs.errors import Unavailable
from libs.events.topics import TOPICS
from libs.leases.ports import BEAT_SECONDS
from libs.runtime.consumer import Consumer, deciding
from libs.runtime.failure_reports import FailureReports
from libs.runtime.follower import Follower
from libs.runtime.fusing import Fuser
from libs.runtime.health import Health
from libs.runtime.lease_runner import SWEEP_SECONDS, LeaseRunner
from libs.runtime.platform import Platform
from libs.runtime.service import Service
from libs.telemetry import metrics
from libs.telemetry.logs import logger

STOP_SECONDS = 10.0
LEAVE_SECONDS = 5.0
TRIM_SECONDS, BREATH_SECONDS = 60.0, 0.1
"""Seconds between trimming passes, and between two transactions of one pass."""
MEASURE_SECONDS = 10.0
ACCOUNT_SECONDS = 600.0
"""Seconds between passes over old accounts: so rare that no connection is kept for them."""

log = logger("host")


@dataclass(frozen=True, slots=True)
class Pace:
    """Intervals of the background loops, in seconds. The bus's own limits (a lease's 15 s) count in database time."""

    own: float = OWN_EVERY_SECONDS
    flush: float = FLUSH_EVERY_SECONDS
    beat: float = BEAT_SECONDS
    sweep: float = SWEEP_SECONDS
    trim: float = TRIM_SECONDS
    account: float = ACCOUNT_SECONDS


DEFAULT_PACE = Pace()


@dataclass(frozen=True)
class Running:
    """Running services. `failed` completes with the error of the part that ends the process."""

    services: Sequence[Service]
    failed: asyncio.Future[None]
    health: Health
    _problems: Callable[[], Sequence[str]]

    def problems(self) -> list[str]:
        """Return why this process is not ready; empty when it is ready."""
        return [*self._problems(), *(problem for service in self.services for problem in service.problems())]


async def prepare(platform: Platform, services: Sequence[Service]) -> None:
    """Migrate the services' schemas and declare their subscriptions, or check that another process did. Safe in every
    process at every start.
    """
    database, own = platform.database, {s.name: s.schema for s in services if s.schema is not None}
    if database.dsns.owner:
        groups = {s.name: sorted({sub.event.topic.name for sub in s.subscriptions}) for s in services}
        await establish(database, own.values(), groups, platform.route)
    else:
        for pool, schema in {BUS: SCHEMA, **own}.items():
            await check(database, pool, schema)
    # Calls that wait since the last process may need them.
    await platform.catalogue.refresh()


async def establish(
    database: Database, schemas: Iterable[Schema], groups: Mapping[str, Sequence[str]], route: Route | None
) -> list[str]:
    """Migrate schemas and declare the topics and their readers, as the owner; return the names of the applied files."""
    # The bus first: the functions of the other schemas use its own.
    applied = await migrate(database.dsns.owner, SCHEMA, BUDGETS, *schemas)
    topics = list(TOPICS.values())
    if route is not None:
        await route.outlet.declare(topics)
        # The services' groups are the transport's then; of the log's readers only the relay is left.
        groups = {RELAY: list(TOPICS)}
    await declare(database, topics, groups)
    return applied


@asynccontextmanager
async def host(
    platform: Platform, services: Sequence[Service], *, pace: Pace = DEFAULT_PACE, after_death: bool = False
) -> AsyncIterator[Running]:
    """Run the services until the block ends; the block is entered once they own their partitions. `after_death` says
    that the process before this one died.
    """
    engine = _Engine(platform, services, pace, after_death=after_death)
    tasks = {name: asyncio.ensure_future(part()) for name, part in engine.parts().items()}
    for task in tasks.values():
        task.add_done_callback(lambda task: _notice(task, engine.lanes.failed))
    ready = asyncio.ensure_future(engine.ready())
    try:
        # A part that fails at the start must not leave the caller waiting for partitions.
        await asyncio.wait((ready, engine.lanes.failed), return_when=asyncio.FIRST_COMPLETED)
        running = Running(services, engine.lanes.failed, engine.health, engine.problems)
        for service in services:
            service.started(running.problems, running.health)
        yield running
    finally:
        ready.cancel()
        await engine.stop(tasks)


class _Engine:
    """The parts of one process, connected to each other."""

    def __init__(self, platform: Platform, services: Sequence[Service], pace: Pace, *, after_death: bool) -> None:
        self.platform, self.services, self.pace = platform, services, pace
        self.lanes, gate = (lanes := Lanes()), deciding()
        # One for all consumers: an event that may kill the process runs beside no other suspect.
        alone = asyncio.Lock()
        self.consumers = consumers = {
            s.name: Consumer(
                s,
                writer=platform.writer,
                lanes=lanes,
                parked=platform.parked,
                notices=FailureReports(platform.objects, platform.board),
                point=platform.point,
                now=platform.clock.now,
                gate=gate,
                alone=alone,
                retried=lambda: self.lease_runner.sweep_now(),
            )
            for s in services
        }
        self.reader = Reader(
            platform.bus,
            {name: consumer.take for name, consumer in consumers.items()},
            {s.name: frozenset(sub.event.topic.name for sub in s.subscriptions) for s in services},
            gained=lambda group, partition: consumers[group].gained(partition),
            own_every=pace.own,
            flush_every=pace.flush,
        )
        route = platform.route
        self.relay = (
            Relay(
                route,
                platform.point,
                groups=consumers,
                carried=self.reader.observe_relayed,
                own_every=pace.own,
                flush_every=pace.flush,
            )
            if route is not None
            else None
        )
        self.lease_runner = LeaseRunner(
            services,
            leases=platform.leases,
            writer=platform.writer,
            lanes=lanes,
            consumers=consumers,
            notices=FailureReports(platform.objects, platform.board),
            point=platform.point,
            gate=gate,
            beat_every=pace.beat,
            sweep_every=pace.sweep,
        )
        self.follower = Follower(services, Projections(platform.database), platform.member, platform.point)
        # The one that reads the log, whatever the bus.
        self.log_reader = self.relay.reader if self.relay is not None else self.reader
        self.log_reader.heard = self.follower.wake
        self.log_reader.alone = lambda: self.follower.alone
        fuser = Fuser(consumers, self.reader, lanes, platform.point, after_death=after_death)
        self.fuse = fuser.fuse if platform.fuses else None
        self.health = Health(platform, [service.name for service in services])
        _count_from_zero(services)

    def parts(self) -> dict[str, Callable[[], Awaitable[None]]]:
        point, runner = self.platform.point, self.lease_runner
        hooks = WriterHooks(
            claim=runner.claim,
            unclaim=runner.unclaim,
            begin=runner.begin,
            note_due=runner.note_due,
            deliver=self._deliver,
            cancelled=runner.stop,
            point=point,
            fuse=self.fuse,
        )
        return {
            "writer": lambda: self.platform.writer.run(hooks),
            "beat": self.lease_runner.renew,
            "own": self.reader.own,
            "follow": self.reader.follow,
            "listen": self.reader.listen,
            "flush": lambda: self.reader.flush_often(point),
            "wake": lambda: self.reader.wake_others(point),
            "project": self.follower.follow,
            "sweep": self.lease_runner.sweep,
            "health": self.health.run,
            "skills": self.platform.catalogue.watch,
            "trim": lambda: _trim(self.platform, self.pace.trim),
            "account": lambda: _account(self.platform, self.pace.account),
            "measure": lambda: _measure(self.platform, self.services),
            **(self.relay.parts() if self.relay is not None else {}),
            **{f"{s.name}:{n}": task for s in self.services for n, task in enumerate(s.tasks)},
        }

    async def ready(self) -> None:
        """Return once partitions are assigned among the group's members, and watchers miss no projection."""
        await self.reader.ready.wait()
        await self.follower.ready.wait()
        if self.relay is not None:
            await self.relay.reader.ready.wait()

    def problems(self) -> Sequence[str]:
        stopped = [reason for consumer in self.consumers.values() for reason in consumer.stopped]
        relaying = self.relay.problem if self.relay is not None else None
        silent = [problem for problem in (self.platform.writer.problem, self.platform.bus.problem, relaying) if problem]
        leaving = self.platform.leaving.problems()
        return [
            *leaving,
            *stopped,
            *self.follower.stopped,
            *self.lease_runner.stopped,
            *silent,
            *self.health.problems(),
        ]

    def _deliver(self, records: Sequence[Record], left: Collection[Partition]) -> None:
        """Deliver records of this process's writer to its local consumers, to the relay and to the follower."""
        # Local consumers first: the relay need not hurry with records that all of them took.
        taken = self.reader.offer_local(records)
        if self.relay is not None:
            self.relay.enqueue(records, taken)
        self.follower.committed(records, left)
        for topic in {record.topic for record in records}:
            if TOPICS[topic].projected:
                self.log_reader.tell(topic)

    async def stop(self, tasks: Mapping[str, asyncio.Future[None]]) -> None:
        """Stop in order: take nothing new, let work end, drain the lanes, give everything back, stop writing."""
        log.info("stopping")
        # After a crash nothing is awaited: unwritten records are handled again.
        patience = 0.0 if self.lanes.failed.done() else STOP_SECONDS
        self.reader.stop_taking()
        self.lease_runner.stop_claiming()
        # Running work still needs its leases renewed and its end written, and its last events sent.
        last = {"writer", "beat", *(self.relay.parts() if self.relay is not None else ())}
        await _end(task for name, task in tasks.items() if name not in last)
        leaving = self.platform.leaving
        # Leased work before the lanes: its ends are applied in them.
        await leaving.within(patience, self.lease_runner.idle())
        await self.lease_runner.release()
        await leaving.within(patience, self.lanes.idle())
        await self.lanes.close()
        # The heartbeat lasts as long as the writer: an end that is still to be written needs its lease.
        await _end([tasks["writer"], tasks["beat"]])
        if self.relay is not None:
            # Nothing can commit any more, so the relay's queue is complete.
            await self._end_relay(self.relay, patience)
        await _end(tasks.values())
        with suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                # What is released here is taken over at once; otherwise others wait until it expires.
                await self.platform.leases.leave()
                await self.reader.leave()
        _forget(self.lanes.failed)

    async def _end_relay(self, relay: Relay, patience: float) -> None:
        """Send the events of the last changesets, if the bus accepts them."""
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
    """Mark the future's error as retrieved, so that asyncio does not log it."""
    if not failed.done():
        failed.cancel()
    elif not failed.cancelled():
        failed.exception()


def _count_from_zero(services: Sequence[Service]) -> None:
    """Create each counter at 0: Prometheus sees no increase in a counter that first appears at 1."""
    for service in services:
        for counter in (metrics.parked, metrics.dead_letters, metrics.conflicts, metrics.fused):
            counter.labels(service.name)
        for kind in service.kinds:
            metrics.leases_lost.labels(service.name, kind.name)
    _measured_parked(services, ())


async def _measure(platform: Platform, services: Sequence[Service]) -> None:
    groups = [service.name for service in services]
    while True:
        with suppress(Unavailable):
            for (group, topic), records in (await lag(platform.bus, platform.route, groups)).items():
                metrics.lag.labels(group, topic).set(records)
            _measured_parked(services, await platform.parked.backlog(groups))
            for held in await topic_sizes(platform.database, TOPICS.values()):
                metrics.oldest_record.labels(held.topic).set(held.age or 0.0)
        await asyncio.sleep(MEASURE_SECONDS)


def _measured_parked(services: Sequence[Service], backlog: Sequence[Backlog]) -> None:
    """Set the parked-event gauges of each subscribed topic; a topic that is absent from the backlog has none."""
    waiting = {(each.group, each.topic): each for each in backlog}
    for place in {(s.name, subscription.event.topic.name) for s in services for subscription in s.subscriptions}:
        found = waiting.get(place)
        metrics.parked_events.labels(*place).set(found.events if found else 0)
        metrics.parked_age.labels(*place).set(found.age if found else 0.0)


async def _trim(platform: Platform, every: float) -> None:
    """Delete expired records in small batches until none are left; repeat every `every` seconds."""
    trimming = Trimming(platform.database, platform.log_readers)
    while platform.trims:
        await asyncio.sleep(every)
        with suppress(Unavailable):
            while trimmed := await trimming.trim():
                for topic, records in trimmed.log.items():
                    metrics.trimmed_records.labels(topic).inc(records)
                for group, rows in trimmed.inbox.items():
                    metrics.trimmed_inbox.labels(group).inc(rows)
                await asyncio.sleep(BREATH_SECONDS)


async def _account(platform: Platform, every: float) -> None:
    """Write off and delete old account entries in small batches; repeat every `every` seconds."""
    pause = every
    while platform.trims:
        await asyncio.sleep(pause)
        pause = every
        with suppress(Unavailable):
            if await platform.budgets.trim():
                pause = BREATH_SECONDS
