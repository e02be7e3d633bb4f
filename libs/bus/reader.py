"""The reader: follows the partitions that this process owns and hands each record to its group's consumer, in order.

A record comes from the log, or directly from our own writer when it is the very next of its partition: positions are
dense, so the handoff can tell. Anything else that is handed over is dropped and read. Where the log is carried on by
another transport, everything is read from that, and what was handed over before is known again (`handoff`); what our
own relay has carried there is read as soon as the transport says where it stands. The low-water mark of what is done
moves the group's offset, lazily: it is a hint.

A partition is shared by tenants. What one has in hand is bounded; behind that the reader reads ahead, in bounded
memory, so that whoever comes after one tenant's thousands is met at once (docs/operations/overload.md).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from libs.bus.handoff import Handoff
from libs.bus.ports import OWNED_SECONDS, Bus, Logged, Partition, Record
from libs.errors import Unavailable
from libs.fair import Line
from libs.telemetry.logs import logger

IN_HAND_MOST = 256
"""Records of one partition that may be under way at once."""
EACH_MOST = 128
"""Of these, the records of one tenant."""
AHEAD_MOST_BYTES = 32 << 20
"""What this process may have read ahead in all, beside a first portion for each partition."""
RECORD_BYTES = 1024
"""What a record costs beside its data."""
OWN_EVERY_SECONDS = 5.0
FLUSH_EVERY_SECONDS = 0.2

log = logger("reader")
Take = Callable[[Record, Callable[[], None]], None]
"""Handle a record some time, and then call back that it is done."""


@dataclass(slots=True)
class Tail:
    """Where one group stands in one partition: `after` is read, and of that `open` is not done yet."""

    after: int
    open: set[int] = field(default_factory=set)
    ahead: Line[Record] = field(default_factory=Line)
    """Here, and not under way yet."""
    ahead_bytes: int = 0
    busy: Counter[str] = field(default_factory=Counter)
    """Records under way, by tenant."""
    under_way: int = 0
    flushed: int = -1
    feeding: bool = False
    handoff: Handoff = field(default_factory=Handoff)
    """What came from the hand before it came from the bus, where that is not the log itself."""

    @property
    def mark(self) -> int:
        """All up to here is done."""
        return min(self.open) - 1 if self.open else self.after

    @property
    def in_hand(self) -> int:
        """Records that are here and not done."""
        return len(self.ahead) + self.under_way

    def keep(self, record: Record) -> None:
        """It is read: it goes behind its tenant's others, unless it came from the hand before."""
        if self._meets(record.event_id, record.position, record.logged):
            self.take(record)

    def told(self, record: Record, position: int, *, safe: int) -> None:
        """Our own relay has brought it there. Where that is the very next position it is read; else the bus will bring
        it, behind what stands before it."""
        if position == self.after + 1 and self._meets(record.event_id, position, Logged(record.position, safe)):
            self.take(replace(record, position=position))

    def _meets(self, event_id: str, position: int, logged: Logged | None) -> bool:
        """It is read. Is it still to be handled, since it did not come from the hand before?"""
        self.after = position
        owed = self.handoff.met(event_id, position, logged)
        if owed is None or not owed.done:
            self.open.add(position)
        return owed is None

    def take(self, record: Record) -> None:
        self.ahead.put(record.tenant, record)
        self.ahead_bytes += cost(record)

    def next(self) -> Record | None:
        """The next record to handle, of the tenant whose turn it is; None when there is no room, or none that may."""
        if not self.ahead or self.under_way >= IN_HAND_MOST:
            return None
        record = self.ahead.take(lambda tenant: self.busy[tenant] < EACH_MOST)
        if record is not None:
            self.ahead_bytes -= cost(record)
            self.busy[record.tenant] += 1
            self.under_way += 1
        return record

    def done(self, record: Record) -> None:
        copies = self.handoff.done(record)
        self.open.difference_update((record.position,) if copies is None else copies)
        self.under_way -= 1
        self.busy[record.tenant] -= 1
        if not self.busy[record.tenant]:
            del self.busy[record.tenant]


def cost(record: Record) -> int:
    """Bytes of memory that a record takes, more or less."""
    return len(record.data) + RECORD_BYTES


class Reader:
    """One per process, for all its groups."""

    def __init__(
        self,
        bus: Bus,
        consumers: Mapping[str, Take],
        subscribed: Mapping[str, frozenset[str]],
        *,
        own_every: float = OWN_EVERY_SECONDS,
        flush_every: float = FLUSH_EVERY_SECONDS,
    ) -> None:
        self._bus = bus
        self._own_every, self._flush_every = own_every, flush_every
        self._taking = True
        self._consumers, self._subscribed = consumers, subscribed
        self._listeners = {
            topic: [group for group, topics in subscribed.items() if topic in topics]
            for topic in frozenset().union(*subscribed.values())
        }
        self._tails: dict[tuple[str, Partition], Tail] = {}
        self._hint = asyncio.Event()
        self._elsewhere: set[str] = set()
        self._speak = asyncio.Event()
        self._owned_at = 0.0
        self.ready = asyncio.Event()

    def hand(self, records: Sequence[Record]) -> Collection[str]:
        """Our writer has published these. The very next ones go straight to their consumers; the ids of those that all
        our listeners have, though the bus will bring them too."""
        if not self._taking:
            return ()
        if not self._bus.dense:
            return {record.event_id for record in records if self._offer(record)}
        for record in records:
            listeners = self._listeners.get(record.topic, ())
            if not listeners:
                self._tell(record.topic)
            for group in listeners:
                tail = self._tails.get((group, Partition(record.topic, record.part)))
                if tail is None:
                    self._tell(record.topic)
                elif tail.after == record.position - 1 and self._room(tail):
                    self._keep(group, tail, record)
                else:
                    self._hint.set()
        return ()

    def _offer(self, record: Record) -> bool:
        """Have all that listen taken it from the hand?"""
        everyone = True
        for group in self._listeners.get(record.topic, ()):
            tail = self._tails.get((group, Partition(record.topic, record.part)))
            if tail is not None:
                tail.handoff.offer(record)
                self._hand_over(group, tail)
            everyone = everyone and tail is not None and tail.handoff.has(record.position)
        return everyone

    def carried(self, records: Sequence[Record], *, first: int, safe: int) -> None:
        """Our relay has brought these of one partition to the bus, where they stand one after the other from `first`
        on; all of the log up to `safe` stands there before them. Who has read all that stands there before them need
        not fetch them."""
        partition = Partition(records[0].topic, records[0].part)
        for group in self._listeners.get(partition.topic, ()):
            tail = self._tails.get((group, partition))
            if tail is None or tail.after != first - 1:
                continue
            for position, record in enumerate(records, first):
                if self._room(tail):
                    tail.told(record, position, safe=safe)
                    self._feed(group, tail)
                    self._hand_over(group, tail)
            # The next read says so to the bus, which has perhaps not fetched them yet.
            self._hint.set()

    async def follow(self) -> None:
        """Read for ever what was not handed over."""
        while True:
            await self._hint.wait()
            self._hint.clear()
            try:
                await self.catch_up()
            except Unavailable:
                log.warning("cannot read the log")

    async def catch_up(self) -> None:
        """Read on as far as there is something to read, and room for it."""
        while await self._read():
            pass

    async def listen(self) -> None:
        """Look when another process hints, and every second in any case: a hint may be lost."""
        while True:
            try:
                await self._bus.waiting()
            except Unavailable:
                log.warning("cannot listen")
                await asyncio.sleep(1.0)
            self._hint.set()

    async def own(self) -> None:
        """Keep a fair share of the partitions; without an answer for 15 s, stop handling what may be another's."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                self._assign(await self._bus.assignments(self._subscribed))
                self._owned_at = loop.time()
                self.ready.set()
            except Unavailable:
                log.warning("cannot renew partitions")
                if loop.time() - self._owned_at > OWNED_SECONDS:
                    self._tails.clear()
            await self._bus.moved(self._own_every)

    async def flush(self) -> None:
        """Write the low-water marks now."""
        moved: dict[str, dict[Partition, int]] = {}
        for (group, partition), tail in self._tails.items():
            if tail.mark > tail.flushed:
                moved.setdefault(group, {})[partition] = tail.mark
        if moved:
            await self._bus.advance(moved)
            for group, marks in moved.items():
                for partition, mark in marks.items():
                    if (flushed := self._tails.get((group, partition))) is not None:
                        flushed.flushed = mark

    async def flush_often(self, point: Callable[[str], None]) -> None:
        while True:
            await asyncio.sleep(self._flush_every)
            try:
                point("reader:flush:before")
                await self.flush()
                point("reader:flush:after")
            except Unavailable:
                log.warning("cannot write offsets")

    async def wake_others(self, point: Callable[[str], None]) -> None:
        """Pass the hint on to other processes, gathered, after the commit and outside it."""
        while True:
            await self._speak.wait()
            self._speak.clear()
            topics, self._elsewhere = sorted(self._elsewhere), set()
            try:
                point("reader:wake:before")
                await self._bus.wake(topics)
                point("reader:wake:after")
            except Unavailable:
                log.warning("cannot wake others")

    def holds(self, group: str, partition: Partition) -> bool:
        """Is this partition the group's here, as far as we know?"""
        return (group, partition) in self._tails

    def mark(self, group: str, partition: Partition) -> int:
        """All up to here is done, of a partition that it holds."""
        return self._tails[group, partition].mark

    def rest(self) -> None:
        """Take nothing more; what is in hand goes on."""
        self._taking = False

    async def leave(self) -> None:
        """Give the partitions back, once what is in hand is done."""
        await self.flush()
        self._tails.clear()
        await self._bus.leave(list(self._consumers))

    def _tell(self, topic: str) -> None:
        self._elsewhere.add(topic)
        self._speak.set()

    def _assign(self, assignments: Mapping[str, Mapping[Partition, int]]) -> None:
        owned = {
            (group, partition): position
            for group, assignment in assignments.items()
            for partition, position in assignment.items()
        }
        for gone in self._tails.keys() - owned.keys():
            del self._tails[gone]
        for new in owned.keys() - self._tails.keys():
            self._tails[new] = Tail(after=owned[new], flushed=owned[new])
            self._hint.set()

    async def _read(self) -> bool:
        """Read once for every tail with room; whether there may be more: some partition gave all that it might."""
        open_tails = {key: tail for key, tail in self._tails.items() if self._room(tail)}
        after: dict[str, dict[Partition, int]] = {}
        for (group, partition), tail in open_tails.items():
            after.setdefault(group, {})[partition] = tail.after
        if not after:
            return False
        moved = more = False
        for group, records in (await self._bus.read(after, limit=IN_HAND_MOST)).items():
            more = more or len(records) >= IN_HAND_MOST
            for record in records:
                key = (group, Partition(record.topic, record.part))
                # Only a tail that the read began from: one that was full, or came to us since, may stand further back.
                current = open_tails.get(key)
                if current is None or current is not self._tails.get(key) or not self._room(current):
                    continue
                if record.position > current.after:
                    self._keep(group, current, record)
                    moved = True
        return moved and more

    def _room(self, tail: Tail) -> bool:
        """May it read on? A first portion always; further ahead as far as the process's memory for it reaches."""
        return tail.in_hand < IN_HAND_MOST or self.ahead_bytes < AHEAD_MOST_BYTES

    @property
    def ahead_bytes(self) -> int:
        """What has been read ahead in this process, more or less."""
        return sum(tail.ahead_bytes for tail in self._tails.values())

    def _keep(self, group: str, tail: Tail, record: Record) -> None:
        tail.keep(record)
        self._feed(group, tail)
        if not self._bus.dense:
            self._hand_over(group, tail)

    def _hand_over(self, group: str, tail: Tail) -> None:
        """Take from the hand what comes next in the log."""
        while self._room(tail) and (record := tail.handoff.next()) is not None:
            tail.take(record)
            self._feed(group, tail)

    def _feed(self, group: str, tail: Tail) -> None:
        """Hand on what may be under way now. What is done at once, while it is handed on, makes room for this loop."""
        if tail.feeding:
            return
        tail.feeding = True
        try:
            while self._taking and (record := tail.next()) is not None:
                self._consumers[group](record, lambda record=record: self._done(group, tail, record))  # type: ignore[misc]
        finally:
            tail.feeding = False

    def _done(self, group: str, tail: Tail, record: Record) -> None:
        had_room = self._room(tail)
        tail.done(record)
        if self._tails.get((group, Partition(record.topic, record.part))) is tail:
            self._feed(group, tail)
        if not had_room:
            self._hint.set()
