"""A turn's cost in counts, which do not depend on the machine's load (`make bench-turn` prints them)."""

from __future__ import annotations

import asyncio

import uvloop

from libs.database import Dsns
from tests.benchmarks.counts import BOUNDS, count


def test_turn_stays_within_its_bounds(where: Dsns) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        counted = runner.run(count(where)).counts
    assert {name: (value, BOUNDS[name]) for name, value in counted.items() if value > BOUNDS[name]} == {}
