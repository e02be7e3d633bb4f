"""Channels of watched sessions: wake-ups, shared reads, and partial model text for viewers.

A viewer pulls: a wake-up makes it read from its own position. It holds at most one page, so a slow viewer costs no
memory and misses nothing. After a wake-up the channel reads once, for all viewers that have seen everything before it;
others at one position share a read. Token deltas are joined per turn as they
arrive, and each viewer takes the text that is new to it; a slower viewer gets longer pieces.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from libs.bus import Subject
from libs.cache import START, Deltas, Stream, StreamEntry
from libs.errors import Crowded, Unavailable
from libs.events import TurnEnded
from libs.telemetry import metrics
from services.gateway.sessions.store import Page, Store

DELTA_BLOCK_SECONDS = 0.2
PARTIAL_TEXT_MOST = 256 * 1024
"""Characters of one model call that are kept for viewers who join late."""

KEPT_LETTERS = 64 * 1024
"""Characters of a page that a channel keeps for its viewers."""

Key = tuple[str, str]


class TooManyStreams(Crowded):
    """Too many event streams are open; close one or retry later."""

    code = "TOO_MANY_STREAMS"


@dataclass(slots=True)
class PartialText:
    """The partial text of a turn's current model call, or the output of its current command."""

    position: str = START
    call: str = ""
    attempt: int = 0
    text: str = ""
    step: str | None = None

    def append(self, entries: Sequence[StreamEntry]) -> None:
        """Append deltas; another call, or a new attempt, starts from empty text."""
        for entry in entries:
            self.position = entry.position
            if (delta := entry.delta) is None:
                continue
            if (delta.call, delta.attempt) != (self.call, self.attempt):
                self.call, self.attempt, self.text, self.step = delta.call, delta.attempt, "", delta.step
            self.text = (self.text + delta.text)[:PARTIAL_TEXT_MOST]


class Channel:
    """A session watched in this process. `version` increases whenever its sequence may have grown."""

    def __init__(self, tenant: str, session: str, store: Store) -> None:
        self.tenant, self.session = tenant, session
        self.version = 0
        self.closed = False
        self.viewers = 0
        self._store = store
        self._moved = asyncio.Event()
        self._reads: dict[tuple[int, int, int], asyncio.Task[Page]] = {}
        self._head: tuple[int, int] | None = None
        """The last event that was read here, and the page size."""
        self._latest: tuple[tuple[int, int, int], Page] | None = None
        """The page of the channel's last read after a wake-up, if it has events, and its position."""
        self._ahead: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Read what the sequence gained, and notify viewers."""
        self.version += 1
        # Wake-ups during a read begin no second one: it goes on until it has seen the last version.
        if self._ahead is None:
            self._ahead = asyncio.ensure_future(self._read_ahead())

    def notify(self) -> None:
        """Notify viewers of a change outside the sequence, such as partial text."""
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    def moved(self) -> asyncio.Event:
        """Return the event of the next wake-up. Get it before reading, so that none is lost."""
        return self._moved

    async def read(self, after: int, *, most: int) -> Page:
        """Read the next events. Viewers at one position share a read that began after the last wake-up."""
        place = (self.version, after, most)
        if self._latest is not None and self._latest[0] == place:
            return self._latest[1]
        task = self._reads.get(place)
        if task is None:
            task = asyncio.ensure_future(self.read_alone(after, most=most))
            self._reads[place] = task
            task.add_done_callback(lambda task: self._forget_read(place, task))
        return await asyncio.shield(task)

    async def _read_ahead(self) -> None:
        read = -1
        try:
            while read != self.version:
                read = self.version
                self._latest = None
                if self._head is not None:
                    with suppress(Unavailable):
                        self._latest = await self._page_to_keep(*self._head)
                self.notify()
        finally:
            self._ahead = None

    async def _page_to_keep(self, after: int, most: int) -> tuple[tuple[int, int, int], Page] | None:
        """Return the page after the head and its place, unless it is large: it stays until the next wake-up."""
        place = (self.version, after, most)
        page = await self.read_alone(after, most=most)
        # An empty page must not stay: another process may project the next event, without a wake-up here.
        return (place, page) if 0 < sum(len(event.body) for event in page.events) <= KEPT_LETTERS else None

    async def read_alone(self, after: int, *, most: int) -> Page:
        """Read the next events from the store, now."""
        page = await self._store.events(self.tenant, self.session, after=after, most=most)
        last = page.events[-1].seq if page.events else after
        self._head = max(self._head or (0, most), (last, most))
        return page

    def _forget_read(self, place: tuple[int, int, int], task: asyncio.Task[Page]) -> None:
        self._reads.pop(place, None)
        if not task.cancelled():
            # All readers may have left; retrieve the exception so that asyncio does not log it.
            task.exception()


class Streams:
    """The channels of this process."""

    def __init__(self, store: Store, deltas: Deltas | None, *, most: int, each: int) -> None:
        self._store = store
        self._deltas = deltas
        self._most, self._each = most, each
        self._channels: dict[Key, Channel] = {}
        self._partial_texts: dict[Stream, tuple[PartialText, Channel, int]] = {}
        self._listening = asyncio.Event()
        self._ends: dict[str, set[asyncio.Event]] = {}
        """By turn, the events to set once its end is projected."""
        self.open = 0
        self._tenants: Counter[str] = Counter()
        self._closed = False

    def watch_projection(self, subjects: Sequence[Subject]) -> None:
        """Wake the viewers of projected events, and the callers that wait for the end of a turn."""
        for tenant, session in dict.fromkeys((subject.tenant, subject.session) for subject in subjects):
            self.wake(tenant, session)
        for subject in subjects:
            if subject.type == TurnEnded.type and subject.turn is not None:
                self.note_end(subject.turn)

    def wake(self, tenant: str, session: str | None) -> None:
        """Wake the viewers of a session after a commit that may have added to its sequence."""
        if session is not None and (channel := self._channels.get((tenant, session))) is not None:
            channel.wake()

    @contextmanager
    def awaiting_end(self, turn: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set once this process sees the turn's end projected, or stops."""
        ended = asyncio.Event()
        if self._closed:
            ended.set()
        waiting = self._ends.setdefault(turn, set())
        waiting.add(ended)
        try:
            yield ended
        finally:
            waiting.discard(ended)
            if not waiting:
                self._ends.pop(turn, None)

    def note_end(self, turn: str) -> None:
        """Wake those who wait for the end of a turn."""
        for ended in self._ends.get(turn, ()):
            ended.set()

    @property
    def closed(self) -> bool:
        return self._closed

    def check_capacity(self, tenant: str) -> None:
        """Check that the tenant may open one more stream. Raises TooManyStreams."""
        if self.open >= self._most or self._tenants[tenant] >= self._each:
            metrics.refused.labels(TooManyStreams.code).inc()
            raise TooManyStreams

    @contextmanager
    def watch(self, tenant: str, session: str) -> Iterator[Channel]:
        """Receive a session's wake-ups until the block ends."""
        self.check_capacity(tenant)
        channel = self._channels.setdefault((tenant, session), Channel(tenant, session, self._store))
        channel.closed = channel.closed or self._closed
        channel.viewers += 1
        self.open += 1
        self._tenants[tenant] += 1
        try:
            yield channel
        finally:
            channel.viewers -= 1
            self.open -= 1
            self._tenants[tenant] -= 1
            if not self._tenants[tenant]:
                del self._tenants[tenant]
            if not channel.viewers:
                self._channels.pop((tenant, session), None)

    def listen(self, channel: Channel, turn: str) -> PartialText:
        """Return a turn's partial text, complete from its start; call `ignore` once for each call."""
        stream = Stream(channel.tenant, turn)
        partial, _, listeners = self._partial_texts.get(stream, (PartialText(), channel, 0))
        self._partial_texts[stream] = partial, channel, listeners + 1
        self._listening.set()
        return partial

    def ignore(self, channel: Channel, turn: str) -> None:
        stream = Stream(channel.tenant, turn)
        partial, channel, listeners = self._partial_texts[stream]
        if listeners > 1:
            self._partial_texts[stream] = partial, channel, listeners - 1
        else:
            del self._partial_texts[stream]

    async def serve(self) -> None:
        """Pass partial text to viewers until cancelled; then end every stream, so that viewers reconnect elsewhere."""
        try:
            while True:
                await self._read_deltas()
        finally:
            self.close()

    def close(self) -> None:
        """End every open stream. A stream opened later returns the existing events and ends."""
        self._closed = True
        for turn in self._ends:
            self.note_end(turn)
        for channel in self._channels.values():
            channel.closed = True
            channel.notify()

    async def _read_deltas(self) -> None:
        if self._deltas is None or not self._partial_texts:
            self._listening.clear()
            await self._listening.wait()
            return
        listened = dict(self._partial_texts)
        places = {stream: partial.position for stream, (partial, _, _) in listened.items()}
        try:
            deltas = await self._deltas.read(places, block=DELTA_BLOCK_SECONDS)
        except Unavailable:
            # Partial text is for display only; the answer arrives as an event.
            await asyncio.sleep(1.0)
            return
        for stream, entries in deltas.items():
            partial, channel, _ = listened[stream]
            # Viewers who came during the read begin with empty text; these entries continue the text before it.
            if (current := self._partial_texts.get(stream)) is not None and current[0] is partial:
                partial.append(entries)
                channel.notify()
