"""One viewer of a session: its numbered events in order, each once, with partial text and heartbeats in between.

Server-sent events and WebSockets send what it yields. It knows nothing of either.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass

from libs.errors import Unavailable
from services.gateway.sessions.models import Session
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.streams import Channel, PartialText, Streams

RETRY_SECONDS = 0.5
PAGE = 200
UNDER_WAY = ("running", "awaiting_approval", "awaiting_clarification")
"""States of a turn that may write its answer from now on."""
SPREAD = (0.7, 1.0)
"""Viewers that opened together read again at different times."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of a model's partial text, or of a command's output. If call or attempt changed, the previous text is
    void.
    """

    turn_id: str
    call: str
    attempt: int
    text: str
    step_id: str | None = None
    """The step whose command wrote this; None for the text of a model."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Nothing else was sent for a while."""


Item = Numbered | TextDelta | Heartbeat


@dataclass(frozen=True, slots=True)
class Pace:
    """Events read at once, and the seconds between two reads without a wake-up, and between heartbeats."""

    page: int
    reread: float
    heartbeat: float


class Viewer:
    """A reader of one session. It subscribes before it reads, so that no event is lost between (architecture.md 14)."""

    def __init__(
        self, channel: Channel, streams: Streams, *, after: int, pace: Pace, open: Callable[[], bool] = lambda: True
    ) -> None:
        self._channel, self._streams, self._pace, self._open = channel, streams, pace, open
        self._now = asyncio.get_running_loop().time
        self.after = after
        self._version = -1
        """The channel's version when this viewer last caught up."""
        self._read_at = self._now()
        self._beat_at = self._now() + pace.heartbeat
        self._turn: str | None = None
        self._partial = PartialText()
        self._sent_until = ("", 0, 0)

    async def items(self, session: Session) -> AsyncGenerator[Item]:
        """Yield events, partial text and heartbeats until the process stops, or `open` returns False."""
        if session.turn_state in UNDER_WAY and session.turn_id is not None:
            self._follow_text(session.turn_id)
        try:
            while not self._channel.closed and self._open():
                moved = self._channel.moved()
                async for item in self._news():
                    self._beat_at = self._now() + self._pace.heartbeat
                    yield item
                if self._now() >= self._beat_at:
                    self._beat_at = self._now() + self._pace.heartbeat
                    yield Heartbeat()
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(min(self._read_at, self._beat_at)):
                        await moved.wait()
        finally:
            self._follow_text(None)

    async def caught_up(self, *, shared: bool = True) -> AsyncGenerator[Numbered]:
        """Yield every current event after the viewer's position. A read that viewers share may have begun before a
        commit that the caller knows of.
        """
        read = self._channel.read if shared else self._channel.read_alone
        while self._open():
            page = await read(self.after, most=self._pace.page)
            for event in page.events:
                self.after = event.seq
                yield event
            if not page.more:
                return

    async def _news(self) -> AsyncIterator[Item]:
        version = self._channel.version
        if version != self._version or self._now() >= self._read_at:
            # Without Postgres the stream stays open and retries soon.
            pause = RETRY_SECONDS
            with suppress(Unavailable):
                async for event in self.caught_up():
                    self._follow(event)
                    yield event
                # The version from before the read: a wake-up meanwhile makes the next round read again.
                self._version = version
                pause = self._pace.reread * random.uniform(*SPREAD)  # noqa: S311 - no secret
            self._read_at = self._now() + pause
        for delta in self._new_text():
            yield delta

    def _follow(self, event: Numbered) -> None:
        if event.type == "turn.started":
            self._follow_text(event.turn_id)
        elif event.type in ("message.completed", "turn.ended") and event.turn_id == self._turn:
            self._follow_text(None)

    def _follow_text(self, turn: str | None) -> None:
        """Follow the partial text of a turn, or of none."""
        if turn == self._turn:
            return
        if self._turn is not None:
            self._streams.ignore(self._channel, self._turn)
        self._turn, self._sent_until = turn, ("", 0, 0)
        self._partial = self._streams.listen(self._channel, turn) if turn is not None else PartialText()

    def _new_text(self) -> list[TextDelta]:
        call, attempt, length = self._sent_until
        partial = self._partial
        if (partial.call, partial.attempt) != (call, attempt):
            length = 0
        fresh = partial.text[length:]
        self._sent_until = partial.call, partial.attempt, len(partial.text)
        if not fresh or self._turn is None:
            return []
        return [TextDelta(self._turn, partial.call, partial.attempt, fresh, partial.step)]


async def first(
    streams: Streams, tenant: str, session: str, *, after: int, wait: float, found: Callable[[Numbered], bool]
) -> Numbered | None:
    """Return the first event after `after` that `found` accepts; None if there is none within `wait` seconds."""
    with streams.watch(tenant, session) as channel, suppress(TimeoutError):
        viewer = Viewer(channel, streams, after=after, pace=Pace(PAGE, RETRY_SECONDS, wait))
        async with asyncio.timeout(wait):
            while not channel.closed:
                moved = channel.moved()
                with suppress(Unavailable):
                    async for event in viewer.caught_up():
                        if found(event):
                            return event
                # Another process may have projected it without a wake-up here.
                with suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_SECONDS):
                        await moved.wait()
    return None
