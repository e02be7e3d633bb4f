"""Answers without a person: what --yes covers, and what it cannot."""

from __future__ import annotations

import pytest

from services.cli.asking import Nobody, Yes, chosen
from services.cli.errors import NobodyToAsk

QUESTION = {"title": "Commit 2 changes", "items": [{"id": "a", "change": "moved"}]}


def test_yes_approves() -> None:
    assert Yes().decide(QUESTION) == {"verdict": "approve"}


@pytest.mark.requirement("A26")
def test_yes_leaves_out_what_someone_else_changed() -> None:
    question = {**QUESTION, "items": [{"id": "theirs", "conflict": True}, *QUESTION["items"]]}
    assert Yes().decide(question) == {"verdict": "override", "exclude": ["theirs"]}


def test_yes_is_no_answer_to_a_real_question() -> None:
    with pytest.raises(NobodyToAsk, match="which folder"):
        Yes().clarify("which folder?", [])


def test_without_a_terminal_a_question_stays_open() -> None:
    with pytest.raises(NobodyToAsk, match="waits for an answer: Commit 2 changes"):
        Nobody("s1").decide(QUESTION)


@pytest.mark.parametrize(
    ("text", "numbers"), [("1,3-5", [1, 3, 4, 5]), ("2 2", [2]), ("", []), (" 5 ", [5]), ("1-", [1])]
)
def test_numbers_are_chosen_one_by_one_or_from_to(text: str, numbers: list[int]) -> None:
    assert chosen(text, 5) == numbers


@pytest.mark.parametrize("text", ["6", "0", "x", "2-9", "-1"])
def test_a_number_that_is_not_there_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"there is no|is no number"):
        chosen(text, 5)
