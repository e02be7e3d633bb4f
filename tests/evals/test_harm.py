"""No request that was shaped to mislead changes what it must not."""

from __future__ import annotations

import pytest

from tests.evals import harm

SEED, MOST = 20261121, 25


@pytest.mark.requirement("S4-44")
async def test_what_is_not_there_and_what_is_to_be_left_alone_stays_as_it_is() -> None:
    assert await harm.play(harm.sample(SEED, MOST)) == []
