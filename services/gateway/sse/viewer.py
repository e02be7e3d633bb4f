"""One viewer of a session: its numbered events in order, each once, with partial text in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass

from libs.errors import Unavailable
from services.gateway.sse.streams import Channel, PartialText, Streams
from services.gateway.store import Numbered, Session

RETRY_SECONDS = 0.5
PAGE = 200


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of a model's partial text. If call or attempt changed, the previous text is void."""

    turn_id: str
    call: str
    attempt: int
    text: str


Item = Numbered | TextDelta


class Viewer:
    """A reader of one session. It subscribes before it reads, so that no event is lost between (DESIGN §13)."""

    def __init__(self, channel: Channel, streams: Streams, *, after: int, page: int, reread: float) -> None:
        self._channel, self._streams = channel, streams
        self._page, self._reread = page, reread
        self.after = after
        self._turn: str | None = None
        self._partial = PartialText()
        self._sent_until = ("", 0, 0)

    async def items(self, session: Session) -> AsyncIterator[Item]:
        """Yield events and partial text until the process stops."""
        if session.turn_state == "running" and session.turn_id is not None:
            self._follow_text(session.turn_id)
        try:
            while not self._channel.closed:
                moved = self._channel.moved()
                # Without Postgres the stream stays open and retries soon.
                pause = RETRY_SECONDS
                with suppress(Unavailable):
                    async for event in self.caught_up():
                        self._follow(event)
                        yield event
                    pause = self._reread
                for delta in self._new_text():
                    yield delta
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await moved.wait()
        finally:
            self._follow_text(None)

    async def caught_up(self) -> AsyncIterator[Numbered]:
        """Yield every current event after the viewer's position."""
        while True:
            page = await self._channel.read(self.after, most=self._page)
            for event in page.events:
                self.after = event.seq
                yield event
            if not page.more:
                return

    def _follow(self, event: Numbered) -> None:
        if event.type == "turn.started":
            self._follow_text(event.turn_id)
        elif event.type in ("message.completed", "turn.ended") and event.turn_id == self._turn:
            self._follow_text(None)

    def _follow_text(self, turn: str | None) -> None:
        """Follow the partial text of another turn, or of none."""
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
        return [TextDelta(self._turn, partial.call, partial.attempt, fresh)] if fresh and self._turn is not None else []


async def first(
    streams: Streams, tenant: str, session: str, *, after: int, wait: float, found: Callable[[Numbered], bool]
) -> Numbered | None:
    """Return the first event after `after` that `found` accepts; None if there is none within `wait` seconds."""
    with streams.watch(tenant, session) as channel, suppress(TimeoutError):
        viewer = Viewer(channel, streams, after=after, page=PAGE, reread=RETRY_SECONDS)
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
