"""Threads for hooks: each hook has an event loop of its own, so that one that blocks delays its own calls alone."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from libs.errors import Unavailable
from libs.hooks.loading import Hook

CALLS_MOST = 64
"""Calls of one hook that have not ended, those that are no longer awaited included."""


class HookBusy(Unavailable):
    """The hook still works on too many earlier calls."""

    code = "HOOK_BUSY"


@dataclass(frozen=True, slots=True)
class Answer:
    """The value that a hook returned, or the error with which it ended: `TimeoutError` if it did not end in time."""

    value: Any = None
    error: BaseException | None = None


class HookThread:
    """Calls one hook. The thread starts with the first call, and never keeps the process from its end."""

    def __init__(self, hook: Hook, seconds: float) -> None:
        self.hook, self._seconds = hook, seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: set[Future[Answer]] = set()

    async def call(self, about: object) -> Answer:
        """Return the hook's answer, within its time."""
        if len(self._calls) >= CALLS_MOST:
            return Answer(error=HookBusy())
        result: Future[Answer] = Future()
        self._calls.add(result)
        self._running().call_soon_threadsafe(self._begin, result, about)
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.wrap_future(result)
        except TimeoutError as late:
            return Answer(error=late)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            # A daemon: a hook that hangs must not hold up the end of the process.
            threading.Thread(target=self._loop.run_forever, name=f"hook {self.hook.name}", daemon=True).start()
        return self._loop

    def _begin(self, result: Future[Answer], about: object) -> None:
        """Begin the call in the hook's thread, unless it is no longer awaited."""
        if result.cancelled():
            self._calls.discard(result)
            return
        # Limited here as well: what its caller no longer awaits is cancelled, if it lets itself be.
        task = asyncio.ensure_future(asyncio.wait_for(_contained(self.hook, about), self._seconds))
        task.add_done_callback(partial(self._end, result))

    def _end(self, result: Future[Answer], task: asyncio.Future[Any]) -> None:
        self._calls.discard(result)
        error = RuntimeError("it cancelled itself") if task.cancelled() else task.exception()
        if result.set_running_or_notify_cancel():
            result.set_result(Answer(error=error) if error is not None else Answer(task.result()))


async def _contained(hook: Hook, about: object) -> Any:
    """Call the hook; its `sys.exit` is an error of its own, not the end of its thread."""
    try:
        return await hook.call(about)
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"it raised {type(error).__name__}") from error
