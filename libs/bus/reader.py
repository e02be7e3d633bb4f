"""The reader: follows the partitions that this process owns and hands each record to its group's consumer, in order.

A record comes from the log, or directly from our own writer when it is the very next of its partition: positions are
dense, so the handoff can tell. Anything else that is handed over is dropped and read. The low-water mark of what is
done moves the group's offset, lazily: it is a hint.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from libs.bus.ports import OWNED_SECONDS, Bus, Partition, Record
from libs.errors import Unavailable
from libs.telemetry.logs import logger

IN_HAND_MOST = 256
"""Records of one partition that may be under way at once; behind it the reader waits."""
OWN_EVERY_SECONDS = 5.0
FLUSH_EVERY_SECONDS = 0.2

log = logger("reader")
Take = Callable[[Record, Callable[[], None]], None]
"""Handle a record some time, and then call back that it is done."""


@dataclass(slots=True)
class Tail:
    """Where one group stands in one partition."""

    after: int
    in_hand: set[int] = field(default_factory=set)
    flushed: int = -1

    @property
    def mark(self) -> int:
        """All up to here is done."""
        return min(self.in_hand) - 1 if self.in_hand else self.after

    @property
    def full(self) -> bool:
        return len(self.in_hand) >= IN_HAND_MOST


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
        self._consumers = consumers
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

    def hand(self, records: Sequence[Record]) -> None:
        """Our writer has published these. The very next ones go straight to their consumers."""
        if not self._taking:
            return
        for record in records:
            listeners = self._listeners.get(record.topic, ())
            if not listeners:
                self._tell(record.topic)
            for group in listeners:
                tail = self._tails.get((group, Partition(record.topic, record.part)))
                if tail is None:
                    self._tell(record.topic)
                elif tail.after == record.position - 1 and not tail.full:
                    self._take(group, tail, record)
                else:
                    self._hint.set()

    async def follow(self) -> None:
        """Read for ever what was not handed over."""
        while True:
            await self._hint.wait()
            self._hint.clear()
            try:
                while await self._read():
                    pass
            except Unavailable:
                log.warning("cannot read the log")

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
                self._assign(await self._bus.assignments(list(self._consumers)))
                self._owned_at = loop.time()
                self.ready.set()
            except Unavailable:
                log.warning("cannot renew partitions")
                if loop.time() - self._owned_at > OWNED_SECONDS:
                    self._tails.clear()
            await asyncio.sleep(self._own_every)

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
        """Read once for every tail with room; whether there may be more."""
        open_tails = {key: tail for key, tail in self._tails.items() if not tail.full}
        after: dict[Partition, int] = {}
        for (_, partition), tail in open_tails.items():
            after[partition] = min(tail.after, after.get(partition, tail.after))
        if not after:
            return False
        records = await self._bus.read(after, limit=IN_HAND_MOST)
        moved = False
        for record in records:
            for group in self._consumers:
                key = (group, Partition(record.topic, record.part))
                # Only a tail that the read began from: one that was full, or came to us since, may stand further back.
                current = open_tails.get(key)
                if current is None or current is not self._tails.get(key) or current.full:
                    continue
                if record.position > current.after:
                    self._take(group, current, record)
                    moved = True
        return moved

    def _take(self, group: str, tail: Tail, record: Record) -> None:
        tail.after = record.position
        tail.in_hand.add(record.position)
        self._consumers[group](record, lambda: self._done(tail, record.position))

    def _done(self, tail: Tail, position: int) -> None:
        was_full = tail.full
        tail.in_hand.discard(position)
        if was_full:
            self._hint.set()
