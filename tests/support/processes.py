"""Processes that tests stop and kill: forked from a process with everything imported, so that they start at once."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(
    [
        "tests.infrastructure",
        "tests.support.echo_service",
        "tests.chaos.turn_scenario",
        "uvloop",
        "tests.support.preloaded",
    ]
)


class Child:
    """A process that runs `target(*args)`; both must be importable and picklable."""

    def __init__(self, target: Callable[..., None], *args: Any) -> None:
        self._process = _forks.Process(target=target, args=args, daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def stop(self) -> None:
        """Stop it (SIGSTOP), as a stalled machine would."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill it at once (SIGKILL)."""
        self._signal(signal.SIGKILL)

    async def ended(self, seconds: float = 60) -> int:
        """Return its exit code once it has ended; -9 for killed."""
        await asyncio.to_thread(self._process.join, seconds)
        code = self._process.exitcode
        assert code is not None, "the child did not end"
        return code

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)
