"""Lanes: one input of a key at a time, keys side by side (bus.md 1)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

Job = Callable[[], Awaitable[None]]


class Stopped(Exception):
    """Raised by a job after which its lane must not go on; the others do."""


class Lanes:
    """The queues of one process, one for each key.

    A job that raises ends the process: `failed` tells its host. One that raises `Stopped` ends its own lane alone.
    """

    def __init__(self) -> None:
        self._queues: dict[tuple[str, str], deque[Job]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped: set[tuple[str, str]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def submit(self, group: str, key: str, job: Job) -> None:
        """Queue a job behind the others of its key. Callers bound what they submit."""
        lane = (group, key)
        queue = self._queues.get(lane)
        if queue is not None:
            queue.append(job)
            return
        self._queues[lane] = deque((job,))
        self._idle.clear()
        task = asyncio.get_running_loop().create_task(self._drain(lane))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def idle(self) -> None:
        """Wait until every lane is empty or stopped."""
        await self._idle.wait()

    async def close(self) -> None:
        """Drop whatever is still under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _drain(self, lane: tuple[str, str]) -> None:
        queue = self._queues[lane]
        try:
            while queue:
                await queue[0]()
                queue.popleft()
            del self._queues[lane]
        except Stopped:
            # Its queue stays, so that what comes later waits too.
            self._stopped.add(lane)
        if len(self._queues) == len(self._stopped):
            self._idle.set()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self.failed.done():
            self.failed.set_exception(error)
