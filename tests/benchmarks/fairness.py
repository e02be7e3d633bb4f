"""One tenant with ten thousand queued turns and a slow tool; meanwhile another's single turns on the same partition."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.text import Text

from libs.runtime.host import DEFAULT_PACE
from tests import infrastructure
from tests.benchmarks.contest import Server
from tests.benchmarks.rows import Row, most
from tests.fairness import HOG, Backlog, Caller, Slow
from tests.support import platform

TOOL_SECONDS = 1.0
AT_ONCE = 8
"""The hog's calls that one executor runs side by side."""
PORTION = 500


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    queued, guests = (1_000, 3) if quick else (10_000, 10)
    with tempfile.TemporaryDirectory() as folder:
        async with (
            Server.started() as server,
            infrastructure.fresh_database(server.postgres, await platform.template(server.postgres)) as where,
            platform.run_platform(
                where,
                Path(folder),
                model=Caller(),
                tools=[Slow(TOOL_SECONDS)],
                pace=DEFAULT_PACE,
            ) as at,
        ):
            backlog = Backlog(at)
            return await _measured(backlog, tell, queued, guests), Text()


async def _measured(backlog: Backlog, tell: Callable[[str], None], queued: int, guests: int) -> list[Row]:
    tell("turns alone")
    alone = [await _turn(backlog) for _ in range(guests)]
    for n in range(queued // PORTION):
        tell(f"{n * PORTION} of {queued} turns of the hog are queued")
        await backlog.hog(PORTION)
    beside = []
    for n in range(guests):
        tell(f"turn {n + 1} of {guests} beside {queued}")
        beside.append(await _turn(backlog))
    turns, seconds = [turns for turns, _ in beside], [took for _, took in beside]
    name = f"beside {queued:,} queued turns of another tenant"
    usual = statistics.median(took for _, took in alone) * 1000
    return [
        # Three rounds of what the hog has under way at once.
        Row(f"{name}: its turns that end during one of ours, most", max(turns), "turns", goal=most(3 * AT_ONCE)),
        Row(f"{name}: the first turn after it was queued", seconds[0] * 1000, "ms", "the same turn alone", usual),
        Row(f"{name}: turn p50", statistics.median(seconds) * 1000, "ms", "the same turn alone", usual),
    ]


async def _turn(backlog: Backlog) -> tuple[int, float]:
    """How many turns of the hog ended during one of the guest's, and how long that took."""
    before, began = await backlog.ended(HOG), time.perf_counter()
    await backlog.guest()
    took = time.perf_counter() - began
    return await backlog.ended(HOG) - before, took
