"""The reader: follows the partitions that this process owns and passes each record to its group's consumer, in order.

On a dense bus a record comes from the log, or directly from this process's writer when its position is the next one.
Any other local record is dropped and read from the log. On Kafka everything is read from Kafka, and records that were
delivered locally are recognised (`local_delivery`); records that this process's relay has sent are taken as soon as
their offset is known. The low watermark of finished records moves the group's offset lazily: it is a hint.

Tenants share a partition. The reader bounds how many records of one tenant run at once and reads ahead in bounded
memory, so a tenant behind another's thousands is reached at once (docs/operations/overload.md).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from libs.bus.local_delivery import LocalDelivery
from libs.bus.ports import OWNED_SECONDS, Bus, Logged, Partition, Record
from libs.errors import Unavailable
from libs.polling import Pause
from libs.scheduling import FairQueue
from libs.telemetry.logs import logger

IN_HAND_MOST = 256
"""Most records of one partition that run at once."""
EACH_MOST = 128
"""Most of these that belong to one tenant."""
AHEAD_MOST_BYTES = 32 << 20
"""Most bytes that this process reads ahead, beyond a first portion of each partition."""
RECORD_BYTES = 1024
"""Memory of a record besides its data."""
OWN_EVERY_SECONDS = 5.0
FLUSH_EVERY_SECONDS = 0.2

log = logger("reader")
Take = Callable[[Record, Callable[[], None]], None]
"""Handle a record eventually, then call back that it is done."""


@dataclass(slots=True)
class PartitionCursor:
    """One group's place in one partition: everything up to `after` is read; of that, `open` is not done."""

    after: int
    open: set[int] = field(default_factory=set)
    ahead: FairQueue[Record] = field(default_factory=FairQueue)
    """Records that were read and do not run yet."""
    ahead_bytes: int = 0
    busy: Counter[str] = field(default_factory=Counter)
    """Running records by tenant."""
    under_way: int = 0
    flushed: int = -1
    feeding: bool = False
    local_delivery: LocalDelivery = field(default_factory=LocalDelivery)
    """Records that were delivered locally before the transport delivered them."""

    @property
    def low_watermark(self) -> int:
        """The position up to which everything is done."""
        return min(self.open) - 1 if self.open else self.after

    @property
    def unfinished(self) -> int:
        """The number of records that were read and are not done."""
        return len(self.ahead) + self.under_way

    def keep(self, record: Record) -> None:
        """Observe a record from the bus, and queue it unless it was delivered locally before."""
        if self._observe(record.event_id, record.position, record.logged):
            self.take(record)

    def observe_relayed(self, record: Record, position: int, *, safe: int) -> None:
        """Observe a record that this process's relay has sent. It is taken when its position is the next one; otherwise
        the bus delivers it.
        """
        if position == self.after + 1 and self._observe(record.event_id, position, Logged(record.position, safe)):
            self.take(replace(record, position=position))

    def _observe(self, event_id: str, position: int, logged: Logged | None) -> bool:
        """Move to this position; return whether the record must still be handled, as it was not delivered locally."""
        self.after = position
        pending = self.local_delivery.observe(event_id, position, logged)
        # The copy of a running record stays open, so that the offset does not pass work that may still fail.
        if pending is None or not pending.done:
            self.open.add(position)
        return pending is None

    def take(self, record: Record) -> None:
        self.ahead.put(record.tenant, record)
        self.ahead_bytes += cost(record)

    def next(self) -> Record | None:
        """Take the next record of the tenant whose turn it is; None when there is no room, or none that may run."""
        if not self.ahead or self.under_way >= IN_HAND_MOST:
            return None
        # Tenants take turns, and one with much running work is passed over until some of it ends.
        record = self.ahead.take(lambda tenant: self.busy[tenant] < EACH_MOST)
        if record is not None:
            self.ahead_bytes -= cost(record)
            self.busy[record.tenant] += 1
            self.under_way += 1
        return record

    def done(self, record: Record) -> None:
        copies = self.local_delivery.done(record)
        self.open.difference_update((record.position,) if copies is None else copies)
        self.under_way -= 1
        self.busy[record.tenant] -= 1
        if not self.busy[record.tenant]:
            del self.busy[record.tenant]


def cost(record: Record) -> int:
    """Estimate the memory of a record in bytes."""
    return len(record.data) + RECORD_BYTES


class Reader:
    """Follows all groups of one process."""

    def __init__(
        self,
        bus: Bus,
        consumers: Mapping[str, Take],
        subscribed: Mapping[str, frozenset[str]],
        *,
        gained: Callable[[str, Partition], None] = lambda group, partition: None,
        own_every: float = OWN_EVERY_SECONDS,
        flush_every: float = FLUSH_EVERY_SECONDS,
    ) -> None:
        self._bus, self._gained = bus, gained
        self._own_every, self._flush_every = own_every, flush_every
        self._taking = True
        self._consumers, self._subscribed = consumers, subscribed
        self._listeners = {
            topic: [group for group, topics in subscribed.items() if topic in topics]
            for topic in frozenset().union(*subscribed.values())
        }
        self._cursors: dict[tuple[str, Partition], PartitionCursor] = {}
        self._hint = asyncio.Event()
        self._elsewhere: set[str] = set()
        self._speak = asyncio.Event()
        self._owned_at = 0.0
        self.ready = asyncio.Event()
        self.heard: Callable[[], None] = lambda: None
        """Called on each notification, and every few seconds."""
        self.alone: Callable[[], bool] = lambda: False
        """Return whether there is no other process to notify."""

    def offer_local(self, records: Sequence[Record]) -> Collection[str]:
        """Deliver records of this process's writer to their consumers where they are next. Returns the ids of those
        that all local listeners took although the bus will deliver them too.
        """
        if not self._taking:
            return ()
        if not self._bus.dense:
            return {record.event_id for record in records if self._offer(record)}
        for record in records:
            listeners = self._listeners.get(record.topic, ())
            if not listeners:
                self.tell(record.topic)
            for group in listeners:
                cursor = self._cursors.get((group, Partition(record.topic, record.part)))
                if cursor is None:
                    self.tell(record.topic)
                # Only the next position may skip the log: an earlier record of the same key might still be there.
                elif cursor.after == record.position - 1 and self._room(cursor):
                    self._keep(group, cursor, record)
                else:
                    self._hint.set()
        return ()

    def _offer(self, record: Record) -> bool:
        """Offer a record to every local listener; return whether all of them took it."""
        everyone = True
        for group in self._listeners.get(record.topic, ()):
            cursor = self._cursors.get((group, Partition(record.topic, record.part)))
            if cursor is not None:
                cursor.local_delivery.offer(record)
                self._drain_local(group, cursor)
            everyone = everyone and cursor is not None and cursor.local_delivery.has(record.position)
        return everyone

    def observe_relayed(self, records: Sequence[Record], *, first: int, safe: int) -> None:
        """Observe records of one partition that this process's relay has sent. They have consecutive offsets from
        `first`; everything in the log up to log position `safe` precedes them. A cursor that has read everything before
        them need not fetch them.
        """
        partition = Partition(records[0].topic, records[0].part)
        for group in self._listeners.get(partition.topic, ()):
            cursor = self._cursors.get((group, partition))
            if cursor is None or cursor.after != first - 1:
                continue
            for position, record in enumerate(records, first):
                if self._room(cursor):
                    cursor.observe_relayed(record, position, safe=safe)
                    self._feed(group, cursor)
                    self._drain_local(group, cursor)
            # The next read reports the new position to the bus, which may not have fetched them yet.
            self._hint.set()

    async def follow(self) -> None:
        """Read everything that was not delivered locally, until cancelled."""
        while True:
            await self._hint.wait()
            # Before the read, so that a hint during it causes another one.
            self._hint.clear()
            try:
                await self.catch_up()
            except Unavailable:
                # No pause: the next hint comes from `listen`, within seconds.
                log.warning("could not read the log")

    async def catch_up(self) -> None:
        """Read while there are records and room."""
        while await self._read():
            pass

    async def listen(self) -> None:
        """Wake the reader on each notification, and every few seconds in case one was lost."""
        while True:
            try:
                await self._bus.waiting()
            except Unavailable:
                log.warning("could not listen for records")
                await asyncio.sleep(1.0)
            self._hint.set()
            self.heard()

    async def own(self) -> None:
        """Keep a fair share of the partitions; after 15 s without an answer stop handling them, as another may own
        them.
        """
        loop = asyncio.get_running_loop()
        while True:
            try:
                self._assign(await self._bus.assignments(self._subscribed))
                self._owned_at = loop.time()
                self.ready.set()
            except Unavailable:
                log.warning("could not renew partitions")
                if loop.time() - self._owned_at > OWNED_SECONDS:
                    self._cursors.clear()
            await self._bus.moved(self._own_every)

    async def flush(self) -> bool:
        """Store the low watermarks now; return whether any has moved."""
        moved: dict[str, dict[Partition, int]] = {}
        for (group, partition), cursor in self._cursors.items():
            if cursor.low_watermark > cursor.flushed:
                moved.setdefault(group, {})[partition] = cursor.low_watermark
        if moved:
            await self._bus.advance(moved)
            for group, low_watermarks in moved.items():
                for partition, low_watermark in low_watermarks.items():
                    # The partition may have been given up during the write.
                    if (flushed := self._cursors.get((group, partition))) is not None:
                        flushed.flushed = low_watermark
        return bool(moved)

    async def flush_often(self, point: Callable[[str], None]) -> None:
        pause = Pause(self._flush_every)
        while True:
            await asyncio.sleep(pause.next())
            try:
                point("reader:flush:before")
                if await self.flush():
                    pause.found()
                point("reader:flush:after")
            except Unavailable:
                log.warning("could not store offsets")

    async def wake_others(self, point: Callable[[str], None]) -> None:
        """Notify other processes after commits, several topics at once."""
        while True:
            await self._speak.wait()
            self._speak.clear()
            # Swap before the call: a topic that is added meanwhile needs a call of its own.
            topics, self._elsewhere = sorted(self._elsewhere), set()
            try:
                point("reader:wake:before")
                await self._bus.wake(topics)
                point("reader:wake:after")
            except Unavailable:
                log.warning("could not wake other processes")

    def tell(self, topic: str) -> None:
        """Notify other processes soon, if there are any."""
        if not self.alone():
            self._elsewhere.add(topic)
            self._speak.set()

    def holds(self, group: str, partition: Partition) -> bool:
        """Return whether this process owns the group's partition, as far as it knows."""
        return (group, partition) in self._cursors

    def had(self, group: str, partition: Partition) -> int | None:
        """Return the position in the log up to which the group's lanes have had all records of a partition.

        None if this process does not own it, has some of it read ahead, or takes nothing any more.
        """
        cursor = self._cursors.get((group, partition))
        if not self._taking or cursor is None or cursor.ahead:
            return None
        return cursor.after if self._bus.dense else cursor.local_delivery.known

    def low_watermark(self, group: str, partition: Partition) -> int:
        """Return the position up to which an owned partition is done."""
        return self._cursors[group, partition].low_watermark

    def stop_taking(self) -> None:
        """Take no new records; running ones go on."""
        self._taking = False

    async def leave(self) -> None:
        """Release the partitions once running records are done."""
        # Offsets first: the next owner starts there, and would repeat everything since.
        await self.flush()
        self._cursors.clear()
        await self._bus.leave(list(self._consumers))

    def _assign(self, assignments: Mapping[str, Mapping[Partition, int]]) -> None:
        owned = {
            (group, partition): position
            for group, assignment in assignments.items()
            for partition, position in assignment.items()
        }
        # Running records of a lost partition go on; the inbox makes that safe (bus.md 13).
        for gone in self._cursors.keys() - owned.keys():
            del self._cursors[gone]
        for new in owned.keys() - self._cursors.keys():
            self._cursors[new] = PartitionCursor(after=owned[new], flushed=owned[new])
            self._gained(*new)
            self._hint.set()

    async def _read(self) -> bool:
        """Read once for every cursor with room. Returns whether there may be more: some partition filled its limit."""
        open_cursors = {key: cursor for key, cursor in self._cursors.items() if self._room(cursor)}
        after: dict[str, dict[Partition, int]] = {}
        for (group, partition), cursor in open_cursors.items():
            after.setdefault(group, {})[partition] = cursor.after
        if not after:
            return False
        moved = more = False
        for group, records in (await self._bus.read(after, limit=IN_HAND_MOST)).items():
            more = more or len(records) >= IN_HAND_MOST
            for record in records:
                key = (group, Partition(record.topic, record.part))
                # Skip a cursor that was full, or was assigned since: its position may be lower.
                current = open_cursors.get(key)
                if current is None or current is not self._cursors.get(key) or not self._room(current):
                    continue
                if record.position > current.after:
                    self._keep(group, current, record)
                    moved = True
        return moved and more

    def _room(self, cursor: PartitionCursor) -> bool:
        """Return whether a cursor may read on: always a first portion, more while the process has memory for it."""
        return cursor.unfinished < IN_HAND_MOST or self.ahead_bytes < AHEAD_MOST_BYTES

    @property
    def ahead_bytes(self) -> int:
        """Estimated bytes read ahead in this process."""
        return sum(cursor.ahead_bytes for cursor in self._cursors.values())

    def _keep(self, group: str, cursor: PartitionCursor, record: Record) -> None:
        cursor.keep(record)
        self._feed(group, cursor)
        if not self._bus.dense:
            self._drain_local(group, cursor)

    def _drain_local(self, group: str, cursor: PartitionCursor) -> None:
        """Take local records that are next in the log."""
        while self._room(cursor) and (record := cursor.local_delivery.next()) is not None:
            cursor.take(record)
            self._feed(group, cursor)

    def _feed(self, group: str, cursor: PartitionCursor) -> None:
        """Start every record that may run now. A record that finishes immediately makes room within this loop."""
        if cursor.feeding:
            return
        cursor.feeding = True
        try:
            while self._taking and (record := cursor.next()) is not None:
                self._consumers[group](record, lambda record=record: self._done(group, cursor, record))  # type: ignore[misc]
        finally:
            cursor.feeding = False

    def _done(self, group: str, cursor: PartitionCursor, record: Record) -> None:
        had_room = self._room(cursor)
        cursor.done(record)
        # The partition may have moved meanwhile: its new owner handles the rest.
        if self._cursors.get((group, Partition(record.topic, record.part))) is cursor:
            self._feed(group, cursor)
        # Reads left this cursor out while it had no room.
        if not had_room:
            self._hint.set()
