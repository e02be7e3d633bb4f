"""The kill driver: a process that hosts services dies by SIGKILL at a named point, and another must bring all to its
end.

The points are a catalogue made from what the services declare, not from what a run happened to hit (docs/bus.md, Kill
points). A `Scenario` makes a process's platform and services; it must be importable, because children are forked.
The test supplies the work beforehand, as events in the log, and a check that everything is over.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import asyncpg

from libs import ids
from libs.bus.ports import OWNED_SECONDS
from libs.database import Dsns
from libs.runtime.host import Running, host
from libs.runtime.platform import Platform
from libs.runtime.service import Service
from libs.telemetry import logs
from tests.infrastructure import PACE, shift
from tests.support.processes import Child

Point: TypeAlias = Callable[[str], None]
Stage: TypeAlias = tuple[Platform, Sequence[Service]]
Scenario: TypeAlias = Callable[[Dsns, str, str, Point], AbstractAsyncContextManager[Stage]]
"""(dsns, the world's dsn, member's name, point) → the platform and the services of one process."""

WITHIN = 90.0
"""Seconds: what is reached only where something is wrong, also on a machine that does ten other things."""
TICK = 0.02
LATER_SECONDS = 30.0
"""Database time between a death and the next process's start. The retry that a dead process had claimed is due then."""
DOOMED = "doomed"


def catalogue(services: Sequence[Service]) -> list[str]:
    """Every point at which a process that hosts these can be killed, from what they declare."""
    steps = ["writer:commit", "reader:flush", "reader:wake"]
    for service in services:
        steps += [f"{service.name}:{subscription.event.type}" for subscription in service.subscriptions]
        steps += [f"{service.name}:{kind.name}:{part}" for kind in service.kinds for part in ("sweep", "run", "finish")]
        steps += [f"{service.name}:parked"] if service.subscriptions else []
    steps += ["project"] if any(service.projections for service in services) else []
    fuses = any(subscription.fuses for service in services for subscription in service.subscriptions)
    steps += ["fuse"] if fuses else []
    return [f"{step}:{side}" for step in steps for side in ("before", "after")]


@dataclass
class Faults:
    """What a process's platform is told of every point: it counts, and kills its own process at the chosen hit of
    one."""

    fatal: str = ""
    hit: int = 1
    seen: dict[str, int] = field(default_factory=dict)

    def __call__(self, point: str) -> None:
        self.seen[point] = self.seen.get(point, 0) + 1
        if point == self.fatal and self.seen[point] == self.hit:
            os.kill(os.getpid(), signal.SIGKILL)


def doomed(scenario: Scenario, where: Dsns, world: str, fatal: str, hit: int) -> None:
    """A process that works until it kills itself."""
    logs.configure(json=False, level="CRITICAL")
    asyncio.run(_work(scenario, where, world, Faults(fatal, hit)))


async def _work(scenario: Scenario, where: Dsns, world: str, faults: Faults) -> None:
    async with (
        scenario(where, world, DOOMED, faults) as (platform, services),
        host(platform, services, pace=PACE) as running,
        time_flies(platform),
    ):
        await running.failed


async def die(scenario: Scenario, where: Dsns, world: str, fatal: str, hit: int = 1) -> None:
    """Let a process die at this point; an error when it never comes there."""
    child = Child(doomed, scenario, where, world, fatal, hit)
    try:
        assert await child.ended(WITHIN) == -signal.SIGKILL, f"nothing came to {fatal}"
    finally:
        child.kill()


async def survive(scenario: Scenario, where: Dsns, world: str, *, dead: Sequence[str] = (DOOMED,)) -> Faults:
    """A new process frees what the dead one held, and works until all is over. Which points it came to."""
    faults = Faults()
    async with scenario(where, world, ids.new(), faults) as (platform, services):
        await platform.leases.free(list(dead))
        await shift(platform.database, seconds=LATER_SECONDS)
        async with host(platform, services, pace=PACE) as running, time_flies(platform):
            over = asyncio.ensure_future(until_over(where, services))
            await asyncio.wait({over, running.failed}, return_when=asyncio.FIRST_COMPLETED)
            if running.failed.done():
                over.cancel()
                await running.failed
            await over
            await _ready(running)
    return faults


async def _ready(running: Running) -> None:
    """Readiness is asked in the background: what was slow a moment ago may still be told."""
    async with asyncio.timeout(WITHIN):
        while running.problems():
            await asyncio.sleep(TICK)


@asynccontextmanager
async def time_flies(platform: Platform) -> AsyncIterator[None]:
    """Database time passes quickly, but not so that a member could not renew what it holds."""

    async def fly() -> None:
        while True:
            await asyncio.sleep(TICK)
            await shift(platform.database, seconds=OWNED_SECONDS / 30)

    flying = asyncio.ensure_future(fly())
    try:
        yield
    finally:
        flying.cancel()
        await asyncio.gather(flying, return_exceptions=True)


async def until_over(where: Dsns, services: Sequence[Service]) -> None:
    """No lease, nothing parked, and every event of the log answered by everyone who listens to it, and projected."""
    pairs = [(s.name, sub.event.type) for s in services for sub in s.subscriptions]
    groups, types = [group for group, _ in pairs], [kind for _, kind in pairs]
    eye = await asyncpg.connect(where.bus)
    try:
        async with asyncio.timeout(WITHIN):
            while not await eye.fetchval(OVER, groups, types):
                await asyncio.sleep(TICK)
    except TimeoutError:
        raise AssertionError(f"it does not end: {await eye.fetch(LEFT, groups, types)}") from None
    finally:
        await eye.close()


LEFT = """
select 'lease' as what, id from bus.leases where kind not in ('history', 'assets')
union all select 'parked', event_id from bus.parked where state = 'parked'
union all select listens.grp, log.type || ' ' || log.event_id from unnest($1::text[], $2::text[]) as listens(grp, type)
join bus.log using (type) where not exists (select from bus.inbox where inbox.grp = listens.grp and inbox.id =
log.event_id and inbox.state <> 'parked')
union all select grp, topic || ' ' || part from bus.projections join bus.offsets using (grp, topic) join bus.heads using
(topic, part) where position < next - 1
"""
OVER = f"select not exists ({LEFT})"
DENSE = """
select coalesce(bool_and(counted = last), true) from (
    select count(*) as counted, max(position) as last from bus.log group by topic, part
) as each_partition
"""
