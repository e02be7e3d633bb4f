"""The bus on Kafka: each of our groups is a consumer group; records are fetched ahead in bounded memory. Records that
this process's relay has sent were read already and are skipped.

Kafka's group protocol owns partitions: heartbeats run beside the handlers, and a member that stalled beyond its session
timeout rejoins. Its running records go on; the inbox makes that safe.
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
from libs.bus.kafka.broker import ASK_SECONDS, Address, KafkaDown, alive, answering, permitted
from libs.bus.ports import Partition, Record
from libs.events.topics import TOPICS
from libs.telemetry import metrics
from libs.telemetry.logs import logger

SESSION_SECONDS = 10.0
"""Seconds without a heartbeat after which a member loses its partitions."""
SCAN_SECONDS = 1.0
JOIN_SECONDS = 5.0
LEAVE_SECONDS = 3.0
LAG_SECONDS = 5.0
COMMIT_SECONDS = 1.0
"""Seconds between commits of a group's offsets: each is a request, and the inbox recognises what is read again."""
FETCH_SECONDS = 0.5
"""Milliseconds that the broker holds a fetch without news; a paused partition waits as long."""
TOGETHER_MOST = 64
"""Most messages parsed without yielding to the event loop."""
KEPT_MOST, KEPT_MOST_BYTES = 512, 2 << 20
"""Most records fetched per partition; fetching resumes when half of them are read."""
FETCH_BYTES = 1 << 20
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0

log = logger("kafka")
T = TypeVar("T")


class KafkaBus:
    """Positions are Kafka's offsets and may have gaps, so every record is observed there, even if it was delivered
    locally.
    """

    dense = False

    def __init__(
        self, address: Address, member: str, *, session: float = SESSION_SECONDS, scan: float = SCAN_SECONDS
    ) -> None:
        self.address, self._member = address, member
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
        return {group: self._members[group].read(offsets, limit) for group, offsets in after.items()}

    async def advance(self, done: Mapping[str, Mapping[Partition, int]]) -> None:
        await _all(self._members[group].advance(offsets) for group, offsets in done.items() if group in self._members)

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
        # A cached count does not show whether the broker is still there.
        if (member := next((m for m in self._members.values() if m.takes_part), None)) is not None:
            await member.ask()
        elif not any(found):
            # These groups read the log alone, but what they publish is carried by Kafka.
            await alive(self.address)
        return {key: behind for each in found for key, behind in each.items()}

    async def _lag(self, group: str) -> dict[tuple[str, str], int]:
        member = self._members.get(group)
        if member is not None and member.takes_part:
            return await member.lag()
        # The group is not in this process, or not yet: ask from outside of it.
        topics = [t.name for t in TOPICS.values() if group in t.consumers and not t.projected]
        if not topics:
            return {}
        asker = self.consumer(group)
        try:
            async with answering(ASK_SECONDS):
                await asker.start()
                return await self.behind(asker, group, topics)
        finally:
            await _ended(asker)

    async def behind(
        self, consumer: AIOKafkaConsumer, group: str, topics: Collection[str]
    ) -> dict[tuple[str, str], int]:
        """Return how many records the broker has beyond the group's offsets, over all partitions and owners."""
        parts = [self.named(topic, part) for topic in topics for part in range(TOPICS[topic].partitions)]
        # The client asks for one partition's offset at a time; here for all at once.
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
            **self.address.client(self._member),
            group_id=self.address.prefix + group,
            # Offsets follow what is done, not what was fetched.
            enable_auto_commit=False,
            # Without an offset everything is read: the inbox refuses repeats, and nothing replaces a lost event.
            auto_offset_reset="earliest",
            **settings,
        )

    def subscriber(self, group: str) -> AIOKafkaConsumer:
        """Create a consumer that joins the group."""
        milliseconds = int(self._session * 1000)
        return self.consumer(
            group,
            group_instance_id=f"{self.address.instance}-{group}" if self.address.instance else None,
            partition_assignment_strategy=(_sticky(),),
            session_timeout_ms=milliseconds,
            heartbeat_interval_ms=milliseconds // 4,
            # A member lives by its heartbeats: a full buffer is not a failure.
            max_poll_interval_ms=2**31 - 1,
            fetch_max_wait_ms=int(FETCH_SECONDS * 1000),
            max_partition_fetch_bytes=FETCH_BYTES,
            fetch_max_bytes=16 * FETCH_BYTES,
        )

    def named(self, topic: str, part: int) -> TopicPartition:
        return TopicPartition(self.address.prefix + topic, part)

    def partition(self, named: TopicPartition) -> Partition:
        return Partition(named.topic.removeprefix(self.address.prefix), named.partition)

    def has_news(self) -> None:
        self._news.set()

    def has_moved(self) -> None:
        self._moves.set()


@dataclass(slots=True)
class Ahead:
    """The fetched records of one partition that are not finally read. It begins right after `base`."""

    base: int | None = None
    """None until the group's last done position is requested."""
    fetched: int = -1
    """The last position that has arrived, or need not arrive any more."""
    done: int = -1
    records: deque[Record] = field(default_factory=deque)
    bytes: int = 0
    paused: bool = False

    def wants(self, position: int) -> bool:
        """Return whether the position was not finally read before it arrived."""
        return self.base is None or position > self.base

    def keep(self, record: Record) -> None:
        self.records.append(record)
        self.bytes += len(record.data)

    def drop(self, upto: int) -> None:
        """Drop what was finally read."""
        while self.records and self.records[0].position <= upto:
            self.bytes -= len(self.records.popleft().data)
        self.base = upto

    def clear(self, base: int) -> None:
        self.records.clear()
        self.base, self.fetched, self.bytes = base, base, 0

    def idle(self, position: int) -> bool:
        """Return whether nothing follows and nothing needs to change."""
        return position == self.base and not self.records and not self.paused

    @property
    def full(self) -> bool:
        return len(self.records) >= KEPT_MOST or self.bytes >= KEPT_MOST_BYTES

    @property
    def half(self) -> bool:
        return len(self.records) < KEPT_MOST // 2 and self.bytes < KEPT_MOST_BYTES // 2


class Membership(ConsumerRebalanceListener):  # type: ignore[misc]
    """One group's consumer in this process; it is recreated whenever it fails."""

    def __init__(self, bus: KafkaBus, group: str, topics: Collection[str]) -> None:
        self._bus, self._group, self.topics = bus, group, sorted(topics)
        for topic in self.topics:
            # Prometheus sees no increase in a counter that first appears at 1, so create it at 0.
            metrics.foreign.labels(topic)
        self._consumer: AIOKafkaConsumer | None = None
        self._ahead: dict[Partition, Ahead] = {}
        self._joined = asyncio.Event()
        self._done: dict[Partition, int] = {}
        """Done positions that are not committed yet."""
        self._committed_at = 0.0
        self._sharing = False
        """Whether a rebalance is running; a commit would make the client join once more."""
        self._task = asyncio.get_running_loop().create_task(self._take_part())
        self._counted: dict[tuple[str, str], int] | None = None
        self._counted_at = 0.0
        self.problem: str | None = None

    @property
    def takes_part(self) -> bool:
        """Return whether there is a consumer now."""
        return self._consumer is not None

    async def owned(self) -> Mapping[Partition, int]:
        """Return this member's partitions with the last position that the group has done, after asking the broker."""
        # An unexpected error of the consumer's task must surface here; the partitions would only look quiet.
        if self._task.done():
            self._task.result()
        with suppress(TimeoutError):
            async with asyncio.timeout(JOIN_SECONDS):
                await self._joined.wait()
        try:
            await self.ask()
            async with answering(ASK_SECONDS):
                offsets = await self._offsets()
        except KafkaDown as error:
            self.problem = f"Kafka does not answer: {error}"
            raise
        self.problem = None
        return offsets

    def read(self, after: Mapping[Partition, int], limit: int) -> Sequence[Record]:
        """Return what was fetched after these positions; it is kept until a later position is requested."""
        found: list[Record] = []
        for partition, position in after.items():
            ahead = self._ahead.get(partition)
            if ahead is None or ahead.base is None or ahead.idle(position):
                continue
            if position < ahead.base:
                # The caller reads again what was finally read.
                if not self._fetch_after(partition, position):
                    continue
                ahead.clear(position)
            elif position > ahead.fetched and self._fetch_after(partition, position):
                # It was observed when this process's relay sent it.
                ahead.fetched = position
            ahead.drop(position)
            found.extend(islice(ahead.records, limit))
            if ahead.paused and ahead.half:
                self._resume(partition, ahead)
        return found

    async def advance(self, offsets: Mapping[Partition, int]) -> None:
        """Commit the offsets, which name the next record; never backwards. Offsets of revoked partitions belong to
        others. Postponed within a second of the last commit.
        """
        self._done.update(offsets)
        await self._commit_if_due()

    async def _commit_if_due(self) -> None:
        if asyncio.get_running_loop().time() - self._committed_at >= COMMIT_SECONDS:
            await self._commit()

    async def _commit(self) -> None:
        if self._sharing or not self._done:
            return
        self._committed_at = asyncio.get_running_loop().time()
        # Swap first: positions that are done during the request belong to the next commit.
        done, self._done = self._done, {}
        moved = {
            self._bus.named(*partition): (ahead, offset)
            for partition, offset in done.items()
            if (ahead := self._ahead.get(partition)) is not None and offset > ahead.done
        }
        if not moved:
            return
        try:
            async with answering(ASK_SECONDS):
                if any(ahead.base is None for ahead, _ in moved.values()):
                    raise KafkaDown("partitions are being shared out")
                await self._taking_part().commit({named: offset + 1 for named, (_, offset) in moved.items()})
        except KafkaDown:
            # Newer positions win over those that could not be committed.
            self._done = done | self._done
            raise
        for ahead, offset in moved.values():
            ahead.done = max(ahead.done, offset)

    async def lag(self) -> dict[tuple[str, str], int]:
        """Return the group's lag, cached briefly: counting all partitions costs more than a health check should."""
        now = asyncio.get_running_loop().time()
        if self._counted is None or now - self._counted_at > LAG_SECONDS:
            async with answering(ASK_SECONDS):
                self._counted = await self._bus.behind(self._taking_part(), self._group, self.topics)
            self._counted_at = now
        return self._counted

    async def ask(self) -> None:
        """Make a cheap request that only a live broker can answer."""
        async with answering(ASK_SECONDS):
            await self._taking_part().end_offsets([self._bus.named(self.topics[0], 0)])

    async def leave(self) -> None:
        """Commit done positions before partitions are revoked."""
        with suppress(KafkaDown):
            await self._commit()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    @override
    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Commit done positions; running records go on or are abandoned."""
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
        """Stay a member until cancelled."""
        pause = FIRST_PAUSE
        while True:
            consumer = self._bus.subscriber(self._group)
            try:
                async with answering():
                    await consumer.start()
                consumer.subscribe([self._bus.named(topic, 0).topic for topic in self.topics], listener=self)
                self._consumer, pause = consumer, FIRST_PAUSE
                with permitted(self._bus.address):
                    await self._fetch(consumer)
            except (KafkaError, KafkaDown) as error:
                self.problem = f"Kafka does not answer: {error}"
                log.warning("replaced failed consumer", group=self._group, error=str(error))
            finally:
                self._consumer = None
                await _ended(consumer)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _fetch(self, consumer: AIOKafkaConsumer) -> None:
        """Keep fetching while there is room."""
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
                # The client does not yield while it has something.
                await asyncio.sleep(0)
            # Commit what was postponed when its time comes.
            with suppress(KafkaDown):
                await self._commit_if_due()

    async def _offsets(self) -> dict[Partition, int]:
        consumer = self._taking_part()
        for partition, ahead in list(self._ahead.items()):
            if ahead.base is None:
                # Skip a partition that was revoked meanwhile; the position will be requested again.
                with suppress(IllegalStateError):
                    position = await consumer.position(self._bus.named(*partition))
                    # Fetches since then have moved the position on.
                    ahead.base = ahead.done = (ahead.records[0].position if ahead.records else position) - 1
                    ahead.fetched = max(ahead.fetched, ahead.base)
        return {partition: ahead.done for partition, ahead in self._ahead.items() if ahead.base is not None}

    def _taking_part(self) -> AIOKafkaConsumer:
        """Return the present consumer. Raises `KafkaDown`."""
        if self._consumer is None:
            raise KafkaDown("its consumer is being recreated")
        return self._consumer

    def _fetch_after(self, partition: Partition, position: int) -> bool:
        """Resume fetching there; return False when the partition is not ours to fetch now."""
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
        log.warning("skipped foreign message", topic=record.topic, offset=record.position, flaw=record.flaw)
        if not record.event_id:
            metrics.foreign.labels(record.topic).inc()
    return record


async def _all(parts: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run side by side, each to its end; then raise the first failure, if any."""
    ends = await asyncio.gather(*parts, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end
    return [end for end in ends if not isinstance(end, BaseException)]


def _sticky() -> type[StickyPartitionAssignor]:
    """Create an assignor for one consumer: the client's own keeps its state in its class, shared by all consumers."""
    return type("Sticky", (StickyPartitionAssignor,), {})


async def _ended(consumer: AIOKafkaConsumer) -> None:
    """Leave the group, if the broker answers."""
    with suppress(TimeoutError, KafkaError):
        async with asyncio.timeout(LEAVE_SECONDS):
            await consumer.stop()
