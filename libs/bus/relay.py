"""The relay: sends events from the log to another transport right after their commit.

It is an ordinary consumer group of the log: partitions are owned and taken over, records arrive by local delivery or by
a notification, and the offset moves once the transport has stored them. A crash, or a relay that resumes as a zombie,
therefore only repeats; a sender has always sent every earlier record of a key. Partitions are sent side by side; within
one, each batch waits until the previous one is stored.

A record that all its consumers in this process have taken locally is not urgent: it is sent with others shortly after,
because a send of a few records costs as much as one of many, as does each fetch that follows. The reader in this
process learns the resulting offsets and need not fetch those records.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from libs.bus.ports import Bus, Partition, Record
from libs.bus.reader import FLUSH_EVERY_SECONDS, OWN_EVERY_SECONDS, Reader
from libs.errors import Unavailable
from libs.events.topics import TOPICS, Topic
from libs.telemetry import metrics
from libs.telemetry.logs import logger

RELAY = "relay"
"""The relay's consumer group on the log."""
TOGETHER_MOST = 128
"""Most records of one partition in one send."""
LINGER_SECONDS = 0.5
"""Seconds that a record without a waiting consumer may be delayed."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
PATIENCE_SECONDS = 3.0
"""Seconds after which a pending send is reported in `/readyz`."""

log = logger("relay")
Taken = tuple[Record, Callable[[], None]]


def readers(topic: Topic) -> Collection[str]:
    """Return the groups that read the log where there is a relay: the relay, and who projects the topic."""
    return (RELAY, *topic.consumers) if topic.projected else (RELAY,)


async def lag(bus: Bus, route: Route | None, groups: Sequence[str]) -> Mapping[tuple[str, str], int]:
    """Return the records not yet done by (group, topic), including the relay's."""
    behind = dict(await bus.lag(groups))
    # Beside the relay the log knows the projections of these groups.
    return behind if route is None else dict(await route.log.lag([RELAY, *groups])) | behind


class Outlet(Protocol):
    """The transport that the relay sends to."""

    async def declare(self, topics: Sequence[Topic]) -> None:
        """Create the missing topics; safe to repeat.

        Raises:
            Rejected: a topic exists with another declaration.
            Unavailable: the transport does not answer.
        """
        ...

    async def send(self, records: Sequence[Record], *, safe: int) -> int | None:
        """Send records of one partition in this order; return once they are stored. Every record of the log up to
        position `safe` is there already, which readers learn from the message.

        Returns the offset of the first record when the others follow it directly; None when the transport does not
        tell.

        Raises:
            Unavailable: some or all may be missing; send them again.
        """
        ...

    async def close(self) -> None:
        """Close the connection; nothing more is sent."""
        ...


class Carried(Protocol):
    """Called with records of one partition that are stored at consecutive offsets from `first`."""

    def __call__(self, records: Sequence[Record], *, first: int, safe: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Route:
    """The log that the relay reads and the outlet that it sends to."""

    log: Bus
    outlet: Outlet


@dataclass(slots=True)
class SendQueue:
    """Records waiting for one partition, in order; a task sends them while there are any."""

    waiting: deque[Taken] = field(default_factory=deque)
    pressing: bool = False
    """Whether to send now rather than wait for more."""
    since: float | None = None
    """When the first waiting record was first tried."""
    task: asyncio.Task[None] | None = None


class Relay:
    """One member of the relay's group; each process has one."""

    def __init__(
        self,
        route: Route,
        point: Callable[[str], None],
        *,
        groups: Collection[str],
        carried: Carried,
        own_every: float = OWN_EVERY_SECONDS,
        flush_every: float = FLUSH_EVERY_SECONDS,
    ) -> None:
        self._outlet, self._point, self._carried = route.outlet, point, carried
        self._ours = {topic.name for topic in TOPICS.values() if topic.projected or set(topic.consumers) <= set(groups)}
        """Topics whose consumers are all in this process, or read the log."""
        self._patient: frozenset[str] = frozenset()
        self._lingering: asyncio.TimerHandle | None = None
        self._lines: defaultdict[Partition, SendQueue] = defaultdict(SendQueue)
        self._error: str | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._crashed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.reader = Reader(
            route.log,
            {RELAY: self._take},
            {RELAY: frozenset(TOPICS)},
            own_every=own_every,
            flush_every=flush_every,
        )

    def enqueue(self, records: Sequence[Record], taken: Collection[str]) -> None:
        """Enqueue records of this process's writer; the events in `taken` already run in this process."""
        # `offer_local` calls `_take` before it returns; a record that is taken later counts as urgent.
        self._patient = frozenset(r.event_id for r in records if r.event_id in taken and r.topic in self._ours)
        self.reader.offer_local(records)
        self._patient = frozenset()

    def parts(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return the tasks that run until the relay ends."""
        reader, point = self.reader, self._point
        return {
            "relay:send": self._sending,
            "relay:own": reader.own,
            "relay:follow": reader.follow,
            "relay:listen": reader.listen,
            "relay:flush": lambda: reader.flush_often(point),
            "relay:wake": lambda: reader.wake_others(point),
        }

    @property
    def problem(self) -> str | None:
        """Why events remain in the log; None while they are sent."""
        now = asyncio.get_running_loop().time()
        late = [now - line.since for line in self._lines.values() if line.since is not None]
        if late and max(late) > PATIENCE_SECONDS:
            return f"events have not been carried on for {max(late):.0f} s: {self._error or 'no acknowledgement'}"
        return None

    async def finish(self) -> None:
        """Send this member's committed records, then release the partitions. The caller limits the time."""
        # The last commits may be in the log only: a local record is dropped while its cursor has no room.
        await self.reader.catch_up()
        self._send_all()
        await self._idle.wait()
        self.reader.stop_taking()
        await self.reader.leave()

    async def close(self) -> None:
        """Stop at once; the next owner sends what remains."""
        self._settle()
        tasks = [line.task for line in self._lines.values() if line.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._outlet.close()

    def _take(self, record: Record, done: Callable[[], None]) -> None:
        partition = Partition(record.topic, record.part)
        line = self._lines[partition]
        line.waiting.append((record, done))
        self._idle.clear()
        if record.event_id not in self._patient or len(line.waiting) >= TOGETHER_MOST:
            self._start_sending(partition, line)
        elif line.task is None:
            self._linger()

    def _send_all(self) -> None:
        """Send everything that waits, all partitions side by side."""
        self._settle()
        for partition, line in self._lines.items():
            if line.waiting:
                self._start_sending(partition, line)

    def _linger(self) -> None:
        if self._lingering is None:
            self._lingering = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._send_all)

    def _settle(self) -> None:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None

    def _start_sending(self, partition: Partition, line: SendQueue) -> None:
        line.pressing = True
        if line.task is None:
            line.task = asyncio.get_running_loop().create_task(self._drain(partition, line))
            line.task.add_done_callback(self._ended)

    async def _drain(self, partition: Partition, line: SendQueue) -> None:
        """Send while something is urgent. Records that may wait do so; a failed batch stays first."""
        pause = FIRST_PAUSE
        while line.waiting and line.pressing and self.reader.holds(RELAY, partition):
            batch = list(islice(line.waiting, TOGETHER_MOST))
            line.pressing = len(line.waiting) > len(batch)
            line.since = line.since or asyncio.get_running_loop().time()
            try:
                self._point("relay:send:before")
                # Read before the send: every record up to here is stored in the transport already.
                safe = self.reader.low_watermark(RELAY, partition)
                records = [record for record, _ in batch]
                first = await self._outlet.send(records, safe=safe)
                self._point("relay:send:after")
            except Unavailable as error:
                self._error, line.pressing = str(error), True
                log.warning("could not relay events", topic=partition.topic, error=str(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                pause = FIRST_PAUSE
                if first is not None:
                    self._carried(records, first=first, safe=safe)
                self._sent(line, len(batch))
        line.pressing, line.since, line.task = False, None, None
        if not self.reader.holds(RELAY, partition):
            # Another member owns it now and starts at the stored offset; what is left here would only be repeated.
            line.waiting.clear()
        elif line.waiting:
            self._linger()
        if all(other.task is None and not other.waiting for other in self._lines.values()):
            self._idle.set()

    async def _sending(self) -> None:
        """Surface a crash of one of the sending tasks."""
        await self._crashed

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None and not self._crashed.done():
            self._crashed.set_exception(error)

    def _sent(self, line: SendQueue, count: int) -> None:
        self._error, line.since = None, None
        metrics.relayed.labels(line.waiting[0][0].topic).inc(count)
        # Done only now: an offset may pass a record once the transport has stored it.
        for _ in range(count):
            line.waiting.popleft()[1]()
