"""The benchmark of a multimodal step runs, and the parts that a busy machine hardly slows keep their budgets."""

import pytest

from tests.benchmarks import multimodal

PARTS = ("capability", "policy", "portfolio", "picture")
"""The others begin a process in each round, whose time is that of the machine's other work."""


@pytest.mark.slow
@pytest.mark.requirement("S3-68", "S3-69", "S3-70", "S3-71")
async def test_routing_and_pictures_keep_their_budgets() -> None:
    rows, _ = await multimodal.measure(lambda _: None, quick=True)
    assert len(rows) == 2 * len(multimodal.BUDGETS)
    parts = [row for row in rows if row.name.startswith(PARTS)]
    assert [f"{row.name}: {row.value:.0f} {row.unit}" for row in parts if not row.holds] == []
