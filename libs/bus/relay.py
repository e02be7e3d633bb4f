"""The relay: where another transport carries the events, it takes them there from the log, right after they were
committed.

It is a consumer group of the log like any other: partitions are owned and taken over, records come by handoff or by a
wake-up, and the offset moves once the transport has them for good. So a crash, or a relay that wakes as a zombie, only
repeats, and whoever sends a record has seen every earlier one of its key sent. Partitions go side by side; in one,
nothing is sent before what came before it is safe.

What has been handed over in this process to all who consume it is waited for by nobody: it goes with others, a moment
later. A send of a few records costs as much as one of many, and so does each fetch that it leads to. Where the records
then stand is told to the reader beside it, which need not fetch them.
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
"""Its name as a consumer group of the log."""
TOGETHER_MOST = 128
"""Records of one partition that are sent at once."""
LINGER_SECONDS = 0.5
"""How long something that nobody waits for may wait for others."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
PATIENCE_SECONDS = 3.0
"""How long a batch may be on its way before `/readyz` says so."""

log = logger("relay")
Taken = tuple[Record, Callable[[], None]]


def readers(topic: Topic) -> Collection[str]:
    """Who reads the log itself where there is a relay: it alone."""
    return (RELAY,)


async def lag(bus: Bus, route: Route | None, groups: Sequence[str]) -> Mapping[tuple[str, str], int]:
    """How many records each of these groups, and the relay where there is one, has yet to do of each topic."""
    behind = dict(await bus.lag(groups))
    return behind if route is None else behind | dict(await route.log.lag([RELAY]))


class Outlet(Protocol):
    """Where the relay carries events to."""

    async def declare(self, topics: Sequence[Topic]) -> None:
        """Make the topics that are missing; safe to repeat.

        Raises:
            Rejected: one is there and is not as declared.
            Unavailable: the transport does not answer.
        """
        ...

    async def send(self, records: Sequence[Record], *, safe: int) -> int | None:
        """Carry records of one partition there, in this order; returns once they are safe. All that stands in the log
        up to position `safe` is there already: who reads them is told.

        Where they stand there: the position of the first, when the others follow it one after the other; None when the
        transport does not say so.

        Raises:
            Unavailable: some or all may not be there; they are to be sent again.
        """
        ...

    async def close(self) -> None:
        """Nothing more will be sent."""
        ...


class Carried(Protocol):
    """Told of records of one partition that are there now, one after the other from `first` on."""

    def __call__(self, records: Sequence[Record], *, first: int, safe: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Route:
    """From where to where the relay carries."""

    log: Bus
    outlet: Outlet


@dataclass(slots=True)
class Line:
    """What waits to be sent to one partition, in order; a task sends it while there is something."""

    waiting: deque[Taken] = field(default_factory=deque)
    pressing: bool = False
    """Is it time to send what waits? Otherwise it lingers."""
    since: float | None = None
    """When what is first has been tried first."""
    task: asyncio.Task[None] | None = None


class Relay:
    """One member of the group, in each process."""

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
        self._ours = {topic.name for topic in TOPICS.values() if set(topic.consumers) <= set(groups)}
        """Topics all of whose consumers are groups of this process."""
        self._patient: frozenset[str] = frozenset()
        self._lingering: asyncio.TimerHandle | None = None
        self._lines: defaultdict[Partition, Line] = defaultdict(Line)
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

    def hand(self, records: Sequence[Record], taken: Collection[str]) -> None:
        """Our writer has published these; the events in `taken` are under way in this process."""
        self._patient = frozenset(r.event_id for r in records if r.event_id in taken and r.topic in self._ours)
        self.reader.hand(records)
        self._patient = frozenset()

    def parts(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """What runs until the relay is to end."""
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
        """Why events stay in the log."""
        now = asyncio.get_running_loop().time()
        late = [now - line.since for line in self._lines.values() if line.since is not None]
        if late and max(late) > PATIENCE_SECONDS:
            return f"events have not been carried on for {max(late):.0f} s: {self._error or 'no acknowledgement'}"
        return None

    async def finish(self) -> None:
        """Send what is committed and ours, and give the partitions back. To be bounded by who calls."""
        await self.reader.catch_up()
        self._go()
        await self._idle.wait()
        self.reader.rest()
        await self.reader.leave()

    async def close(self) -> None:
        """Stop at once; what is not sent will be, by whoever takes over."""
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
            self._press(partition, line)
        elif line.task is None:
            self._linger()

    def _go(self) -> None:
        """Send all that waits, of all partitions together."""
        self._settle()
        for partition, line in self._lines.items():
            if line.waiting:
                self._press(partition, line)

    def _linger(self) -> None:
        if self._lingering is None:
            self._lingering = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._go)

    def _settle(self) -> None:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None

    def _press(self, partition: Partition, line: Line) -> None:
        line.pressing = True
        if line.task is None:
            line.task = asyncio.get_running_loop().create_task(self._drain(partition, line))
            line.task.add_done_callback(self._ended)

    async def _drain(self, partition: Partition, line: Line) -> None:
        """Send until nothing presses; what came meanwhile, and may linger, does. What could not be sent stays first."""
        pause = FIRST_PAUSE
        while line.waiting and line.pressing and self.reader.holds(RELAY, partition):
            batch = list(islice(line.waiting, TOGETHER_MOST))
            line.pressing = len(line.waiting) > len(batch)
            line.since = line.since or asyncio.get_running_loop().time()
            try:
                self._point("relay:send:before")
                safe = self.reader.mark(RELAY, partition)
                records = [record for record, _ in batch]
                first = await self._outlet.send(records, safe=safe)
                self._point("relay:send:after")
            except Unavailable as error:
                self._error, line.pressing = str(error), True
                log.warning("events could not be carried on", topic=partition.topic, error=str(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                pause = FIRST_PAUSE
                if first is not None:
                    self._carried(records, first=first, safe=safe)
                self._sent(line, len(batch))
        line.pressing, line.since, line.task = False, None, None
        if not self.reader.holds(RELAY, partition):
            # Another member's now: it begins where our offset stands, and what we still have would only be repeated.
            line.waiting.clear()
        elif line.waiting:
            self._linger()
        if all(other.task is None and not other.waiting for other in self._lines.values()):
            self._idle.set()

    async def _sending(self) -> None:
        """Sending goes on in tasks of its own; this tells of the crash of one."""
        await self._crashed

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None and not self._crashed.done():
            self._crashed.set_exception(error)

    def _sent(self, line: Line, count: int) -> None:
        self._error, line.since = None, None
        metrics.relayed.labels(line.waiting[0][0].topic).inc(count)
        for _ in range(count):
            line.waiting.popleft()[1]()
