"""A short run of chaos on each profile: whatever is killed, stopped, cut and delivered again, nothing is lost, nothing
happens twice, and everything stays in order. `make chaos` is the long one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.local import kafka, opa, s3
from deploy.local.cache import Unprovided
from tests.chaos.profiles import EMBEDDED, PRODUCTION, SPLIT, Profile
from tests.chaos.run import Plan, run

SECONDS, WARM = 6.0, 1.5
OFTENER = 5.0
"""Faults follow each other so much sooner than in a long run, where something is to happen in between."""
SEEDS = {"embedded": 5553, "split": 17311, "production": 11247}
"""Each has a process killed, one stopped beyond its leases, a server lost, and, where records can be delivered again,
that."""
AHEAD = {"embedded": 14.0, "split": 9.0, "production": 6.0}
"""The one process of `embedded` is stopped alone. Of `production`, one also sleeps beyond Kafka's session (10 s)."""


def separate() -> Profile:
    """Six processes: on production's servers where they can be had, which breaks all that split does and more."""
    try:
        for build in (kafka.jars, opa.program, s3.program):
            build()
    except Unprovided as reason:
        print(f"on PostgreSQL alone: {reason}")
        return SPLIT
    return PRODUCTION


@pytest.mark.requirement("A10", "A11", "A12", "A17", "A18", "A20")
@pytest.mark.parametrize("chosen", [lambda: EMBEDDED, separate], ids=["embedded", "separate"])
async def test_faults_under_load_lose_nothing_and_repeat_nothing(chosen: Callable[[], Profile], tmp_path: Path) -> None:
    profile = chosen()
    sooner = replace(profile, gap=(profile.gap[0] / OFTENER, profile.gap[1] / OFTENER))
    seed, ahead = SEEDS[profile.name], AHEAD[profile.name]
    plan = Plan(sooner, seed, SECONDS, people=3, warm=WARM, late=4 * SECONDS, ahead=ahead)
    ended = await run(plan, tmp_path, tell=print)
    assert ended.problems == {}
    assert ended.looked_at["turns"] > 0
    assert ended.faults.happened
