"""Kafka as a bus: prefetching is bounded, and records are kept until their positions are passed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio

from deploy.local.kafka import Kafka
from libs import ids
from libs.bus.kafka import Address, KafkaBus, KafkaOutlet
from libs.bus.kafka import bus as adapter
from libs.bus.kafka.broker import KafkaDown, declare
from libs.bus.kafka.outlet import Stretch, beginning
from libs.bus.ports import Partition, Record
from libs.events.topics import MEMORY_EVENTS

GROUP, TOPIC = "memory_service", MEMORY_EVENTS.name
PART = Partition(TOPIC, 0)
WITHIN = 60.0


@dataclass
class Yard:
    """A topic with its producer, and members that read it."""

    address: Address
    outlet: KafkaOutlet
    said: int = 0

    async def say(self, count: int, *, size: int = 0) -> int | None:
        """Publish more events in the first partition; the n-th is at position n - 1 and named by it. Return the
        position of the first, as the outlet reports it.
        """
        headers = {"source": "s", "time": "2026-01-01T00:00:00+00:00"}
        names = [str(self.said + n) for n in range(count)]
        self.said += count
        data = b'"' + b"x" * size + b'"'
        return await self.outlet.send(
            [Record(TOPIC, 0, 0, name, "t", "t:k", "type", headers, data) for name in names], safe=0
        )

    @asynccontextmanager
    async def member(self, name: str = "member", *, instance: str | None = None) -> AsyncIterator[Member]:
        bus = KafkaBus(replace(self.address, instance=instance), name, session=3.0, scan=0.1)
        member = Member(bus)
        try:
            await member.owns()
            yield member
        finally:
            await bus.leave([GROUP])


@dataclass
class Member:
    bus: KafkaBus

    async def owns(self) -> Mapping[Partition, int]:
        async with asyncio.timeout(WITHIN):
            while not (owned := (await self.bus.assignments({GROUP: [TOPIC]}))[GROUP]):
                await self.bus.moved(0.1)
        return owned

    async def read(self, *, after: int, count: int) -> list[str]:
        """Wait for the first `count` events after this position."""
        found: Sequence[Record] = ()
        async with asyncio.timeout(WITHIN):
            while len(found) < count:
                await self.bus.waiting()
                found = (await self.bus.read({GROUP: {PART: after}}, limit=1000))[GROUP]
        return [record.event_id for record in found[:count]]


def names(first: int, beyond: int) -> list[str]:
    return [str(n) for n in range(first, beyond)]


@pytest_asyncio.fixture(loop_scope="session")
async def yard(broker: Kafka) -> AsyncIterator[Yard]:
    address = Address(broker.bootstrap, prefix=f"{ids.new()}.")
    await declare(address, [MEMORY_EVENTS])
    outlet = KafkaOutlet(address, "m")
    yield Yard(address, outlet)
    await outlet.close()


async def test_read_repeats_records_until_a_later_position_is_requested(yard: Yard) -> None:
    async with yard.member() as member:
        await yard.say(5)
        assert await member.read(after=-1, count=5) == names(0, 5)
        assert await member.read(after=-1, count=5) == names(0, 5)
        assert await member.read(after=2, count=2) == names(3, 5)


async def test_an_earlier_position_is_fetched_again(yard: Yard) -> None:
    async with yard.member() as member:
        await yard.say(5)
        assert await member.read(after=3, count=1) == ["4"]
        assert await member.read(after=0, count=4) == names(1, 5)


async def test_locally_read_records_are_skipped(yard: Yard) -> None:
    async with yard.member() as member:
        await yard.say(5)
        await member.bus.read({GROUP: {PART: 4}}, limit=1000)
        await yard.say(1)
        assert await member.read(after=4, count=1) == ["5"]
        assert await member.read(after=2, count=3) == names(3, 6)


async def test_skipped_records_are_not_buffered(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "KEPT_MOST", 10)
    async with yard.member() as member:
        for said in range(20, 81, 20):
            await yard.say(20)
            await member.bus.read({GROUP: {PART: said - 1}}, limit=1000)
        await yard.say(1)
        assert await member.read(after=79, count=1) == ["80"]


async def test_outlet_returns_the_position_of_the_first_record(yard: Yard) -> None:
    assert [await yard.say(3), await yard.say(2)] == [0, 3]


async def test_outlet_returns_the_first_position_over_several_batches(yard: Yard) -> None:
    assert [await yard.say(9, size=200_000), await yard.say(1)] == [0, 9]


@pytest.mark.parametrize(
    ("stretches", "first"),
    [
        ([Stretch(7, 2)], 7),
        ([Stretch(7, 2), Stretch(9, 1), Stretch(10, 4)], 7),
        ([Stretch(7, 2), Stretch(10, 1)], None),
        ([Stretch(-1, 2)], None),
        ([Stretch(-1, 2), Stretch(1, 1)], None),
    ],
)
def test_positions_are_known_only_without_foreign_records_between(stretches: list[Stretch], first: int | None) -> None:
    assert beginning(stretches) == first


async def test_read_buffer_is_bounded_and_refilled_as_it_drains(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "KEPT_MOST", 10)
    monkeypatch.setattr(adapter, "TOGETHER_MOST", 5)
    await yard.say(60)
    async with yard.member() as member:
        await member.read(after=-1, count=10)
        kept = (await member.bus.read({GROUP: {PART: -1}}, limit=1000))[GROUP]
        assert 10 <= len(kept) < 20
        heard: list[str] = []
        while len(heard) < 60:
            heard += await member.read(after=len(heard) - 1, count=1)
    assert heard == names(0, 60)


async def test_next_member_starts_after_the_committed_position(yard: Yard) -> None:
    await yard.say(5)
    async with yard.member() as member:
        await member.read(after=-1, count=5)
        await member.bus.advance({GROUP: {PART: 2}})
        assert (await member.bus.lag([GROUP]))[GROUP, TOPIC] == 2
    async with yard.member() as member:
        assert (await member.owns())[PART] == 2
        await member.bus.advance({GROUP: {PART: 1}})
        assert (await member.bus.lag([GROUP]))[GROUP, TOPIC] == 2


async def test_reassigned_partitions_are_reported_at_once(yard: Yard) -> None:
    every = {Partition(TOPIC, part) for part in range(MEMORY_EVENTS.partitions)}
    async with yard.member("first") as first:
        assert set(await first.owns()) == every
        async with yard.member("second") as second:
            await first.bus.moved(WITHIN)
            mine, others = set(await first.owns()), set(await second.owns())
    assert mine | others == every
    assert not mine & others


async def test_static_member_that_returns_in_time_keeps_its_partitions(yard: Yard) -> None:
    async with yard.member("one", instance="one"):
        async with yard.member("two", instance="two") as two:
            before = set(await two.owns())
        async with yard.member("two again", instance="two") as again:
            assert set(await again.owns()) == before
            assert 0 < len(before) < MEMORY_EVENTS.partitions


async def test_process_that_consumes_nothing_notices_an_outage() -> None:
    bus = KafkaBus(Address("127.0.0.1:1"), "m")
    with pytest.raises(KafkaDown):
        await bus.lag(["audit_worker"])
