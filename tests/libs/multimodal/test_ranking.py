"""The ranking of candidates: its formula, and what it may not change."""

from __future__ import annotations

import pytest

from libs.multimodal.ranking import Outcomes, scores, ties_broken

GOOD = Outcomes(attempts=10, successes=9, latency_ms=10_000, quality=7.2, judged=9, cost_micros=100_000)
POOR = Outcomes(attempts=10, successes=5, latency_ms=40_000, quality=2.5, judged=5, cost_micros=400_000)


@pytest.mark.requirement("S3-20")
def test_score_follows_the_formula() -> None:
    by = scores({"good": GOOD, "poor": POOR}, ["good", "poor"])
    assert by["good"] == pytest.approx(0.4 * 0.9 + 0.2 * 0.75 + 0.3 * 0.8 + 0.1 * 0.75)
    assert by["poor"] == pytest.approx(0.4 * 0.5 + 0.2 * 0 + 0.3 * 0.5 + 0.1 * 0)


@pytest.mark.requirement("S3-20")
def test_candidate_without_outcomes_is_neither_praised_nor_blamed() -> None:
    by = scores({"good": GOOD, "poor": POOR}, ["good", "new", "poor"])
    assert by["good"] > by["new"] > by["poor"]


@pytest.mark.requirement("S3-22", "S3-23")
def test_ranking_breaks_ties_and_keeps_priorities() -> None:
    allowed = [(1, "first", "first"), (2, "poor", "poor"), (2, "good", "good")]
    assert ties_broken(allowed, {"first": 0.1, "poor": 0.2, "good": 0.9}) == ["first", "good", "poor"]
