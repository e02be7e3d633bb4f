"""Counting and drawing: what a row, a word and a seed come to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.trial.count import Figures, Found, State, count, missing_hits, total
from tests.trial.schedule import Turn, Window, draw

ONE = Turn("t1", "plain", 0.0, ())


@pytest.mark.parametrize(
    ("state", "found", "wrong"),
    [
        ("completed", Found(1, 1), {}),
        ("completed", Found(2, 1), {"undone": 1}),
        ("completed", Found(3, 3), {"duplicates": 2}),
        ("completed", Found(), {"lost": 1}),
        ("completed", Found(1, 0), {"undone": 1, "lost": 1}),
        (None, Found(1, 1), {"lost": 1}),
        ("failed", Found(), {}),
        ("failed", Found(1, 1), {"untrue": 1}),
        ("unknown", Found(), {"unknown": 1}),
        ("unknown", Found(1, 1), {"unknown": 1}),
        ("unknown", Found(2, 2), {"unknown": 1, "doubled": 1}),
    ],
)
def test_turn_state_is_compared_with_the_effects_found(
    state: State | None, found: Found, wrong: dict[str, int]
) -> None:
    ended = {"t1": state} if state else {}
    counted = count([ONE], found={"t1": found}, ended=ended)
    assert counted == {"plain": replace(Figures(turns=1, effects=found.made), **wrong)}


def test_turn_settled_by_a_person_counts_as_unknown() -> None:
    counted = count([ONE], found={"t1": Found(2, 2)}, ended={"t1": "completed"}, unknown=["t1"])
    assert counted["plain"] == Figures(turns=1, effects=2, unknown=1, doubled=1)


@pytest.mark.parametrize("fault", ["duplicates", "lost", "untrue", "doubled"])
def test_single_fault_in_a_thousand_turns_is_not_clean(fault: str) -> None:
    figures = [Figures(turns=999, hits=400, effects=999), replace(Figures(turns=1), **{fault: 1})]
    assert not total(figures).clean


def test_too_few_hits_are_reported() -> None:
    figures = {"a": Figures(turns=250, hits=200), "b": Figures(turns=250, hits=49)}
    assert missing_hits(figures) == ["b: 49 of 250"]
    assert missing_hits({"a": Figures(turns=1000, hits=299)}) == ["all: 299 of 1000"]


def test_equal_seeds_draw_the_same_beginning() -> None:
    assert draw(7, 40, ("a", "b")) == draw(7, 80, ("a", "b"))[:40]
    assert draw(7, 40, ("a", "b")) != draw(8, 40, ("a", "b"))


def test_every_effect_is_drawn_equally_often_and_every_window() -> None:
    turns = draw(7, 1000, ("a", "b", "c", "d"))
    assert {effect: sum(turn.effect == effect for turn in turns) for effect in "abcd"} == dict.fromkeys("abcd", 250)
    assert {doom.window for turn in turns for doom in turn.dooms if doom} == set(Window)
