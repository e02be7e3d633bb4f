"""Intents: the properties that make two effects equal."""

from __future__ import annotations

from typing import Any

import pytest

from libs.keys.canonical import Uncanonical
from libs.tools import identify

ABOUT: dict[str, Any] = {
    "tenant": "acme",
    "session": "s1",
    "step": "p1",
    "tool": "mail.send",
    "args": {"to": "ada", "n": 1},
}


def test_equal_intents_have_one_id_in_any_spelling() -> None:
    assert identify(**ABOUT) == identify(**{**ABOUT, "args": {"n": 1.0, "to": "ada"}})


@pytest.mark.parametrize(
    "other",
    [
        {"tenant": "other"},
        {"session": "s2"},
        {"step": "p2"},
        {"tool": "mail.draft"},
        {"args": {"to": "ada", "n": 2}},
        {"args": {"to": "ada"}},
    ],
)
def test_any_difference_makes_another_intent(other: dict[str, Any]) -> None:
    assert identify(**ABOUT) != identify(**{**ABOUT, **other})


def test_parts_of_an_intent_do_not_run_together() -> None:
    assert identify(**{**ABOUT, "session": "s1p", "step": "1"}) != identify(**{**ABOUT, "session": "s1", "step": "p1"})


def test_value_that_is_not_json_has_no_intent_id() -> None:
    with pytest.raises(Uncanonical):
        identify(**{**ABOUT, "args": {"n": float("nan")}})
