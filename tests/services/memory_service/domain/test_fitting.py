"""Which memories fit a question by their words and their time."""

from __future__ import annotations

from datetime import date

import pytest

from libs.search import HashedEmbedder
from services.memory_service.domain import fitting
from services.memory_service.domain.periods import Period, period
from services.memory_service.domain.ranking import fused
from tests.services.memory_service.domain.memories import memory

TODAY = date(2026, 11, 28)


@pytest.mark.parametrize(
    ("question", "first", "end"),
    [
        ("What did I say last March?", (2026, 3, 1), (2026, 4, 1)),
        ("What did I say last November?", (2025, 11, 1), (2025, 12, 1)),
        ("What did I tell you in December?", (2025, 12, 1), (2026, 1, 1)),
        ("What was the rent in spring?", (2026, 3, 1), (2026, 6, 1)),
        ("Where did we go in winter 2024?", (2024, 12, 1), (2025, 3, 1)),
        ("Where was the studio before September?", None, (2026, 9, 1)),
        ("What happened since October?", (2026, 10, 1), None),
        ("What happened after May 2025?", (2025, 6, 1), None),
        ("What did I write this week?", (2026, 11, 23), (2026, 11, 30)),
        ("What did I write last month?", (2026, 10, 1), (2026, 11, 1)),
        ("What did I write yesterday?", (2026, 11, 27), (2026, 11, 28)),
        ("What did it cost in 2024?", (2024, 1, 1), (2025, 1, 1)),
    ],
)
def test_question_about_the_past_names_a_period(
    question: str, first: tuple[int, int, int] | None, end: tuple[int, int, int] | None
) -> None:
    assert period(question, TODAY) == Period(first and date(*first), end and date(*end))


@pytest.mark.parametrize(
    "question",
    [
        "What happens on 29 November?",
        "When do we go skiing in February?",
        "May I promise it?",
        "What did the roofer find?",
    ],
)
def test_other_questions_name_no_period(question: str) -> None:
    assert period(question, TODAY) is None


def test_memories_of_the_named_period_come_first() -> None:
    letters = [memory("a letter to the council", month=3), memory("another letter to the council", month=9)]
    [first, second] = fitting.timely(fused(letters), letters, "What did I write to the council in September?", TODAY)
    assert (first.id, second.id) == ("m-9", "m-3")
    assert first.sources[-1].name == fitting.TIME


def test_newer_of_two_statements_comes_first() -> None:
    rents = [memory("The rent is 900 pounds", month=1), memory("From July the rent is 950 pounds", month=6)]
    ranked = fused(rents)
    assert [match.id for match in ranked] == ["m-1", "m-6"]
    ordered = fitting.newest_first(ranked, rents, "How high is the rent?", TODAY)
    assert [match.id for match in ordered] == ["m-6", "m-1"]
    assert [match.score for match in ordered] == [match.score for match in ranked]
    assert fitting.newest_first(ranked, rents, "How high was the rent before July?", TODAY) == ranked


def test_newer_statement_on_another_subject_stays_behind() -> None:
    told = [memory("The rent is 900 pounds", month=1), memory("Rent a van on Friday", month=6)]
    assert fitting.newest_first(fused(told), told, "How high is the rent?", TODAY) == fused(told)


def test_fit_does_not_depend_on_other_memories() -> None:
    dentist = memory("The dentist moved to Mill Lane", month=1)
    fits = fitting.fits("Which flowers does she hate?", [dentist], HashedEmbedder().calibrate)
    assert fits["m-1"] < fitting.LEAST
    fits = fitting.fits("Where is the dentist?", [dentist], HashedEmbedder().calibrate)
    assert fits["m-1"] == 1
