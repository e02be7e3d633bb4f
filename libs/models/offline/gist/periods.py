"""Times that names tell: "those of March" are `plan March.pdf` and `plan 2026-03.pdf`, whenever they were saved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from libs.models.offline.measures import Measured
from libs.retrieval.lexicon import listed
from libs.retrieval.words import fold
from libs.skills import date_in

MONTH = 31
"""Days of one at most."""
MONTH_NAMES: Mapping[int, frozenset[str]] = {
    n: listed(names)
    for n, names in enumerate(
        (
            "january jan januar enero ene",
            "february feb februar febrero",
            "march mar marz maerz marzo",
            "april apr abril abr",
            "may mai mayo",
            "june jun juni junio",
            "july jul juli julio",
            "august aug agosto ago",
            "september sept sep septiembre",
            "october oct oktober okt octubre",
            "november nov noviembre",
            "december dec dezember dez diciembre dic",
        ),
        1,
    )
}


def in_period(path: str, one: Measured) -> bool:
    """Does the name tell a date in this time? A month alone is that of any year."""
    first, last = days_of(one)
    name = path.rpartition("/")[2]
    told = date_in(name)
    if first is None or last is None:
        return False
    if told is None:
        return (last - first).days <= MONTH and _month_in(name) == first.month == last.month
    year, month = int(told[0]), int(told[1]) if told[1] else _month_in(name)
    begins = date(year, month or 1, 1)
    ends = date(year, month, 28) if month else date(year, 12, 31)
    return first <= begins and ends <= last if month or (last - first).days > MONTH else False


def in_its_month(path: str, one: Measured) -> bool:
    """Of whatever year: "the one of March"."""
    first, last = days_of(one)
    name = path.rpartition("/")[2]
    told = date_in(name)
    month = int(told[1]) if told is not None and told[1] else _month_in(name)
    monthly = first is not None and last is not None and (first.month > 1 or (last - first).days <= MONTH)
    return monthly and first is not None and month == first.month


def told_by_names(one: Measured, paths: Sequence[str]) -> bool:
    """Do most of these say when they are of, as far as this time asks for?"""
    first, last = days_of(one)
    if first is None or last is None or not _whole_months(first, last):
        return False
    monthly = first.month > 1 or (last - first).days <= MONTH
    told = [path for path in paths if _tells(path.rpartition("/")[2], monthly=monthly)]
    return bool(paths) and len(told) * 3 >= len(paths) * 2


def _whole_months(first: date, last: date) -> bool:
    return first.day == 1 and (last == date.max or (last + timedelta(days=1)).day == 1)


def _tells(name: str, *, monthly: bool) -> bool:
    told = date_in(name)
    if not monthly:
        return told is not None
    return _month_in(name) is not None or (told is not None and told[1] is not None)


def _month_in(name: str) -> int | None:
    said = re.findall(r"[^\W\d_]+", fold(name))
    return next((n for n, names in MONTH_NAMES.items() for word in said if word in names), None)


def days_of(one: Measured) -> tuple[date | None, date | None]:
    """The first and the last day; today for what has no end."""
    after, before = one.filters.get("modified_after"), one.filters.get("modified_before")
    first = date.fromisoformat(str(after)[:10]) if after else None
    last = date.fromisoformat(str(before)[:10]) - timedelta(days=1) if before else date.max
    return first, last
