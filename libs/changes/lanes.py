"""Lanes: inputs of one key run one at a time, different keys run side by side (bus.md 1)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

Job = Callable[[], Awaitable[None]]


async def _held() -> None:
    """Fill the lane while its handling runs in a chain."""


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
        self._begin(lane)

    def hold(self, group: str, key: str) -> bool:
        """Take an idle lane until it is released; return whether it was idle."""
        lane = (group, key)
        if lane in self._queues:
            return False
        self._queues[lane] = deque((_held,))
        self._idle.clear()
        return True

    def release(self, group: str, key: str) -> None:
        """Let a held lane go on with the jobs that it has got meanwhile."""
        lane = (group, key)
        self._queues[lane].popleft()
        if self._queues[lane]:
            self._begin(lane)
        else:
            self._leave(lane)

    async def idle(self) -> None:
        """Wait until every lane is empty or stopped."""
        await self._idle.wait()

    async def close(self) -> None:
        """Cancel all running jobs."""
        # Again, since a cancelled job may release a lane that it held.
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, lane: tuple[str, str]) -> None:
        task = asyncio.get_running_loop().create_task(self._drain(lane))
        # The event loop keeps only weak references to its tasks.
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def _drain(self, lane: tuple[str, str]) -> None:
        queue = self._queues[lane]
        try:
            while queue:
                await queue[0]()
                queue.popleft()
        except Stopped:
            # Keep the queue, so that later jobs of this lane wait too.
            self._stopped.add(lane)
            self._settle()
        else:
            # No await since the queue was empty, so no job can be appended to a queue that is dropped.
            self._leave(lane)

    def _leave(self, lane: tuple[str, str]) -> None:
        del self._queues[lane]
        self._settle()

    def _settle(self) -> None:
        # A stopped lane never empties, so the host must not wait for it.
        if len(self._queues) == len(self._stopped):
            self._idle.set()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self.failed.done():
            self.failed.set_exception(error)
