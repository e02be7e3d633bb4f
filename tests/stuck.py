"""A test that does not end within minutes fails, and says where each thread and task waits.

Without a limit, one hung test uses up the whole run, and the output does not name it.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Generator, Iterator
from types import FrameType

import pytest

MOST = 900.0
"""Seconds of a test, of its fixtures before it and of those after it. The first test of a worker may build a server."""
GRACE = 60.0
"""Seconds after which a process that did not heed the limit is ended: its interpreter is stuck."""
AGAIN = 1.0
"""Seconds between raises: asyncio only logs what is raised within a callback."""
INNER = 12
"""Frames of a thread that are printed."""
SUSPENDED = (("cr_frame", "cr_await"), ("gi_frame", "gi_yieldfrom"), ("ag_frame", "ag_await"))
"""Attributes of a coroutine, a generator and an asynchronous generator: where it is, and for whom it waits."""


class TimeLimit:
    """Fails a test whose preparation, call or end takes longer than a limit, in seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._limited(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._limited(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._limited(item))

    def _limited(self, item: pytest.Item) -> Generator[None, object, object]:
        def end(_: int, frame: FrameType | None) -> None:
            pytest.fail(f"{item.nodeid} did not end within {self.seconds:g} s\n{_waiting(frame)}", pytrace=False)

        before = signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, self.seconds, AGAIN)
        faulthandler.dump_traceback_later(self.seconds + GRACE, exit=True, file=sys.__stderr__ or sys.stderr)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(TimeLimit(float(os.environ.get("SUMA_TEST_SECONDS", MOST))), "time-limit")


def _waiting(frame: FrameType | None) -> str:
    """Return the stacks of all threads, and of the tasks of the loop that runs in this one."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    mine = threading.get_ident()
    parts = [
        "".join(
            (f"thread {names.get(ident, ident)}:\n", *traceback.format_stack(frame if ident == mine else at)[-INNER:])
        )
        for ident, at in sys._current_frames().items()
    ]
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:
        tasks = set()
    parts += [f"task {task.get_name()}:\n" + "\n".join(_awaited(task.get_coro())) for task in tasks]
    return "\n".join(parts)


def _awaited(waiting: object) -> Iterator[str]:
    """Yield a line for each coroutine and generator of a chain, the outermost first."""
    while waiting is not None:
        here, further = next((names for names in SUSPENDED if hasattr(waiting, names[0])), (None, None))
        frame: FrameType | None = getattr(waiting, here) if here else None
        yield f"  {frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}" if frame else f"  {waiting!r}"
        waiting = getattr(waiting, further) if further else None
