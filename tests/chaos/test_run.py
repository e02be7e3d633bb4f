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

SECONDS = 12.0
OFTENER = 2.5
"""Faults follow each other so much sooner than in a long run, where something is to happen in between."""
SEEDS = {"embedded": 25480, "split": 14942, "production": 11247}
"""Each has a process killed, one stopped beyond its leases, a server lost, and, where records can be delivered again,
that."""


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
async def test_under_load_whatever_breaks_nothing_is_lost_and_nothing_happens_twice(
    chosen: Callable[[], Profile], tmp_path: Path
) -> None:
    profile = chosen()
    sooner = replace(profile, gap=(profile.gap[0] / OFTENER, profile.gap[1] / OFTENER))
    plan = Plan(sooner, SEEDS[profile.name], SECONDS, people=3, late=2 * SECONDS)
    ended = await run(plan, tmp_path, tell=print)
    assert ended.problems == {}
    assert ended.looked_at["turns"] > 0
    assert ended.faults.happened
