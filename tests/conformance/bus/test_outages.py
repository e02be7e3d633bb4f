"""Kafka outages: nothing is lost, repeated or reordered, and readiness reports them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided
from deploy.local.kafka import Kafka, kafka
from libs.database import Dsns
from libs.runtime.host import Running
from tests.conformance.bus.adapters import ADAPTERS, Place
from tests.conformance.bus.conftest import WITHIN, Cluster
from tests.conformance.bus.test_members import KEYS, all_is_heard_once_and_in_order, say_a_round

ROUNDS = 4


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def fragile() -> AsyncIterator[Kafka]:
    """Yield a broker for this module alone, because it is stopped."""
    try:
        async with kafka() as running:
            yield running
    except Unprovided as reason:
        pytest.skip(str(reason))


@pytest.fixture
def place(fragile: Kafka, echo_where: Dsns) -> Place:
    return ADAPTERS["kafka"](echo_where, fragile.bootstrap)


async def until(said: Callable[[], bool]) -> None:
    async with asyncio.timeout(WITHIN):
        while not said():
            await asyncio.sleep(0.05)


@asynccontextmanager
async def away(running: Running, go: Awaitable[None], back: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Stop the broker during the block, which is entered once readiness reports it."""
    await go
    await until(lambda: any("Kafka" in problem for problem in running.problems()))
    try:
        yield
    finally:
        await back()


@pytest.mark.requirement("A17")
@pytest.mark.parametrize("how", ["kill", "pause"])
async def test_events_published_during_an_outage_arrive_once_in_order(
    cluster: Cluster, fragile: Kafka, how: str
) -> None:
    async with cluster.listening() as running, cluster.listening():
        await say_a_round(cluster, 0)
        async with away(running, getattr(fragile, how)(), fragile.resume if how == "pause" else fragile.start):
            for number in range(1, ROUNDS - 1):
                await say_a_round(cluster, number)
        await say_a_round(cluster, ROUNDS - 1)
        await all_is_heard_once_and_in_order(cluster, ROUNDS)
        await until(lambda: not running.problems())
    assert await cluster.eye.fetchval("select count(*) from echo.noted") == len(KEYS) * ROUNDS


@pytest.mark.requirement("A11", "A17")
async def test_events_committed_during_an_outage_are_sent_by_another_process(cluster: Cluster, fragile: Kafka) -> None:
    async with cluster.listening() as running, away(running, fragile.pause(), fragile.resume):
        await say_a_round(cluster, 0)
    async with cluster.listening():
        await all_is_heard_once_and_in_order(cluster, 1)


@pytest.mark.requirement("A17")
async def test_local_events_are_handled_during_an_outage_and_sent_later(cluster: Cluster, fragile: Kafka) -> None:
    async with cluster.speaking() as (platform, running):
        await asyncio.gather(*(cluster.say("0", key=key, by=platform) for key in KEYS))
        await cluster.until_heard(len(KEYS))
        async with away(running, fragile.pause(), fragile.resume):
            await asyncio.gather(*(cluster.say("1", key=key, by=platform) for key in KEYS))
            await cluster.until_heard(2 * len(KEYS))
        await until(lambda: not running.problems())
        await cluster.until(
            "select not exists (select from bus.log l left join bus.offsets o using (topic, part)"
            " where o.grp = 'relay' and l.position > o.position)"
        )
    async with cluster.listening():
        await all_is_heard_once_and_in_order(cluster, 2)
