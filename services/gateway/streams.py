"""Who watches a session: wake-ups, shared reads, and a model's words on their way to viewers.

A viewer pulls: it is woken, reads from its own position, and holds one page at most, so a slow one costs no memory and
misses nothing. Viewers of one session at one position share a read. Words (token deltas) are joined per turn as they
come, and each viewer takes what is new to it: the slower it is, the longer its pieces.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from libs.cache import START, Deltas, Entry, Stream
from libs.errors import Crowded, Unavailable
from libs.telemetry import metrics
from services.gateway.store import Page, Store

WORDS_BLOCK_SECONDS = 0.2
WORDS_MOST = 256 * 1024
"""Characters of one model call that are kept for viewers who come late."""

Key = tuple[str, str]


class TooManyStreams(Crowded):
    """Too many event streams are open."""

    code = "TOO_MANY_STREAMS"


@dataclass(slots=True)
class Speech:
    """What the model call of a turn has said so far."""

    position: str = START
    call: str = ""
    attempt: int = 0
    text: str = ""

    def hear(self, entries: Sequence[Entry]) -> None:
        """Join what came; another call, or a new attempt, begins anew."""
        for entry in entries:
            delta = entry.delta
            if (delta.call, delta.attempt) != (self.call, self.attempt):
                self.call, self.attempt, self.text = delta.call, delta.attempt, ""
            self.text = (self.text + delta.text)[:WORDS_MOST]
            self.position = entry.position


class Channel:
    """One session as watched in this process. `version` moves whenever its sequence may have grown."""

    def __init__(self, tenant: str, session: str, store: Store) -> None:
        self.tenant, self.session = tenant, session
        self.version = 0
        self.closed = False
        self.viewers = 0
        self._store = store
        self._moved = asyncio.Event()
        self._reads: dict[tuple[int, int, int], asyncio.Task[Page]] = {}

    def wake(self) -> None:
        """The sequence may have grown."""
        self.version += 1
        self.stir()

    def stir(self) -> None:
        """Something that is not in the sequence may have been said."""
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    def moved(self) -> asyncio.Event:
        """Set at the next wake-up; to be asked for before one looks."""
        return self._moved

    async def read(self, after: int, *, most: int) -> Page:
        """The next events. A read is shared by those at the same place, if it began after the last wake-up."""
        place = (self.version, after, most)
        task = self._reads.get(place)
        if task is None:
            task = asyncio.ensure_future(self._store.events(self.tenant, self.session, after=after, most=most))
            self._reads[place] = task
            task.add_done_callback(lambda task: self._read(place, task))
        return await asyncio.shield(task)

    def _read(self, place: tuple[int, int, int], task: asyncio.Task[Page]) -> None:
        self._reads.pop(place, None)
        if not task.cancelled():
            # Whoever asked may have gone since: then nobody is left to be told of a failure.
            task.exception()


class Streams:
    """The channels of this process."""

    def __init__(self, store: Store, deltas: Deltas | None, *, most: int, each: int) -> None:
        self._store = store
        self._deltas = deltas
        self._most, self._each = most, each
        self._channels: dict[Key, Channel] = {}
        self._speeches: dict[Stream, tuple[Speech, Channel, int]] = {}
        self._speaking = asyncio.Event()
        self.open = 0
        self._tenants: Counter[str] = Counter()
        self._closed = False

    def waker(self, tenant: str, session: str | None) -> Callable[[], None]:
        """To be called after a commit that may have added to the session's sequence."""

        def wake() -> None:
            if session is not None and (channel := self._channels.get((tenant, session))) is not None:
                channel.wake()

        return wake

    def room(self, tenant: str) -> None:
        """Whether one more of this tenant may watch; raises TooManyStreams."""
        if self.open >= self._most or self._tenants[tenant] >= self._each:
            metrics.refused.labels(TooManyStreams.code).inc()
            raise TooManyStreams

    @contextmanager
    def watch(self, tenant: str, session: str) -> Iterator[Channel]:
        """Be woken for a session until the block ends."""
        self.room(tenant)
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

    def listen(self, channel: Channel, turn: str) -> Speech:
        """The words of a turn, from its beginning, until `ignore` is called once for each `listen`."""
        stream = Stream(channel.tenant, turn)
        speech, _, listeners = self._speeches.get(stream, (Speech(), channel, 0))
        self._speeches[stream] = speech, channel, listeners + 1
        self._speaking.set()
        return speech

    def ignore(self, channel: Channel, turn: str) -> None:
        stream = Stream(channel.tenant, turn)
        speech, channel, listeners = self._speeches[stream]
        if listeners > 1:
            self._speeches[stream] = speech, channel, listeners - 1
        else:
            del self._speeches[stream]

    async def serve(self) -> None:
        """Carry words to viewers until cancelled; then every stream ends, and its viewer comes back elsewhere."""
        try:
            while True:
                await self._carry()
        finally:
            self.close()

    def close(self) -> None:
        """End every open stream, and what opens from now on with what there is."""
        self._closed = True
        for channel in self._channels.values():
            channel.closed = True
            channel.stir()

    async def _carry(self) -> None:
        if self._deltas is None or not self._speeches:
            self._speaking.clear()
            await self._speaking.wait()
            return
        places = {stream: speech.position for stream, (speech, _, _) in self._speeches.items()}
        try:
            heard = await self._deltas.read(places, block=WORDS_BLOCK_SECONDS)
        except Unavailable:
            # Words are for eyes only; the answer comes as an event.
            await asyncio.sleep(1.0)
            return
        for stream, entries in heard.items():
            if stream in self._speeches:
                speech, channel, _ = self._speeches[stream]
                speech.hear(entries)
                channel.stir()
