"""The gate: the offline planner changes no wrong file in a bundled case, and does most of what is asked.

It plays all held-out cases, and of the tuned ones the share that property tests try (SUMA_TEST_EXAMPLES=1 plays all).
"""

from __future__ import annotations

import pytest

from evals import cases
from evals.cases import HALVES
from evals.table import Tally
from tests.evals import in_process
from tests.support.examples import SHARE

LEAST = {"tuned": 0.9, "held-out": 0.9}
EVERY = {"tuned": max(1, round(1 / SHARE)), "held-out": 1}


@pytest.mark.parametrize("half", HALVES)
async def test_no_case_changes_a_wrong_file(half: str) -> None:
    wanted, agent = cases.half(half), in_process.Agent.offline()
    tally = Tally(tuple([await in_process.score(agent, wanted, case) for case in wanted.cases[:: EVERY[half]]]))
    assert not tally.wrong_changes
    assert tally.all.value >= LEAST[half]
