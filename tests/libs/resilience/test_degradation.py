"""Degradation levels: the thresholds of the specification, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from libs.resilience.degradation import ENOUGH, WINDOW_SECONDS, CallWindow, Level, level


@pytest.mark.requirement("S3-58")
@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ({}, Level.NONE),
        ({"seconds": 5.0, "errors": 0.1}, Level.NONE),
        ({"seconds": 5.1}, Level.MINOR),
        ({"errors": 0.11}, Level.MINOR),
        ({"seconds": 10.1}, Level.MODERATE),
        ({"errors": 0.21}, Level.MODERATE),
        ({"seconds": 15.1}, Level.SEVERE),
        ({"healthy": False}, Level.SEVERE),
        ({"healthy": False, "shut": True}, Level.CRITICAL),
    ],
)
def test_the_level_is_that_of_the_worst_sign(seen: dict[str, Any], expected: Level) -> None:
    assert level(**seen) is expected


def test_few_calls_give_no_error_rate_and_old_ones_expire() -> None:
    recent = CallWindow()
    for _ in range(ENOUGH - 1):
        recent.note(0.0, 0.1, ok=False)
    assert recent.level(1.0, healthy=True, shut=False) is Level.NONE
    recent.note(0.0, 0.1, ok=False)
    assert recent.level(1.0, healthy=True, shut=False) is Level.MODERATE
    assert recent.level(WINDOW_SECONDS + 1, healthy=True, shut=False) is Level.NONE
