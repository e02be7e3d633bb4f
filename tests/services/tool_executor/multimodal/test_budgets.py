"""The time budgets of the parts of a multimodal step, as `make bench` measures them."""

import pytest

from tests.benchmarks import multimodal


@pytest.mark.slow
@pytest.mark.requirement("S3-68", "S3-69", "S3-70", "S3-71", "S3-72", "S3-73", "S3-74")
async def test_every_part_keeps_its_budget() -> None:
    rows, _ = await multimodal.measure(lambda _: None, quick=True)
    assert len(rows) == 2 * len(multimodal.BUDGETS)
    assert [f"{row.name}: {row.value:.0f} {row.unit}" for row in rows if not row.holds] == []
