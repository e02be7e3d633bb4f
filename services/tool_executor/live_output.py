"""The output of a running command on its way to viewers. Best effort: the result has all of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from libs.cache import Delta, Deltas, Stream
from libs.errors import Unavailable
from libs.telemetry import logger

EVERY_SECONDS = 0.1
SHOWN_MOST = 50_000
"""Characters of one command's output that are shown while it runs."""

log = logger("executor")


class _LiveOutput:
    """Joins what is written within `EVERY_SECONDS`."""

    def __init__(self, deltas: Deltas, stream: Stream, empty: Delta) -> None:
        self._deltas, self._stream, self._empty = deltas, stream, empty
        self._waiting, self._room = "", SHOWN_MOST
        self.over = asyncio.Event()

    def show(self, text: str) -> None:
        self._waiting += (taken := text[: self._room])
        self._room -= len(taken)

    async def send(self) -> None:
        """Send until the command is over, and then the rest."""
        while not self.over.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY_SECONDS):
                    await self.over.wait()
            await self._send_waiting()
        # A command may be over before this began.
        await self._send_waiting()

    async def _send_waiting(self) -> None:
        if not self._waiting:
            return
        delta, self._waiting = replace(self._empty, text=self._waiting), ""
        try:
            await self._deltas.append(self._stream, delta)
        except Unavailable:
            # A gap in the middle would look like the program's own output.
            self._room = 0
            log.warning("could not publish deltas", turn=self._stream.turn)


@asynccontextmanager
async def shown_live(deltas: Deltas, stream: Stream, empty: Delta) -> AsyncIterator[Callable[[str], None]]:
    """Yield a callback that shows the output of a command to the viewers of a turn; `empty` names its call and step."""
    live = _LiveOutput(deltas, stream, empty)
    sending = asyncio.ensure_future(live.send())
    try:
        yield live.show
    finally:
        live.over.set()
        await sending
