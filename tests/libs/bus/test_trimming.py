"""Trimming, on the bus's clock: needed records stay, expired ones are deleted, and storage stays bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import asyncpg
import pytest
import pytest_asyncio

from libs import ids
from libs.bus import trimming
from libs.bus.log import declare, topic_sizes
from libs.bus.ports import Partition, Record
from libs.bus.trimming import GRACE, LOCK, Trimmed, Trimming
from libs.changes import Cause, Changeset
from libs.changes.batch import Parking
from libs.changes.changeset import DeadLetterAction
from libs.database import Dsns
from libs.events import RememberRequested
from libs.events.topics import MEMORY, MEMORY_EVENTS, TOPICS
from libs.runtime.host import host
from libs.runtime.platform import Platform
from libs.telemetry import metrics
from tests import infrastructure
from tests.infrastructure import PACE

KEY, OTHER = "t1:k", "another_group"
PART = Partition(MEMORY_EVENTS.name, MEMORY_EVENTS.partition_of(KEY))
RETENTION = MEMORY_EVENTS.retention.total_seconds()
DAY = timedelta(days=1).total_seconds()


@dataclass
class Yard:
    """A log with a writer, and groups that report their offsets."""

    where: Dsns
    platform: Platform
    eye: asyncpg.Connection[asyncpg.Record]

    async def publish(self, count: int = 1) -> list[Record]:
        said = [RememberRequested(memory_id=ids.new(), kind="fact", text="x" * 200, user="u") for _ in range(count)]
        cause = Cause.request("gateway", id=ids.new(), tenant="t1", key=KEY)
        return list((await self.platform.writer.apply(Changeset(cause).emit(*said))).records)

    async def handle(self, record: Record, *, state: str = "done") -> str:
        """Handle an event as a consumer of the memory service would; return the verdict."""
        return (await self.platform.writer.apply(Changeset(Cause.record(MEMORY, record)), state=state)).verdict

    async def done(self, position: int, group: str = MEMORY) -> None:
        await self.platform.bus.advance({group: {PART: position}})

    async def work(self, count: int = 1) -> list[Record]:
        """Publish an event and handle it."""
        records = await self.publish(count)
        await asyncio.gather(*(self.handle(record) for record in records))
        await self.done(records[-1].position)
        return records

    async def later(self, seconds: float) -> None:
        await infrastructure.shift(self.platform.database, seconds=seconds)

    async def trim(self) -> Trimmed:
        """Trim until nothing is left to delete; return the totals."""
        log, inbox, trimmer = 0, 0, Trimming(self.platform.database)
        while once := await trimmer.trim():
            log, inbox = log + sum(once.log.values()), inbox + sum(once.inbox.values())
        return Trimmed({MEMORY_EVENTS.name: log}, {MEMORY: inbox})

    async def read(self, *, after: int) -> list[int]:
        """Return the positions that a group with this offset reads next."""
        found = await self.platform.bus.read({MEMORY: {PART: after}}, limit=10)
        return [record.position for record in found[MEMORY]]

    async def positions(self) -> list[int]:
        rows = await self.eye.fetch("select position from bus.log where topic = $1 order by position", PART.topic)
        return [row["position"] for row in rows]


@pytest_asyncio.fixture(loop_scope="session")
async def yard(where: Dsns) -> AsyncIterator[Yard]:
    async with infrastructure.platform(where) as platform:
        await declare(platform.database, list(TOPICS.values()), {MEMORY: [PART.topic]})
        writing = asyncio.ensure_future(platform.writer.run())
        eye = await asyncpg.connect(where.owner.replace("suma_owner", "postgres"))
        yield Yard(where, platform, eye)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await eye.close()


async def test_only_old_records_done_by_all_groups_are_deleted(yard: Yard) -> None:
    await yard.work(3)
    await yard.later(RETENTION + 1)
    young = await yard.work(2)
    await yard.trim()
    assert await yard.positions() == [record.position for record in young]


async def test_young_records_stay_although_every_group_handled_them(yard: Yard) -> None:
    await yard.work(3)
    await yard.later(RETENTION - 60)
    assert not (await yard.trim()).log[PART.topic]
    assert len(await yard.positions()) == 3


async def test_a_group_that_is_far_behind_is_never_overrun(yard: Yard) -> None:
    await declare(yard.platform.database, list(TOPICS.values()), {OTHER: [PART.topic]})
    records = await yard.work(5)
    await yard.done(records[1].position, OTHER)
    await yard.later(RETENTION * 10)
    await yard.trim()
    assert await yard.positions() == [record.position for record in records[2:]]


async def test_group_that_has_never_started_loses_nothing(yard: Yard) -> None:
    await yard.work(3)
    await yard.eye.execute("delete from bus.partitions; delete from bus.offsets")
    await yard.later(RETENTION * 10)
    await yard.trim()
    assert len(await yard.positions()) == 3


async def test_with_another_bus_only_the_relay_holds_the_log(yard: Yard) -> None:
    await yard.eye.execute("delete from bus.partitions")
    await yard.publish(3)
    await yard.done(2, "relay")
    await yard.later(RETENTION * 2)
    while await Trimming(yard.platform.database, lambda topic: ("relay",)).trim():
        pass
    assert await yard.positions() == [3]


async def test_new_group_starts_at_the_oldest_kept_record(yard: Yard) -> None:
    await yard.work(3)
    await yard.later(RETENTION + 1)
    await yard.work(2)
    await yard.trim()
    await declare(yard.platform.database, list(TOPICS.values()), {OTHER: [PART.topic]})
    assert (await yard.platform.bus.lag([OTHER]))[OTHER, PART.topic] == 2
    assert await yard.read(after=0) == [4, 5]
    await yard.later(RETENTION * 2)
    await yard.trim()
    assert await yard.positions() == [4, 5]


async def test_positions_continue_after_the_log_is_trimmed_empty(yard: Yard) -> None:
    await yard.work(3)
    await yard.later(RETENTION + 1)
    await yard.trim()
    assert await yard.positions() == []
    assert [record.position for record in await yard.publish(2)] == [4, 5]
    assert await yard.read(after=3) == [4, 5]


@pytest.mark.requirement("A12")
async def test_a_redelivery_from_beyond_the_log_is_still_refused(yard: Yard) -> None:
    (record,) = await yard.work()
    await yard.later(RETENTION + GRACE.total_seconds() - DAY)
    await yard.trim()
    assert await yard.positions() == []
    assert await yard.handle(record) == "seen"


async def test_an_inbox_row_goes_once_its_event_cannot_come_again(yard: Yard) -> None:
    (record,) = await yard.work()
    await yard.later(RETENTION + GRACE.total_seconds() + DAY)
    assert (await yard.trim()).inbox[MEMORY] > 0
    assert await yard.handle(record) == "fresh"


async def test_inbox_row_stays_while_the_log_keeps_its_event(yard: Yard) -> None:
    """Another group is behind, and ours may be reset to an older offset."""
    await declare(yard.platform.database, list(TOPICS.values()), {OTHER: [PART.topic]})
    (record,) = await yard.work()
    await yard.later(RETENTION * 20)
    await yard.trim()
    assert await yard.handle(record) == "seen"


@pytest.mark.requirement("A14")
@pytest.mark.parametrize("state", ["dead", "parked"])
async def test_dead_and_parked_records_outlive_the_log(yard: Yard, state: str) -> None:
    (record,) = await yard.publish()
    parking = Parking(record, state, "why")
    await yard.platform.writer.apply(Changeset(Cause.record(MEMORY, record)), state=state, parking=parking)
    await yard.done(record.position)
    await yard.later(RETENTION * 20)
    await yard.trim()
    assert await yard.positions() == []
    assert await yard.handle(record) == "seen"
    verb = DeadLetterAction("replay" if state == "dead" else "retry", MEMORY, record.event_id)
    cause = Cause.request("gateway", id=ids.new(), tenant="t1", key=KEY)
    await yard.platform.writer.apply(Changeset(cause).act_on_dead_letters(verb))
    (due,) = await yard.platform.parked.retries(MEMORY, most=5)
    assert due.record.event_id == record.event_id


async def test_one_process_trims_at_a_time(yard: Yard) -> None:
    await yard.work(3)
    await yard.later(RETENTION + 1)
    async with yard.eye.transaction():
        await yard.eye.execute("select pg_advisory_xact_lock($1)", LOCK)
        assert not await Trimming(yard.platform.database).trim()
    assert await Trimming(yard.platform.database).trim()


async def test_trimming_is_bounded_and_not_blocked_by_readers_or_writers(yard: Yard) -> None:
    """Check that open readers and writers do not block trimming, and that no step exceeds its limit."""
    await yard.work(trimming.MOST + 10)
    await yard.later(RETENTION + 1)
    async with yard.eye.transaction():
        await yard.eye.fetch("select * from bus.log")
        await yard.eye.execute("update bus.heads set next = next")
        once = await Trimming(yard.platform.database).trim()
    assert once.log == {PART.topic: trimming.MOST}
    assert (await yard.trim()).log == {PART.topic: 10}


@pytest.mark.slow
async def test_storage_stays_bounded_under_steady_load(yard: Yard) -> None:
    sizes: list[int] = []
    for _ in range(12):
        await yard.work(200)
        await yard.later(RETENTION)
        await yard.trim()
        for table in ("bus.log", "bus.inbox"):
            await yard.eye.execute(f"vacuum {table}")
        sizes.append(
            await yard.eye.fetchval("select pg_total_relation_size('bus.log') + pg_total_relation_size('bus.inbox')")
        )
    assert max(sizes[6:]) <= max(sizes[:6]) * 1.1


async def test_a_process_trims_by_itself_and_counts_it(yard: Yard) -> None:
    await yard.work(3)
    await yard.later(RETENTION + 1)
    counted = metrics.trimmed_records.labels(PART.topic)._value.get
    before = counted()
    async with infrastructure.platform(yard.where) as platform, host(platform, [], pace=replace(PACE, trim=0.02)):
        async with asyncio.timeout(60):
            while counted() < before + 3:
                await asyncio.sleep(0.02)
    assert await yard.positions() == []


async def test_age_of_the_oldest_record_is_reported(yard: Yard) -> None:
    await yard.publish()
    await yard.later(100)
    found = {topic.topic: topic for topic in await topic_sizes(yard.platform.database, TOPICS.values())}
    assert 100 <= (found[PART.topic].age or 0) < 200
    assert found["tool.requests"].age is None
