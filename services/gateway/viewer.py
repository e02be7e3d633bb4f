"""One viewer of a session: its numbered events, in order, each once, and the words in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass

from libs.errors import Unavailable
from services.gateway.store import Numbered, Session
from services.gateway.streams import Channel, Speech, Streams

RETRY_SECONDS = 0.5
PAGE = 200


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of what a model is saying. Another call or attempt than before: what was said so far is void."""

    turn_id: str
    call: str
    attempt: int
    text: str


Item = Numbered | Words


class Viewer:
    """Subscribed before it reads, so that nothing falls between (DESIGN §13)."""

    def __init__(self, channel: Channel, streams: Streams, *, after: int, page: int, reread: float) -> None:
        self._channel, self._streams = channel, streams
        self._page, self._reread = page, reread
        self.after = after
        self._turn: str | None = None
        self._speech = Speech()
        self._said = ("", 0, 0)

    async def items(self, session: Session) -> AsyncIterator[Item]:
        """For ever, or until the process stops."""
        if session.turn_state == "running" and session.turn_id is not None:
            self._attend(session.turn_id)
        try:
            while not self._channel.closed:
                moved = self._channel.moved()
                # While Postgres is away a stream stays open: it looks again soon.
                pause = RETRY_SECONDS
                with suppress(Unavailable):
                    async for event in self.caught_up():
                        self._follow(event)
                        yield event
                    pause = self._reread
                for words in self._words():
                    yield words
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await moved.wait()
        finally:
            self._attend(None)

    async def caught_up(self) -> AsyncIterator[Numbered]:
        """Every event that there is now behind our position."""
        while True:
            page = await self._channel.read(self.after, most=self._page)
            for event in page.events:
                self.after = event.seq
                yield event
            if not page.more:
                return

    def _follow(self, event: Numbered) -> None:
        if event.type == "turn.started":
            self._attend(event.turn_id)
        elif event.type in ("message.completed", "turn.ended") and event.turn_id == self._turn:
            self._attend(None)

    def _attend(self, turn: str | None) -> None:
        """Listen to another turn's words, or to none."""
        if self._turn is not None:
            self._streams.ignore(self._channel, self._turn)
        self._turn, self._said = turn, ("", 0, 0)
        self._speech = self._streams.listen(self._channel, turn) if turn is not None else Speech()

    def _words(self) -> list[Words]:
        call, attempt, length = self._said
        speech = self._speech
        if (speech.call, speech.attempt) != (call, attempt):
            length = 0
        fresh = speech.text[length:]
        self._said = speech.call, speech.attempt, len(speech.text)
        return [Words(self._turn, speech.call, speech.attempt, fresh)] if fresh and self._turn is not None else []


async def first(
    streams: Streams, tenant: str, session: str, *, after: int, wait: float, found: Callable[[Numbered], bool]
) -> Numbered | None:
    """The first event behind `after` that `found` accepts; None when there is none within `wait` seconds."""
    with streams.watch(tenant, session) as channel, suppress(TimeoutError):
        viewer = Viewer(channel, streams, after=after, page=PAGE, reread=RETRY_SECONDS)
        async with asyncio.timeout(wait):
            while not channel.closed:
                moved = channel.moved()
                with suppress(Unavailable):
                    async for event in viewer.caught_up():
                        if found(event):
                            return event
                # Another process may have projected it, and nobody woke us.
                with suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_SECONDS):
                        await moved.wait()
    return None
