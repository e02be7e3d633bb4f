"""Members join, stall, die and overlap; every event is handled once, in the order of its key."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from libs.bus.ports import OWNED_SECONDS
from libs.changes.lanes import Lanes
from libs.events.topics import MEMORY_EVENTS
from libs.runtime.consumer import Consumer
from libs.runtime.failure_reports import FailureReports
from libs.runtime.platform import nowhere
from tests.conformance.bus.conftest import Cluster
from tests.conformance.bus.listener import GROUP, Listener

KEYS = [f"k{n}" for n in range(12)]
ROUNDS = 8


async def say_a_round(cluster: Cluster, number: int) -> None:
    await asyncio.gather(*(cluster.say(str(number), key=key) for key in KEYS))


async def all_is_heard_once_and_in_order(cluster: Cluster, rounds: int) -> None:
    await cluster.until_heard(len(KEYS) * rounds)
    for key in KEYS:
        assert await cluster.heard(key) == [str(number) for number in range(rounds)]


@pytest.mark.requirement("A10", "A15")
async def test_events_arrive_once_while_members_join_stall_and_die(cluster: Cluster) -> None:
    first, second, third = (cluster.child(name) for name in ("first", "second", "third"))
    await cluster.shared_by(3)
    await say_a_round(cluster, 0)
    second.stop()
    await say_a_round(cluster, 1)
    third.kill()
    cluster.child("fourth")
    await say_a_round(cluster, 2)
    await cluster.later(OWNED_SECONDS + 1)
    for number in range(3, ROUNDS):
        await say_a_round(cluster, number)
    await cluster.until_heard(len(KEYS) * ROUNDS)
    second.resume()
    await say_a_round(cluster, ROUNDS)
    await all_is_heard_once_and_in_order(cluster, ROUNDS + 1)
    del first


@pytest.mark.requirement("A12", "A15")
async def test_two_owners_of_every_partition_handle_each_event_once(cluster: Cluster) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(2):
            platform = await stack.enter_async_context(cluster.platform())
            await stack.enter_async_context(cluster.listening(bus=cluster.place.greedy(platform.bus)))
        for number in range(ROUNDS):
            await say_a_round(cluster, number)
        await all_is_heard_once_and_in_order(cluster, ROUNDS)


@pytest.mark.requirement("A15")
async def test_handler_that_outlasts_its_membership_keeps_order_and_effect(cluster: Cluster) -> None:
    async with cluster.listening(), AsyncExitStack() as others:
        await cluster.say("slow", text="awaits:gate")
        await cluster.say("next")
        await cluster.later(OWNED_SECONDS + 1)
        for _ in range(2):
            await others.enter_async_context(cluster.listening())
        await cluster.shared_by(3)
        await cluster.say("last")
        await cluster.mend("gate")
        await cluster.until_heard(3)
    assert await cluster.heard() == ["slow", "next", "last"]


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("times", [1, 2, 50])
async def test_an_event_delivered_often_at_once_has_one_effect(cluster: Cluster, times: int) -> None:
    record = await cluster.record(await cluster.say("once"))
    async with AsyncExitStack() as stack:
        members = [await stack.enter_async_context(cluster.platform()) for _ in range(min(times, 5))]
        writers = [asyncio.ensure_future(member.writer.run()) for member in members]
        await asyncio.sleep(0)
        done: list[int] = []
        lanes = [Lanes() for _ in members]
        consumers = [
            Consumer(
                Listener(member).service(),
                writer=member.writer,
                lanes=own,
                parked=member.parked,
                notices=FailureReports(member.objects, member.board),
                point=nowhere,
                now=member.clock.now,
            )
            for member, own in zip(members, lanes, strict=True)
        ]
        for number in range(times):
            consumers[number % len(members)].take(record, lambda number=number: done.append(number))  # type: ignore[misc]
        await asyncio.gather(*(own.idle() for own in lanes))
        for writer in writers:
            writer.cancel()
        await asyncio.gather(*writers, return_exceptions=True)
    assert sorted(done) == list(range(times))
    assert await cluster.heard() == ["once"]


@pytest.mark.requirement("A11")
@pytest.mark.parametrize(
    "fatal", ["writer:commit:before", "writer:commit:after", "memory_service:suma.remember.requested.v1:after"]
)
async def test_running_events_of_a_killed_member_are_redelivered_in_order(cluster: Cluster, fatal: str) -> None:
    child = cluster.child("doomed", fatal)
    await cluster.shared_by(1)
    for number in range(3):
        await cluster.say(str(number))
    assert await child.ended() == -9
    await cluster.later(OWNED_SECONDS + 1)
    async with cluster.listening():
        await cluster.until_heard(3)
    assert await cluster.heard() == ["0", "1", "2"]


@pytest.mark.requirement("A10")
async def test_a_member_that_leaves_gives_its_partitions_back_at_once(cluster: Cluster) -> None:
    async with cluster.listening():
        await cluster.say("before")
        await cluster.until_heard(1)
    assert not await cluster.place.shares(GROUP)
    async with cluster.listening():
        await cluster.say("after")
        await cluster.until_heard(2)


async def test_handled_events_do_not_count_as_lag(cluster: Cluster) -> None:
    async with cluster.listening():
        await cluster.say("one")
        await cluster.until_heard(1)
    assert (await cluster.publisher.bus.lag([GROUP]))[GROUP, MEMORY_EVENTS.name] == 0


async def test_partitions_are_shared_fairly(cluster: Cluster) -> None:
    async with cluster.listening(), cluster.listening(), cluster.listening():
        await cluster.shared_by(3)
