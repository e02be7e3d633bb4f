"""Gateways that are killed and clients that are cut: each viewer sees every event once, and a tab finds all (A22b)."""

from __future__ import annotations

import pytest

from libs.database import Dsns
from tests.chaos import streams


@pytest.mark.requirement("A22b", "A19")
async def test_viewers_of_killed_gateways_see_each_event_once(gateway_where: Dsns) -> None:
    account = await streams.run(gateway_where, kills=5, cuts=100, seed=1)
    assert account.problems == []
    assert account.returns >= 100
