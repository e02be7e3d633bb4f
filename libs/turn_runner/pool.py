"""The containers of one process: how many there may be, which of them wait, and the records of those that ended."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from libs import ids
from libs.budgets import Payer
from libs.turn_runner.config import Config
from libs.turn_runner.container import Container

KEPT_MOST = 200
"""Records that are kept, the newest."""
FAILED = "failed"


class Pool:
    """A place for each container, with a share for each tenant. Containers that wait give up their places to others."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._warm: dict[Payer, tuple[Container, asyncio.TimerHandle]] = {}
        self._open: Counter[str] = Counter()
        self._changed = asyncio.Condition()
        self._ending: set[asyncio.Task[None]] = set()

    async def enter(self, tenant: str) -> None:
        """Wait for a place."""
        async with self._changed:
            while (full := self._open[tenant] >= self._config.at_once_per_tenant) or self._is_full:
                waits = next((turn for turn in self._warm if turn.tenant == tenant or not full), None)
                if waits is not None and (container := self.take(waits)) is not None:
                    self._spawn(self.end(container, "evicted"))
                await self._changed.wait()
            self._open[tenant] += 1

    async def end(self, container: Container, how: str) -> None:
        """End a container, record it as the settings say, and give up its place."""
        keep, home = self._config.keep, self._config.home
        try:
            if home is not None and (keep == "all" or (keep == FAILED and how.startswith(FAILED))):
                # A record that cannot be written must not keep a turn from ending.
                with suppress(OSError):
                    await asyncio.to_thread(container.record, home / f"{container.turn.turn}-{ids.new()}", how)
        finally:
            await container.close()
            async with self._changed:
                self._open[container.turn.tenant] -= 1
                self._changed.notify_all()

    async def put(self, container: Container) -> None:
        """Let a container wait for the results of its calls, for a while."""
        if (other := self.take(container.turn)) is not None:
            await self.end(other, "replaced")
        timer = asyncio.get_running_loop().call_later(self._config.idle_seconds, self._expire, container)
        self._warm[container.turn] = container, timer
        async with self._changed:
            self._changed.notify_all()

    def take(self, turn: Payer) -> Container | None:
        """Return the container that waits for this turn, which then waits no more."""
        container, timer = self._warm.pop(turn, (None, None))
        if timer is not None:
            timer.cancel()
        return container

    async def close(self) -> None:
        for turn in list(self._warm):
            if (container := self.take(turn)) is not None:
                self._spawn(self.end(container, "stopped"))
        if self._ending:
            await asyncio.wait(self._ending)

    def sweep(self, now: float) -> None:
        """Remove records that are too old or too many."""
        home = self._config.home
        if home is None or not home.is_dir():
            return
        by_age = sorted(((folder.stat().st_mtime, folder) for folder in home.iterdir()), reverse=True)
        for place, (made, folder) in enumerate(by_age):
            if place >= KEPT_MOST or made < now - self._config.keep_seconds:
                shutil.rmtree(folder, ignore_errors=True)

    @property
    def _is_full(self) -> bool:
        return self._open.total() >= self._config.at_once

    def _expire(self, container: Container) -> None:
        if self._warm.get(container.turn, (None,))[0] is container:
            self.take(container.turn)
            self._spawn(self.end(container, "idle"))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
