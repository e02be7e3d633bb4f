"""A number, a month or a year in names may be a bound of what is to go."""

from __future__ import annotations

import pytest

from libs.models.offline.gist.bounds import dated, listed_years, numbered

pytestmark = pytest.mark.requirement("S4-44")
WEEKS = ("rota wk 31.xlsx", "rota wk 32.xlsx", "rota wk 33.xlsx")
MONTHS = ("slip 09-2025.pdf", "slip 01-2026.pdf", "slip 02-2026.pdf")
YEARS = ("rates 2024.pdf", "rates 2025.pdf", "rates 2026.pdf")


@pytest.mark.parametrize(
    ("said", "let"),
    [
        ("before wk 33", WEEKS[:2]),
        ("bis woche 32", WEEKS[:2]),
        ("a partir de la semana 32", WEEKS[1:]),
        ("after wk 31", WEEKS[1:]),
    ],
)
def test_numbers_behind_a_word_of_the_names(said: str, let: tuple[str, ...]) -> None:
    (bound,) = numbered(said, WEEKS)
    assert tuple(filter(bound.lets, WEEKS)) == let


@pytest.mark.parametrize(("said", "let"), [("vor 02-2026", MONTHS[:2]), ("before 2026-01", MONTHS[:1])])
def test_months_of_the_names(said: str, let: tuple[str, ...]) -> None:
    (bound,) = dated(said, MONTHS)
    assert tuple(filter(bound.lets, MONTHS)) == let


@pytest.mark.parametrize("said", ["from 2024 and 2025", "von 2024 und 2025", "de 2024 y 2025"])
def test_years_that_are_listed(said: str) -> None:
    (bound,) = listed_years(said, YEARS)
    assert tuple(filter(bound.lets, YEARS)) == YEARS[:2]


def test_a_word_that_no_name_has_is_no_bound() -> None:
    assert [*numbered("before lunch 12", WEEKS)] == []
