"""One scan of a folder serves all who wait for it, and ends when nobody does."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from libs.workspace.scan import Check, Scan
from services.tool_executor import scans
from services.tool_executor.scans import ScanAbandoned, Scans


class Slow:
    """A scan that goes on until it is released, as that of a large folder does."""

    def __init__(self) -> None:
        self.began = 0
        self.released, self.stopped = threading.Event(), threading.Event()

    def __call__(self, folder: Path, check: Check) -> Scan:
        self.began += 1
        try:
            while not self.released.wait(0.01):
                check()
        except ScanAbandoned:
            self.stopped.set()
            raise
        return Scan.of(folder)


async def test_one_scan_serves_all_waiting_callers(tmp_path: Path) -> None:
    slow = Slow()
    shared = Scans(slow)
    waiting = [asyncio.ensure_future(shared.of(tmp_path)) for _ in range(12)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    slow.released.set()
    found = await asyncio.gather(*waiting[1:])
    assert (slow.began, len({id(scan) for scan in found})) == (1, 1)
    assert waiting[0].cancelled()


async def test_repeated_request_joins_the_scan_it_left(tmp_path: Path) -> None:
    slow = Slow()
    shared = Scans(slow)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await shared.of(tmp_path)
    again = asyncio.ensure_future(shared.of(tmp_path))
    await asyncio.sleep(0)
    slow.released.set()
    await again
    assert slow.began == 1


async def test_abandoned_scan_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "GRACE_SECONDS", 0.05)
    slow = Slow()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await Scans(slow).of(tmp_path)
    assert await asyncio.to_thread(slow.stopped.wait, 30)
