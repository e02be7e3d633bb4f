"""The host: runs services on a platform, in one process together or one alone; a crash of one part ends the process.

Stopping is orderly: take nothing more, finish what is in hand within a bound, give leases and partitions back, leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from libs.bus.log import SCHEMA, declare
from libs.bus.reader import FLUSH_EVERY_SECONDS, OWN_EVERY_SECONDS, Reader
from libs.changes.lanes import Lanes
from libs.database import migrate
from libs.errors import Unavailable
from libs.events.topics import TOPICS
from libs.leases.ports import BEAT_SECONDS
from libs.runtime.consumer import Consumer
from libs.runtime.keeper import SWEEP_SECONDS, Keeper
from libs.runtime.platform import Platform
from libs.runtime.service import Service
from libs.telemetry import metrics
from libs.telemetry.logs import logger

STOP_SECONDS = 10.0
LEAVE_SECONDS = 5.0

log = logger("host")


@dataclass(frozen=True, slots=True)
class Pace:
    """How often each thing is looked at, in seconds. The bus's own bounds (a lease's 15 s) stand in database time."""

    own: float = OWN_EVERY_SECONDS
    flush: float = FLUSH_EVERY_SECONDS
    beat: float = BEAT_SECONDS
    sweep: float = SWEEP_SECONDS


DEFAULT_PACE = Pace()


@dataclass(frozen=True)
class Running:
    """Services at work. `failed` ends with the error of the part that ends the process."""

    services: Sequence[Service]
    failed: asyncio.Future[None]
    _problems: Callable[[], Sequence[str]]

    def problems(self) -> list[str]:
        """Why this process is not ready; empty when it is."""
        return [*self._problems(), *(problem for service in self.services for problem in service.problems())]


async def prepare(platform: Platform, services: Sequence[Service]) -> None:
    """Bring the services' schemas up to date and declare what they listen to. Safe in every process at every start."""
    await migrate(platform.database.dsns.owner, SCHEMA)
    for service in services:
        if service.schema is not None:
            await migrate(platform.database.dsns.owner, service.schema)
    groups = {s.name: sorted({sub.event.topic.name for sub in s.subscriptions}) for s in services}
    await declare(platform.database, list(TOPICS.values()), groups)


@asynccontextmanager
async def host(platform: Platform, services: Sequence[Service], *, pace: Pace = DEFAULT_PACE) -> AsyncIterator[Running]:
    """Run the services until the block ends; entered once they own their partitions."""
    engine = _Engine(platform, services, pace)
    tasks = {name: asyncio.ensure_future(part()) for name, part in engine.parts().items()}
    for task in tasks.values():
        task.add_done_callback(lambda task: _notice(task, engine.lanes.failed))
    ready = asyncio.ensure_future(engine.reader.ready.wait())
    try:
        await asyncio.wait((ready, engine.lanes.failed), return_when=asyncio.FIRST_COMPLETED)
        yield Running(services, engine.lanes.failed, engine.problems)
    finally:
        ready.cancel()
        await engine.stop(tasks)


class _Engine:
    """The parts of one process, wired to each other."""

    def __init__(self, platform: Platform, services: Sequence[Service], pace: Pace) -> None:
        self.platform, self.services = platform, services
        self.lanes = lanes = Lanes()
        self.consumers = consumers = {
            s.name: Consumer(s, writer=platform.writer, lanes=lanes, parked=platform.parked, point=platform.point)
            for s in services
        }
        self.reader = Reader(
            platform.bus,
            {name: consumer.take for name, consumer in consumers.items()},
            {s.name: frozenset(sub.event.topic.name for sub in s.subscriptions) for s in services},
            own_every=pace.own,
            flush_every=pace.flush,
        )
        self.keeper = Keeper(
            services,
            leases=platform.leases,
            writer=platform.writer,
            lanes=lanes,
            consumers=consumers,
            point=platform.point,
            beat_every=pace.beat,
            sweep_every=pace.sweep,
        )
        self._introduce()

    def _introduce(self) -> None:
        desk, keeper = self.platform.writer.desk, self.keeper
        desk.claim, desk.unclaim, desk.begin, desk.cancelled = keeper.claim, keeper.unclaim, keeper.begin, keeper.stop
        desk.hand, desk.point = self.reader.hand, self.platform.point
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
            "measure": lambda: _measure(self.platform, list(self.consumers)),
            **{f"{s.name}:{n}": task for s in self.services for n, task in enumerate(s.tasks)},
        }

    def problems(self) -> Sequence[str]:
        stopped = [reason for consumer in self.consumers.values() for reason in consumer.stopped]
        writing = self.platform.writer.problem
        return [*stopped, *self.keeper.stopped, *([writing] if writing else [])]

    async def stop(self, tasks: Mapping[str, asyncio.Future[None]]) -> None:
        """In this order: take nothing more, let work end, let lanes empty, give everything back, stop writing."""
        log.info("stopping")
        # After a crash nothing is waited for: what is not written will be handled again.
        patience = 0.0 if self.lanes.failed.done() else STOP_SECONDS
        self.reader.rest()
        self.keeper.rest()
        await _end(task for name, task in tasks.items() if name not in ("writer", "beat"))
        await self.keeper.finish(patience)
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self.lanes.idle()
        await self.lanes.close()
        await _end([tasks["writer"], tasks["beat"]])
        with suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self.reader.leave()
                await self.platform.leases.free([self.platform.member])
        _forget(self.lanes.failed)


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


async def _measure(platform: Platform, groups: Sequence[str]) -> None:
    while True:
        await asyncio.sleep(10)
        with suppress(Unavailable):
            for (group, topic), behind in (await platform.bus.lag(groups)).items():
                metrics.lag.labels(group, topic).set(behind)
