"""AG-UI's client: a thread of a front end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from libs import ids
from tests.infrastructure import agui
from tests.infrastructure.agui import Seen
from tests.journeys.installation import Installation
from tests.services.gateway.surfaces.clients import Thread


@asynccontextmanager
async def thread(suma: Installation, folder: Path) -> AsyncIterator[ThreadConversation]:
    async with agui.client() as client:
        yield ThreadConversation(Thread(client, suma, ids.new(), root=str(folder)))


class ThreadConversation:
    """A thread, whose questions are interrupts."""

    def __init__(self, thread: Thread) -> None:
        self._thread, self._run = thread, ids.new()
        self._last: Seen | None = None
        self._open: asyncio.Task[Seen] | None = None
        self._text = ""

    async def say(self, text: str) -> str:
        if self._last is not None and self._last.interrupts:
            return self._heard(await self._thread.resume(self._last, {"text": text}))
        return self._heard(await self._thread.say(text))

    async def approve(self, *, without: str | None = None) -> str:
        assert self._last is not None
        answer = {"approve": True, "exclude": [without] if without else []}
        return self._heard(await self._thread.resume(self._last, answer))

    async def cancel(self) -> str:
        assert self._last is not None
        return self._heard(await self._thread.resume(self._last, status="cancelled"))

    async def begin(self, text: str) -> None:
        self._text = text
        self._open = self._running()

    async def rejoin(self) -> None:
        assert self._open is not None
        assert (await self._open).error
        self._open = self._running()

    async def end(self) -> str:
        assert self._open is not None
        return (await self._open).text

    def _running(self) -> asyncio.Task[Seen]:
        return asyncio.create_task(self._thread.say(self._text, runId=self._run))

    def _heard(self, seen: Seen) -> str:
        assert seen.error is None, seen.error
        self._last = seen
        return str(seen.interrupts[0]["reason"]) if seen.interrupts else str(seen.state["status"])
