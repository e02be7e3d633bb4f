"""Sizes, dates and ages, read in three languages. The moment is noon of 21 November 2026, a Saturday."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from libs.models.offline.measures import measured, opposed

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

SIZES = [
    ("bigger than 10 MB", {"larger_than": 10_000_000}),
    (">10MB", {"larger_than": 10_000_000}),
    ("über 5 MB", {"larger_than": 5_000_000}),
    ("más de 2 GB", {"larger_than": 2_000_000_000}),
    ("larger than a gigabyte", {"larger_than": 1_000_000_000}),
    ("kleiner als 1,5 MB", {"smaller_than": 1_500_000}),
    ("at least 500kb", {"larger_than": 499_999}),
    ("10 MB or more", {"larger_than": 9_999_999}),
    ("between 1 and 5 MB", {"larger_than": 999_999, "smaller_than": 5_000_001}),
    ("0 byte", {"empty": True}),
    ("not bigger than 3 MB", {"smaller_than": 3_000_001}),
]
TIMES = [
    ("from June, July and August", {"modified_after": "2026-06-01", "modified_before": "2026-09-01"}),
    ("aus März und April 2024", {"modified_after": "2024-03-01", "modified_before": "2024-05-01"}),
    ("de mayo y junio del año pasado", {"modified_after": "2025-05-01", "modified_before": "2025-07-01"}),
    ("from this summer", {"modified_after": "2026-06-01", "modified_before": "2026-09-01"}),
    ("aus dem Herbst 2024", {"modified_after": "2024-09-01", "modified_before": "2024-12-01"}),
    ("de este verano", {"modified_after": "2026-06-01", "modified_before": "2026-09-01"}),
    ("from November last year", {"modified_after": "2025-11-01", "modified_before": "2025-12-01"}),
    ("was vor 2024", {"modified_before": "2024-01-01"}),
    ("from 2022 and 2023", {"modified_after": "2022-01-01", "modified_before": "2024-01-01"}),
    ("from last year", {"modified_after": "2025-01-01", "modified_before": "2026-01-01"}),
    ("letztes Jahr", {"modified_after": "2025-01-01", "modified_before": "2026-01-01"}),
    ("del año pasado", {"modified_after": "2025-01-01", "modified_before": "2026-01-01"}),
    ("de la semana pasada", {"modified_after": "2026-11-09", "modified_before": "2026-11-16"}),
    ("older than 2 weeks", {"modified_before": "2026-11-07T12:00:00Z"}),
    ("älter als zwei Wochen", {"modified_before": "2026-11-07T12:00:00Z"}),
    ("más antiguos que 6 meses", {"modified_before": "2026-05-21T12:00:00Z"}),
    ("de hace más de un año", {"modified_before": "2025-11-21T12:00:00Z"}),
    ("from two years ago", {"modified_after": "2024-01-01", "modified_before": "2025-01-01"}),
    ("von vor drei Jahren", {"modified_after": "2023-01-01", "modified_before": "2024-01-01"}),
    ("de hace dos meses", {"modified_after": "2026-09-01", "modified_before": "2026-10-01"}),
    ("from the last 3 days", {"modified_after": "2026-11-18T12:00:00Z"}),
    ("from May", {"modified_after": "2026-05-01", "modified_before": "2026-06-01"}),
    ("from December", {"modified_after": "2025-12-01", "modified_before": "2026-01-01"}),
    ("before 2023", {"modified_before": "2023-01-01"}),
    ("seit Mai", {"modified_after": "2026-05-01"}),
    ("antes del 1 de marzo de 2024", {"modified_before": "2024-03-01"}),
    ("vom 31.5.2024", {"modified_after": "2024-05-31", "modified_before": "2024-06-01"}),
    ("from today", {"modified_after": "2026-11-21"}),
    ("gestern", {"modified_after": "2026-11-20", "modified_before": "2026-11-21"}),
    ("haven't been modified since 2021", {"modified_before": "2021-01-01"}),
    ("die seit 2 Jahren nicht geändert wurden", {"modified_before": "2024-11-21T12:00:00Z"}),
    ("not older than 2 weeks", {"modified_after": "2026-11-07T12:00:00Z"}),
]


@pytest.mark.parametrize(("text", "filters"), [*SIZES, *TIMES], ids=[text for text, _ in (*SIZES, *TIMES)])
def test_a_size_or_a_time_is_read_as_a_filter(text: str, filters: dict[str, Any]) -> None:
    found = measured(f"the files {text} please", NOW)
    assert [dict(one.filters) for one in found] == [filters]


@pytest.mark.parametrize(
    "text", ["the files may be old", "move it to 2023", "the 3 oldest files", "huge files", "not from last year"]
)
def test_what_says_no_bound_is_no_filter(text: str) -> None:
    assert measured(text, NOW) == ()


def test_a_filter_stands_where_it_was_said() -> None:
    text = "delete pdfs older than 2 weeks and move images over 5 MB"
    assert [text[one.start : one.end] for one in measured(text, NOW)] == ["older than 2 weeks", "over 5 MB"]


def test_the_last_day_of_a_longer_month_has_a_month_before_it() -> None:
    (found,) = measured("older than a month", datetime(2026, 3, 31, 12, tzinfo=UTC))
    assert dict(found.filters) == {"modified_before": "2026-02-28T12:00:00Z"}


def test_only_one_bound_has_an_opposite() -> None:
    assert opposed({"larger_than": 5}) == {"smaller_than": 6}
    assert opposed({"modified_after": "2025-01-01", "modified_before": "2026-01-01"}) is None


@pytest.mark.parametrize("text", ["in march 24", "aus März 24", "de marzo del 24", "from march '24"])
def test_a_month_and_a_year_of_two_digits_are_that_month(text: str) -> None:
    (found,) = measured(text, NOW)
    assert dict(found.filters) == {"modified_after": "2024-03-01", "modified_before": "2024-04-01"}


def test_from_march_24_may_be_a_day_and_is_asked_about() -> None:
    (found,) = measured("from march 24", NOW)
    assert found.filters["several_times"] is True
