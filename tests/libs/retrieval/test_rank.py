"""When a match may be trusted, and how rankings are fused."""

from __future__ import annotations

import pytest

from libs.retrieval import Match, confident, fuse


def ranked(*scores: float) -> list[Match]:
    return [Match(f"skill-{n}", score) for n, score in enumerate(scores)]


@pytest.mark.requirement("S4-46", "A27")
@pytest.mark.parametrize("top", [n / 100 for n in range(71, 101)])
def test_a_gap_of_exactly_five_hundredths_is_not_confident(top: float) -> None:
    assert not confident(ranked(top, top - 0.05))
    assert not confident(ranked(top, round(top - 0.05, 2)))


@pytest.mark.requirement("S4-46")
def test_a_clear_lead_above_the_threshold_is_confident() -> None:
    assert confident(ranked(0.94, 0.60))
    assert confident(ranked(0.75, 0.6999))
    assert confident(ranked(0.71))


@pytest.mark.requirement("S4-46", "S4-48")
@pytest.mark.parametrize("scores", [(0.72, 0.69), (0.70, 0.10), (0.70,), (0.1 + 0.6, 0.0), (0.5, 0.1), ()])
def test_a_near_miss_or_a_low_score_is_not_confident(scores: tuple[float, ...]) -> None:
    assert not confident(ranked(*scores))


def test_what_both_rankings_hold_high_comes_first() -> None:
    assert [match.id for match in fuse(["a", "b", "c"], ["b", "d"])] == ["b", "a", "d", "c"]


def test_equal_places_come_by_id() -> None:
    assert [match.id for match in fuse(["b"], ["a"])] == ["a", "b"]
