"""The gate: the offline planner changes no wrong file in any bundled case, and does most of what is asked."""

from __future__ import annotations

import pytest

from services.cli.evals import cases
from services.cli.evals.cases import HALVES
from services.cli.evals.table import Tally
from tests.evals import in_process

LEAST = 0.9


@pytest.mark.parametrize("half", HALVES)
async def test_no_case_changes_a_wrong_file(half: str) -> None:
    wanted = cases.half(half)
    tally = Tally(tuple(await in_process.scores(in_process.Agent.offline(), wanted, wanted.cases)))
    assert not tally.wrong_changes
    assert tally.all.value >= LEAST
