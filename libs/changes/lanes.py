"""Lanes: inputs of one key run one at a time, different keys run side by side (bus.md 1)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

Job = Callable[[], Awaitable[None]]


class Stopped(Exception):
    """Raised by a job to stop its own lane; other lanes go on."""


class Lanes:
    """One queue per key in this process.

    A job that raises ends the process through `failed`. A job that raises `Stopped` ends only its own lane.
    """

    def __init__(self) -> None:
        self._queues: dict[tuple[str, str], deque[Job]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped: set[tuple[str, str]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def submit(self, group: str, key: str, job: Job) -> None:
        """Append a job to its key's lane. Callers limit how many they submit."""
        lane = (group, key)
        queue = self._queues.get(lane)
        if queue is not None:
            queue.append(job)
            return
        self._queues[lane] = deque((job,))
        self._idle.clear()
        task = asyncio.get_running_loop().create_task(self._drain(lane))
        # The event loop keeps only weak references to its tasks.
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def idle(self) -> None:
        """Wait until every lane is empty or stopped."""
        await self._idle.wait()

    async def close(self) -> None:
        """Cancel all running jobs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _drain(self, lane: tuple[str, str]) -> None:
        queue = self._queues[lane]
        try:
            while queue:
                await queue[0]()
                queue.popleft()
            # No await since the queue was empty, so no job can be appended to a queue that is dropped.
            del self._queues[lane]
        except Stopped:
            # Keep the queue, so that later jobs of this lane wait too.
            self._stopped.add(lane)
        # A stopped lane never empties, so the host must not wait for it.
        if len(self._queues) == len(self._stopped):
            self._idle.set()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self.failed.done():
            self.failed.set_exception(error)
