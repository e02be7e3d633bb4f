"""Answers in words: the clear ones count, and none costs more than its length."""

from __future__ import annotations

import time

import pytest

from libs.events import ApprovalRequested
from services.gateway.surfaces.questions import WORDS_MOST, answer_to

ITEMS = ({"id": "a.txt"}, {"id": "b and c.txt"}, {"id": "d.txt"})
QUESTION = ApprovalRequested(
    turn_id="t", approval_id="a", kind="step", digest="d", title="Move?", expires_in=60, items=ITEMS
)


@pytest.mark.parametrize(
    ("said", "verdict", "exclude"),
    [
        ("approve", "approve", ()),
        ("  Yes. ", "approve", ()),
        ("approve except 1, 3", "override", ("a.txt", "d.txt")),
        ("ok, all but not 1 and 3.", "override", ("a.txt", "d.txt")),
        ("yes without:\n“a.txt”\n2", "override", ("a.txt", "b and c.txt")),
        ("no: those are my papers", "deny", ()),
        ("don't", "deny", ()),
    ],
)
def test_clear_text_is_an_answer(said: str, verdict: str, exclude: tuple[str, ...]) -> None:
    answer = answer_to(QUESTION, said)
    assert answer is not None
    assert (answer.verdict, answer.exclude) == (verdict, exclude)


@pytest.mark.parametrize("said", ["maybe", "approve except 4", "yes and no", "", "{", "approve except"])
def test_unclear_text_is_no_answer(said: str) -> None:
    assert answer_to(QUESTION, said) is None


@pytest.mark.parametrize("size", [WORDS_MOST - 40, 1_000_000])
@pytest.mark.parametrize(
    "hostile",
    ["approve except a{}b", "no:{}x", "no{}", "yes{}except 1", "approve except 1{},", "{}", "approve except {}and b"],
)
@pytest.mark.parametrize("filler", [" ", "\n", " \n", ".", ",", " and", "a"])
def test_hostile_words_cost_no_more_than_their_length(hostile: str, filler: str, size: int) -> None:
    said = hostile.format(filler * (size // len(filler)))
    began = time.process_time()
    answer_to(QUESTION, said)
    assert time.process_time() - began < 0.2
