"""Leaving: a process that was asked to stop finishes what it has in hand, within bounds; asked again, it hurries."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress


class Leaving:
    """Of one process. Nothing that is waited for on the way out is waited for any longer once someone is in a hurry."""

    def __init__(self) -> None:
        self._hurried = asyncio.Event()
        self.begun = False

    def begin(self) -> None:
        """We are on our way, whoever asked."""
        self.begun = True

    def ask(self) -> None:
        """Someone wants us to stop."""
        if self.begun:
            self._hurried.set()
        self.begun = True

    def problems(self) -> Sequence[str]:
        return ["this process is leaving"] if self.begun else []

    async def hurried(self) -> None:
        """Until someone is in a hurry."""
        await self._hurried.wait()

    async def within(self, seconds: float, waiting: Awaitable[object]) -> None:
        """Wait for something, at most so long, and not while we are hurried."""
        work, hurry = asyncio.ensure_future(waiting), asyncio.ensure_future(self._hurried.wait())
        try:
            await asyncio.wait((work, hurry), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hurry.cancel()
            if not work.done():
                work.cancel()
                with suppress(asyncio.CancelledError):
                    await work
        if not work.cancelled():
            work.result()
