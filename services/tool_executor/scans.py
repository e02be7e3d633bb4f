"""Scans of folders, each shared by all who wait for it: a large folder takes seconds, and a repeated request must not
begin anew.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from libs.errors import Unavailable
from libs.workspace.scan import Check, Scan

GRACE_SECONDS = 3.0
"""How long a scan goes on without a waiting request: one that timed out is repeated at once, and joins it."""


class ScanAbandoned(Unavailable):
    """The scan was stopped because no request waited for it any more; retry."""

    code = "SCAN_ABANDONED"


@dataclass
class _Running:
    task: asyncio.Future[Scan] = field(init=False)
    waiting: int = 0
    left_at: float = inf

    def check(self) -> None:
        """Stop the scan's thread, which looks here between folders, once the last waiter has left it for a while."""
        if not self.waiting and time.monotonic() - self.left_at > GRACE_SECONDS:
            raise ScanAbandoned


class Scans:
    """The scans that run. `scan` runs in a thread and calls its check again and again."""

    def __init__(self, scan: Callable[[Path, Check], Scan]) -> None:
        self._scan = scan
        self._running: dict[Path, _Running] = {}

    async def of(self, folder: Path) -> Scan:
        """Return a scan that runs already, or begin one. A waiter that is cancelled does not stop it for the others."""
        running = self._running.get(folder) or self._begun(folder)
        running.waiting += 1
        try:
            return await asyncio.shield(running.task)
        finally:
            running.waiting -= 1
            running.left_at = time.monotonic()

    def _begun(self, folder: Path) -> _Running:
        running = self._running[folder] = _Running()
        running.task = asyncio.ensure_future(asyncio.to_thread(self._scan, folder, running.check))
        running.task.add_done_callback(lambda ended: self._ended(folder, ended))
        return running

    def _ended(self, folder: Path, ended: asyncio.Future[Scan]) -> None:
        self._running.pop(folder, None)
        if not ended.cancelled():
            # Waiters have it; without one it would be reported as an error that nobody handled.
            ended.exception()
