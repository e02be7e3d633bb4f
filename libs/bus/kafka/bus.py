"""The bus on Kafka: each of our groups is a consumer group there, whose records are fetched ahead in bounded memory and
read from that. What was read otherwise, since our own relay brought it there, is passed over.

Kafka's group protocol owns partitions: heartbeats go on beside the handlers, and a member that stalled beyond its
session's time joins again. What it had in hand goes on; the inbox makes that safe.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import IllegalStateError, KafkaError
from typing_extensions import override

from libs.bus.kafka import messages
from libs.bus.kafka.broker import ASK_SECONDS, Address, KafkaDown, answering
from libs.bus.ports import Partition, Record
from libs.events.topics import TOPICS
from libs.telemetry import metrics
from libs.telemetry.logs import logger

SESSION_SECONDS = 10.0
"""A member that is not heard of for so long loses its partitions."""
SCAN_SECONDS = 1.0
JOIN_SECONDS = 5.0
LEAVE_SECONDS = 3.0
LAG_SECONDS = 5.0
COMMIT_SECONDS = 1.0
"""How often a group's offsets are committed: each time is a request, and what is read again is known by the inbox."""
FETCH_SECONDS = 0.5
"""How long the broker keeps a fetch waiting while there is nothing new: what was paused meanwhile waits as long."""
TOGETHER_MOST = 64
"""Messages that are parsed in one go: the loop is not held for longer."""
KEPT_MOST, KEPT_MOST_BYTES = 512, 2 << 20
"""Of each partition; beyond it no more is fetched until half of it is read."""
FETCH_BYTES = 1 << 20
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0

log = logger("kafka")
T = TypeVar("T")


class KafkaBus:
    """Positions are Kafka's offsets: they may have gaps, so that everything is met there, whether it was handed over
    before or not."""

    dense = False

    def __init__(
        self, address: Address, member: str, *, session: float = SESSION_SECONDS, scan: float = SCAN_SECONDS
    ) -> None:
        self._address, self._member = address, member
        self._session, self._scan = session, scan
        self._news, self._moves = asyncio.Event(), asyncio.Event()
        self._members: dict[str, Membership] = {}

    @property
    def problem(self) -> str | None:
        return next((membership.problem for membership in self._members.values() if membership.problem), None)

    async def assignments(self, groups: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[Partition, int]]:
        listening = {group: topics for group, topics in groups.items() if topics}
        for group, topics in listening.items():
            if group not in self._members:
                self._members[group] = Membership(self, group, topics)
        owned = await _all(self._members[group].owned() for group in listening)
        return dict(zip(listening, owned, strict=True))

    async def moved(self, within: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._moves.wait()
        self._moves.clear()

    async def read(self, after: Mapping[str, Mapping[Partition, int]], *, limit: int) -> Mapping[str, Sequence[Record]]:
        return {group: self._members[group].read(marks, limit) for group, marks in after.items()}

    async def advance(self, done: Mapping[str, Mapping[Partition, int]]) -> None:
        await _all(self._members[group].advance(marks) for group, marks in done.items() if group in self._members)

    async def wake(self, topics: Sequence[str]) -> None:
        """Kafka's fetches wait for news themselves."""

    async def waiting(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._scan):
                await self._news.wait()
        self._news.clear()

    async def leave(self, groups: Sequence[str]) -> None:
        leaving = [membership for group in groups if (membership := self._members.pop(group, None)) is not None]
        await _all(membership.leave() for membership in leaving)

    async def lag(self, groups: Sequence[str]) -> Mapping[tuple[str, str], int]:
        found = await _all(self._lag(group) for group in groups)
        # What was counted a moment ago does not say whether the broker is still there.
        if (member := next((m for m in self._members.values() if m.takes_part), None)) is not None:
            await member.ask()
        return {key: behind for each in found for key, behind in each.items()}

    async def _lag(self, group: str) -> dict[tuple[str, str], int]:
        member = self._members.get(group)
        if member is not None and member.takes_part:
            return await member.lag()
        # Not a group of this process, or not yet: asked from outside of it.
        asker = self.consumer(group)
        try:
            async with answering(ASK_SECONDS):
                await asker.start()
                return await self.behind(asker, group, [t.name for t in TOPICS.values() if group in t.consumers])
        finally:
            await _ended(asker)

    async def behind(
        self, consumer: AIOKafkaConsumer, group: str, topics: Collection[str]
    ) -> dict[tuple[str, str], int]:
        """What the broker has beyond the group's offsets, over all partitions, whoever owns them."""
        parts = [self.named(topic, part) for topic in topics for part in range(TOPICS[topic].partitions)]
        # The client asks for one partition's offset at a time, or here for all.
        offsets = await consumer._coordinator.fetch_committed_offsets(parts)
        ends = await consumer.end_offsets(parts)
        begun = {part: offset.offset for part, offset in offsets.items()}
        begun |= await consumer.beginning_offsets([part for part in parts if part not in begun])
        behind = {(group, topic): 0 for topic in topics}
        for part in parts:
            behind[group, self.partition(part).topic] += ends[part] - begun[part]
        return behind

    def consumer(self, group: str, **settings: Any) -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            **self._address.client(self._member),
            group_id=self._address.prefix + group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            **settings,
        )

    def subscriber(self, group: str) -> AIOKafkaConsumer:
        """A consumer that will take part in the group."""
        milliseconds = int(self._session * 1000)
        return self.consumer(
            group,
            group_instance_id=f"{self._address.instance}-{group}" if self._address.instance else None,
            partition_assignment_strategy=(_sticky(),),
            session_timeout_ms=milliseconds,
            heartbeat_interval_ms=milliseconds // 4,
            # A member lives while its heart beats: full hands are not a failure.
            max_poll_interval_ms=2**31 - 1,
            fetch_max_wait_ms=int(FETCH_SECONDS * 1000),
            max_partition_fetch_bytes=FETCH_BYTES,
            fetch_max_bytes=16 * FETCH_BYTES,
        )

    def named(self, topic: str, part: int) -> TopicPartition:
        return TopicPartition(self._address.prefix + topic, part)

    def partition(self, named: TopicPartition) -> Partition:
        return Partition(named.topic.removeprefix(self._address.prefix), named.partition)

    def has_news(self) -> None:
        self._news.set()

    def has_moved(self) -> None:
        self._moves.set()


@dataclass(slots=True)
class Ahead:
    """What has been fetched of one partition, and not been read for good. It begins right after `base`."""

    base: int | None = None
    """Unknown until it is asked for: then the last position that the group has done."""
    fetched: int = -1
    """The last position that has come, or that need not come any more."""
    done: int = -1
    records: deque[Record] = field(default_factory=deque)
    bytes: int = 0
    paused: bool = False

    def wants(self, position: int) -> bool:
        """Was it not read for good before it came?"""
        return self.base is None or position > self.base

    def keep(self, record: Record) -> None:
        self.records.append(record)
        self.bytes += len(record.data)

    def drop(self, upto: int) -> None:
        """These were read for good."""
        while self.records and self.records[0].position <= upto:
            self.bytes -= len(self.records.popleft().data)
        self.base = upto

    def clear(self, base: int) -> None:
        self.records.clear()
        self.base, self.fetched, self.bytes = base, base, 0

    def idle(self, position: int) -> bool:
        """Is there nothing after it, and nothing to change?"""
        return position == self.base and not self.records and not self.paused

    @property
    def full(self) -> bool:
        return len(self.records) >= KEPT_MOST or self.bytes >= KEPT_MOST_BYTES

    @property
    def half(self) -> bool:
        return len(self.records) < KEPT_MOST // 2 and self.bytes < KEPT_MOST_BYTES // 2


class Membership(ConsumerRebalanceListener):  # type: ignore[misc]
    """One group's consumer in this process: it is made anew whenever it fails."""

    def __init__(self, bus: KafkaBus, group: str, topics: Collection[str]) -> None:
        self._bus, self._group, self.topics = bus, group, sorted(topics)
        self._consumer: AIOKafkaConsumer | None = None
        self._ahead: dict[Partition, Ahead] = {}
        self._joined = asyncio.Event()
        self._done: dict[Partition, int] = {}
        """Done, and not committed yet."""
        self._committed_at = 0.0
        self._sharing = False
        """Are partitions being shared out? A commit would only make the client join once more."""
        self._task = asyncio.get_running_loop().create_task(self._take_part())
        self._counted: dict[tuple[str, str], int] | None = None
        self._counted_at = 0.0
        self.problem: str | None = None

    @property
    def takes_part(self) -> bool:
        """Has it a consumer just now?"""
        return self._consumer is not None

    async def owned(self) -> Mapping[Partition, int]:
        """The partitions that are ours, with the last position that the group has done; asks the broker whether it is
        there."""
        if self._task.done():
            self._task.result()
        with suppress(TimeoutError):
            async with asyncio.timeout(JOIN_SECONDS):
                await self._joined.wait()
        try:
            await self.ask()
            async with answering(ASK_SECONDS):
                marks = await self._marks()
        except KafkaDown as error:
            self.problem = f"Kafka does not answer: {error}"
            raise
        self.problem = None
        return marks

    def read(self, after: Mapping[Partition, int], limit: int) -> Sequence[Record]:
        """What has been fetched after these positions. It is kept until a later position is asked for."""
        found: list[Record] = []
        for partition, position in after.items():
            ahead = self._ahead.get(partition)
            if ahead is None or ahead.base is None or ahead.idle(position):
                continue
            if position < ahead.base:
                # Someone wants to read again what was read for good.
                if not self._fetch_after(partition, position):
                    continue
                ahead.clear(position)
            elif position > ahead.fetched and self._fetch_after(partition, position):
                # It was met when our own relay brought it.
                ahead.fetched = position
            ahead.drop(position)
            found.extend(islice(ahead.records, limit))
            if ahead.paused and ahead.half:
                self._resume(partition, ahead)
        return found

    async def advance(self, marks: Mapping[Partition, int]) -> None:
        """Commit the offsets, which name the next record; never back. Those of partitions that have gone are
        another's. Within a second after the last time it is put off."""
        self._done.update(marks)
        await self._commit_if_due()

    async def _commit_if_due(self) -> None:
        if asyncio.get_running_loop().time() - self._committed_at >= COMMIT_SECONDS:
            await self._commit()

    async def _commit(self) -> None:
        if self._sharing or not self._done:
            return
        self._committed_at = asyncio.get_running_loop().time()
        done, self._done = self._done, {}
        moved = {
            self._bus.named(*partition): (ahead, mark)
            for partition, mark in done.items()
            if (ahead := self._ahead.get(partition)) is not None and mark > ahead.done
        }
        if not moved:
            return
        try:
            async with answering(ASK_SECONDS):
                if any(ahead.base is None for ahead, _ in moved.values()):
                    raise KafkaDown("partitions are being shared out")
                await self._taking_part().commit({named: mark + 1 for named, (_, mark) in moved.items()})
        except KafkaDown:
            self._done = done | self._done
            raise
        for ahead, mark in moved.values():
            ahead.done = max(ahead.done, mark)

    async def lag(self) -> dict[tuple[str, str], int]:
        """As it was a moment ago: to count all partitions is more than a health check should cost."""
        now = asyncio.get_running_loop().time()
        if self._counted is None or now - self._counted_at > LAG_SECONDS:
            async with answering(ASK_SECONDS):
                self._counted = await self._bus.behind(self._taking_part(), self._group, self.topics)
            self._counted_at = now
        return self._counted

    async def ask(self) -> None:
        """Something small, that only a broker which is there can answer."""
        async with answering(ASK_SECONDS):
            await self._taking_part().end_offsets([self._bus.named(self.topics[0], 0)])

    async def leave(self) -> None:
        """What is done is committed first."""
        with suppress(KafkaDown):
            await self._commit()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    @override
    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """What is in hand is abandoned, or goes on; what is done is committed."""
        with suppress(KafkaDown):
            await self._commit()
        self._sharing = True

    @override
    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self._sharing = False
        self._ahead = {self._bus.partition(named): Ahead() for named in assigned}
        self._joined.set()
        self._bus.has_moved()

    async def _take_part(self) -> None:
        """Be a member until cancelled."""
        pause = FIRST_PAUSE
        while True:
            consumer = self._bus.subscriber(self._group)
            try:
                async with answering():
                    await consumer.start()
                consumer.subscribe([self._bus.named(topic, 0).topic for topic in self.topics], listener=self)
                self._consumer, pause = consumer, FIRST_PAUSE
                await self._fetch(consumer)
            except (KafkaError, KafkaDown) as error:
                self.problem = f"Kafka does not answer: {error}"
                log.warning("a consumer has failed and is made anew", group=self._group, error=str(error))
            finally:
                self._consumer = None
                await _ended(consumer)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _fetch(self, consumer: AIOKafkaConsumer) -> None:
        """Keep what comes, as long as there is room for it."""
        while True:
            fetched = await consumer.getmany(timeout_ms=1000, max_records=TOGETHER_MOST)
            for named, found in fetched.items():
                partition = self._bus.partition(named)
                if (ahead := self._ahead.get(partition)) is not None:
                    for message in found:
                        if ahead.wants(message.offset):
                            ahead.keep(_record(partition, message))
                    ahead.fetched = found[-1].offset
                    if ahead.full and not ahead.paused and named in consumer.assignment():
                        consumer.pause(named)
                        ahead.paused = True
            if fetched:
                self._bus.has_news()
                # The client does not let others run while it has something.
                await asyncio.sleep(0)
            # What was put off, in its time.
            with suppress(KafkaDown):
                await self._commit_if_due()

    async def _marks(self) -> dict[Partition, int]:
        consumer = self._taking_part()
        for partition, ahead in list(self._ahead.items()):
            if ahead.base is None:
                # One that has gone meanwhile is left out: we shall be asked again.
                with suppress(IllegalStateError):
                    position = await consumer.position(self._bus.named(*partition))
                    # What has been fetched meanwhile has moved the position on.
                    ahead.base = ahead.done = (ahead.records[0].position if ahead.records else position) - 1
                    ahead.fetched = max(ahead.fetched, ahead.base)
        return {partition: ahead.done for partition, ahead in self._ahead.items() if ahead.base is not None}

    def _taking_part(self) -> AIOKafkaConsumer:
        """The consumer that there is. Raises `KafkaDown`."""
        if self._consumer is None:
            raise KafkaDown("its consumer is being made anew")
        return self._consumer

    def _fetch_after(self, partition: Partition, position: int) -> bool:
        """Go on fetching there; False when it is not ours to fetch just now."""
        named = self._bus.named(*partition)
        if self._consumer is None or named not in self._consumer.assignment():
            return False
        self._consumer.seek(named, position + 1)
        return True

    def _resume(self, partition: Partition, ahead: Ahead) -> None:
        named = self._bus.named(*partition)
        if self._consumer is not None and named in self._consumer.assignment():
            self._consumer.resume(named)
            ahead.paused = False


def _record(partition: Partition, message: Any) -> Record:
    record = messages.read(message, *partition)
    if record.flaw is not None:
        log.warning("a message is no event of ours", topic=record.topic, offset=record.position, flaw=record.flaw)
        if not record.event_id:
            metrics.foreign.labels(record.topic).inc()
    return record


async def _all(parts: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Side by side, each to its end; then the first failure, if there is one."""
    ends = await asyncio.gather(*parts, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end
    return [end for end in ends if not isinstance(end, BaseException)]


def _sticky() -> type[StickyPartitionAssignor]:
    """An assignor of a consumer's own: the client's keeps what it remembers in its class, for all consumers alike."""
    return type("Sticky", (StickyPartitionAssignor,), {})


async def _ended(consumer: AIOKafkaConsumer) -> None:
    """Leave the group, as far as the broker answers."""
    with suppress(TimeoutError, KafkaError):
        async with asyncio.timeout(LEAVE_SECONDS):
            await consumer.stop()
