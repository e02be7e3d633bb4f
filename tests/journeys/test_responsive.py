"""The platform answers while it plans: neither a long message nor a large folder holds its event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import httpx

from libs.clock import SystemClock
from libs.database import Dsns
from libs.models.offline import OfflineModel
from tests.journeys.installation import Installation
from tests.journeys.test_start_and_stop import seen
from tests.support.platform import categories
from tests.support.stack import served

WITHIN = 0.05
"""Seconds of one answer, beside what the machine's other work takes."""
STALL = 1.0
"""Seconds that no answer takes, whatever else the machine does: half of what one plan may take."""
MANY, DEEP = 100_000, 1_000
LONG = "find duplicates and " * 98 + "delete the blurry ones"
"""Almost as long as a request may be; its plan takes a second or more."""


@dataclass
class HeldClock:
    """The planner's clock. Its first reading blocks the thread that plans until `released` is set."""

    reached: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    in_time: bool = False

    def now(self) -> datetime:
        if not self.reached.is_set():
            self.reached.set()
            self.in_time = self.released.wait(60)
        return SystemClock().now()


def _fill(folder: Path) -> None:
    for top in range(MANY // DEEP):
        (folder / f"{top}").mkdir(parents=True)
        for n in range(DEEP):
            (folder / f"{top}" / f"report_{n}.txt").touch()


async def _asked(api: httpx.AsyncClient, text: str, root: Path) -> None:
    """One message, until it is answered or asked about."""
    said = (await api.post("/v1/sessions/message", json={"text": text, "root": str(root)})).json()
    waits = [
        asyncio.ensure_future(seen(api, said["session_id"], kind))
        for kind in ("clarification.requested", "message.completed")
    ]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()


async def _health(api: httpx.AsyncClient, until: asyncio.Future[object]) -> Sequence[float]:
    """How long each of a row of health checks took, one after the other."""
    took: list[float] = []
    while not until.done() or not took:
        began = time.perf_counter()
        assert (await api.get("/healthz")).status_code == 200
        took.append(time.perf_counter() - began)
        await asyncio.wait([until], timeout=0.01)
    return sorted(took)


def _usual(took: Sequence[float]) -> float:
    """All but the slowest tenth: other processes of a test run may hold both cores for a moment."""
    return took[int(len(took) * 0.9) - 1]


async def test_health_is_answered_at_once_during_a_long_plan(live: Installation) -> None:
    big, small = live.folder / "big", live.folder / "small"
    await asyncio.to_thread(_fill, big)
    small.mkdir()
    prose = "Please move the holiday photos of 2019 that are bigger than the others. " * 1_400
    async with live.api() as api:
        quiet = _usual(await _health(api, asyncio.ensure_future(asyncio.to_thread(time.monotonic))))
        asked = asyncio.gather(_asked(api, prose[:100_000], small), _asked(api, "how many reports are there?", big))
        async with asyncio.timeout(120):
            busy = await _health(api, asyncio.ensure_future(asked))
    assert len(busy) > 10
    assert busy[-1] < STALL, busy[-5:]
    assert _usual(busy) < WITHIN + quiet, (quiet, busy[-5:])


async def test_other_requests_are_answered_during_a_long_plan(where: Dsns, tmp_path: Path) -> None:
    clock = HeldClock()
    model = OfflineModel(categories(), now=clock.now)
    async with served(where, tmp_path, model=model) as stack, stack.api() as api:
        slow, quick = stack.folder("slow"), stack.folder("quick", a_txt="a")
        planned = asyncio.ensure_future(_asked(api, LONG, slow))
        assert await asyncio.to_thread(clock.reached.wait, 60)
        for _ in range(20):
            assert (await api.get("/healthz")).status_code == 200
        await _asked(api, "how many files are here?", quick)
        clock.released.set()
        while not planned.done():
            assert (await api.get("/healthz")).status_code == 200
        assert clock.in_time, "nothing was answered before the plan ended"
