"""No request that was shaped to mislead changes what it must not."""

from __future__ import annotations

import pytest

from tests.evals import harm

SEED, MOST = 20261121, 25


@pytest.mark.requirement("S4-44")
async def test_missing_and_excluded_files_stay_unchanged() -> None:
    assert await harm.play(harm.sample(SEED, MOST)) == []
