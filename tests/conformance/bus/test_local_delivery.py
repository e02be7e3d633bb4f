"""Members that consume their own events: handled at once where possible, once, and in log order."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from libs.runtime.platform import Platform
from tests.conformance.bus.conftest import Cluster

KEYS = [f"k{n}" for n in range(6)]
TENANTS = ("t1", "t2")
ROUNDS = 12


async def all_speak(cluster: Cluster, members: list[Platform]) -> None:
    """Let every member publish an event of every key in each round, concurrently."""
    for number in range(ROUNDS):
        await asyncio.gather(
            *(
                cluster.say(f"{number}.{who}", key=key, tenant=tenant, by=member)
                for who, member in enumerate(members)
                for key in KEYS
                for tenant in TENANTS
            )
        )


async def all_is_heard_as_it_was_written(cluster: Cluster, members: int) -> None:
    await cluster.until_heard(ROUNDS * members * len(KEYS) * len(TENANTS))
    for key in KEYS:
        for tenant in TENANTS:
            heard = await cluster.heard(key, tenant)
            assert heard == await cluster.written(key, tenant)
            assert len(heard) == ROUNDS * members


async def speakers(cluster: Cluster, stack: AsyncExitStack, count: int, **ports: Any) -> list[Platform]:
    return [(await stack.enter_async_context(cluster.speaking(**ports)))[0] for _ in range(count)]


@pytest.mark.requirement("A16")
@pytest.mark.parametrize("members", [1, 2])
async def test_local_events_are_handled_in_log_order(cluster: Cluster, members: int) -> None:
    async with AsyncExitStack() as stack:
        await all_speak(cluster, await speakers(cluster, stack, members))
        await all_is_heard_as_it_was_written(cluster, members)


@pytest.mark.requirement("A15", "A16")
async def test_local_events_keep_log_order_during_rebalances(cluster: Cluster) -> None:
    async with AsyncExitStack() as stack:
        speaking = asyncio.ensure_future(all_speak(cluster, await speakers(cluster, stack, 1)))
        for _ in range(2):
            async with cluster.listening():
                await cluster.shared_by(2)
        await speaking
        await all_is_heard_as_it_was_written(cluster, 1)


@pytest.mark.requirement("A12", "A15")
async def test_local_events_keep_log_order_with_two_owners(cluster: Cluster) -> None:
    async with AsyncExitStack() as stack:
        members: list[Platform] = []
        for _ in range(2):
            plain = await stack.enter_async_context(cluster.platform())
            members += await speakers(cluster, stack, 1, bus=cluster.place.greedy(plain.bus))
        await all_speak(cluster, members)
        await all_is_heard_as_it_was_written(cluster, 2)
