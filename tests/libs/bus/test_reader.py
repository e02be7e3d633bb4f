"""The reader: local delivery and reading form one sequence without a gap."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import pytest

from libs.bus import reader
from libs.bus.ports import Partition, Record
from libs.bus.reader import EACH_MOST, IN_HAND_MOST, Reader

PART = Partition("topic", 0)


def records(*positions: int, tenant: str = "t") -> list[Record]:
    return [Record("topic", 0, n, str(n), tenant, f"{tenant}:k", "type", {}, b"{}") for n in positions]


class Log:
    """A bus over a list, with the port's guarantees, whose reads wait when the test requires it."""

    problem = None

    def __init__(self, *, dense: bool = True) -> None:
        self.dense = dense
        self.records: list[Record] = []
        self.owned: dict[Partition, int] = {PART: 0}
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.asked = asyncio.Event()
        self.advanced: list[int] = []

    async def assignments(self, groups: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[Partition, int]]:
        return {group: dict(self.owned) for group in groups}

    async def moved(self, within: float) -> None:
        await asyncio.sleep(within)

    async def read(self, after: Mapping[str, Mapping[Partition, int]], *, limit: int) -> Mapping[str, Sequence[Record]]:
        found = {
            group: [record for record in self.records if record.position > marks[PART]][:limit]
            for group, marks in after.items()
        }
        self.asked.set()
        await self.may_answer.wait()
        return found

    async def advance(self, done: Mapping[str, Mapping[Partition, int]]) -> None:
        self.advanced.extend(mark for marks in done.values() for mark in marks.values())

    async def wake(self, topics: Sequence[str]) -> None: ...

    async def waiting(self) -> None:
        await asyncio.sleep(0.01)

    async def leave(self, groups: Sequence[str]) -> None: ...

    async def lag(self, groups: Sequence[str]) -> Mapping[tuple[str, str], int]:
        return {}


class Consumer:
    """A consumer that records what it takes, and finishes on request."""

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.deaf = False
        self.dones: list[Callable[[], None]] = []

    def take(self, record: Record, done: Callable[[], None]) -> None:
        self.taken.append(record.position)
        self.dones.append(done)
        if self.deaf:
            done()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.taken) < count:
                await asyncio.sleep(0.001)


class Running:
    def __init__(self, *, dense: bool = True) -> None:
        self.log, self.consumer = Log(dense=dense), Consumer()
        self.reader = Reader(
            self.log, {"g": self.consumer.take}, {"g": frozenset({"topic"})}, own_every=0.01, flush_every=0.01
        )
        self.finished = 0
        self._tasks: list[asyncio.Future[None]] = []

    async def __aenter__(self) -> Running:
        for part in (self.reader.own, self.reader.follow, self.reader.listen):
            self._tasks.append(asyncio.ensure_future(part()))
        await self.reader.ready.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def test_next_record_is_delivered_locally() -> None:
    async with Running() as running:
        running.log.may_answer.clear()
        running.reader.offer_local(records(1, 2))
        assert running.consumer.taken == [1, 2]


@pytest.mark.requirement("A16")
async def test_local_record_beyond_a_gap_is_read_in_order() -> None:
    async with Running() as running:
        running.log.records = records(1, 2, 3)
        running.reader.offer_local(records(3))
        await running.consumer.until(3)
        assert running.consumer.taken == [1, 2, 3]


async def test_record_delivered_locally_during_a_read_is_taken_once() -> None:
    async with Running() as running:
        running.log.may_answer.clear()
        running.log.asked.clear()
        running.log.records = records(1, 2)
        await running.log.asked.wait()
        running.reader.offer_local(records(1, 2, 3))
        running.log.records = records(1, 2, 3, 4)
        running.log.may_answer.set()
        await running.consumer.until(4)
        assert running.consumer.taken == [1, 2, 3, 4]


@pytest.mark.requirement("A15", "A16")
async def test_a_partition_lost_and_regained_during_a_read_skips_nothing() -> None:
    async with Running() as running:
        running.log.records = records(1, 2, 3)
        await running.consumer.until(3)
        running.log.may_answer.clear()
        running.log.asked.clear()
        running.log.records = records(1, 2, 3, 4)
        await running.log.asked.wait()
        running.log.owned = {}
        await asyncio.sleep(0.05)
        running.log.owned = {PART: 1}
        await asyncio.sleep(0.05)
        running.log.may_answer.set()
        await running.consumer.until(6)
        assert running.consumer.taken == [1, 2, 3, 2, 3, 4]


async def test_relayed_records_are_read_without_the_transport() -> None:
    async with Running(dense=False) as running:
        running.log.may_answer.clear()
        running.reader.observe_relayed(records(7, 8), first=1, safe=6)
        assert running.consumer.taken == [1, 2]
        for done in running.consumer.dones:
            done()
        await running.reader.flush()
    assert running.log.advanced == [2]


@pytest.mark.requirement("A16")
async def test_relayed_record_behind_a_foreign_one_is_read_in_order() -> None:
    async with Running(dense=False) as running:
        running.log.may_answer.clear()
        running.reader.observe_relayed(records(7, 8), first=2, safe=6)
        assert running.consumer.taken == []
        running.log.records = records(1, 2, 3)
        running.log.may_answer.set()
        await running.consumer.until(3)
        assert running.consumer.taken == [1, 2, 3]


async def test_record_relayed_during_a_read_is_taken_once() -> None:
    async with Running(dense=False) as running:
        running.log.may_answer.clear()
        running.log.asked.clear()
        running.log.records = records(1, 2, 3)
        await running.log.asked.wait()
        running.reader.observe_relayed(records(7, 8), first=1, safe=6)
        running.log.may_answer.set()
        await running.consumer.until(3)
        assert running.consumer.taken == [1, 2, 3]


async def test_relayed_records_respect_the_limit_of_reads() -> None:
    large = reader.AHEAD_MOST_BYTES // 300
    async with Running(dense=False) as running:
        running.log.may_answer.clear()
        every = [replace(record, data=b"x" * large) for record in records(*range(1, 1001))]
        running.reader.observe_relayed(every, first=1, safe=0)
        assert running.reader.ahead_bytes <= reader.AHEAD_MOST_BYTES + large + reader.RECORD_BYTES
        running.log.records = every
        running.log.may_answer.set()
        for n in range(1000):
            await running.consumer.until(n + 1)
            running.consumer.dones[n]()
    assert running.consumer.taken == list(range(1, 1001))


async def test_running_records_are_limited_and_the_rest_follow() -> None:
    async with Running() as running:
        running.log.records = records(*range(1, EACH_MOST + 11))
        await running.consumer.until(EACH_MOST)
        await asyncio.sleep(0.05)
        assert len(running.consumer.taken) == EACH_MOST
        for done in list(running.consumer.dones):
            done()
        await running.consumer.until(EACH_MOST + 10)
        assert running.consumer.taken == list(range(1, EACH_MOST + 11))


async def test_record_behind_another_tenants_thousand_starts_before_they_end() -> None:
    async with Running() as running:
        running.log.records = [*records(*range(1, 1001)), *records(1001, tenant="other")]
        await running.consumer.until(EACH_MOST + 1)
        assert running.consumer.taken[-1] == 1001
        running.consumer.dones[-1]()
        await running.reader.flush()
    assert running.log.advanced == [], "what is read ahead is not done"


async def test_running_records_are_limited_across_tenants() -> None:
    async with Running() as running:
        running.log.records = [record for n in range(1, 601) for record in records(n, tenant=f"t{n % 3}")]
        await running.consumer.until(IN_HAND_MOST)
        await asyncio.sleep(0.05)
        assert len(running.consumer.taken) == IN_HAND_MOST


async def test_read_ahead_is_limited_and_continues_as_records_finish() -> None:
    large = reader.AHEAD_MOST_BYTES // 300
    async with Running() as running:
        every = [replace(record, data=b"x" * large) for record in records(*range(1, 1001))]
        running.log.records = every
        await running.consumer.until(EACH_MOST)
        await asyncio.sleep(0.05)
        assert running.reader.ahead_bytes <= reader.AHEAD_MOST_BYTES + large + reader.RECORD_BYTES
        while len(running.consumer.dones) < len(every):
            for done in running.consumer.dones[running.finished :]:
                done()
                running.finished += 1
            await asyncio.sleep(0)
        assert running.consumer.taken == list(range(1, 1001))


async def test_records_without_a_listener_are_skipped_in_bulk() -> None:
    async with Running() as running:
        running.consumer.deaf = True
        running.log.records = records(*range(1, 5001))
        await running.consumer.until(5000)
        await running.reader.flush()
    assert running.log.advanced[-1] == 5000


async def test_low_watermark_waits_for_the_slowest_earlier_record() -> None:
    async with Running() as running:
        running.reader.offer_local(records(1, 2, 3))
        running.consumer.dones[2]()
        running.consumer.dones[0]()
        await running.reader.flush()
        running.consumer.dones[1]()
        await running.reader.flush()
    assert running.log.advanced == [1, 3]


async def test_a_resting_reader_takes_nothing_more() -> None:
    async with Running() as running:
        running.reader.stop_taking()
        running.reader.offer_local(records(1))
    assert running.consumer.taken == []
