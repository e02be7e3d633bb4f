"""Shutdown: the first signal lets running work finish within time limits; a second one ends the waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress


class Shutdown:
    """The shutdown state of one process. Once it is hurried, all waiting on the way out ends."""

    def __init__(self) -> None:
        self._hurried = asyncio.Event()
        self.begun = False

    def begin(self) -> None:
        """Mark the process as leaving."""
        self.begun = True

    def ask(self) -> None:
        """Handle a stop signal: leave, or hurry if already leaving."""
        if self.begun:
            self.hurry()
        self.begun = True

    def hurry(self) -> None:
        """End all waiting on the way out."""
        self._hurried.set()

    def problems(self) -> Sequence[str]:
        return ["this process is leaving"] if self.begun else []

    async def hurried(self) -> None:
        """Return once the shutdown is hurried."""
        await self._hurried.wait()

    async def within(self, seconds: float, waiting: Awaitable[object]) -> None:
        """Wait for the awaitable, at most this many seconds, and no longer once hurried."""
        work, hurry = asyncio.ensure_future(waiting), asyncio.ensure_future(self._hurried.wait())
        try:
            await asyncio.wait((work, hurry), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hurry.cancel()
            if not work.done():
                work.cancel()
                # Its clean-up ends before the next step of the shutdown begins.
                with suppress(asyncio.CancelledError):
                    await work
        if not work.cancelled():
            work.result()
