"""Periods of the past that a question names, such as `last March`, `before September` or `this week`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from libs.search.words import words

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""Their first months, in the north."""
PAST = re.compile(
    r"\b(did|was|were|had|said|told|wrote|asked|happened|used to|before|since|previous(ly)?|former(ly)?)\b"
)
"""Words of a question about the past. No memory is of a period of the future."""
NAMED = re.compile(
    r"\b(?P<how>before|since|after|in|during|from|until|of)?(?: the)? ?(?P<which>last|past|previous|this|early|late)? ?"
    rf"\b(?:(?P<month>{'|'.join(MONTHS)})|(?P<season>{'|'.join(SEASONS)})|(?P<unit>week|month|year)"
    r"|(?P<day>today|yesterday))\b(?: (?P<year>(?:19|20)\d\d))?|\b(?:in|before|since|after) (?P<alone>(?:19|20)\d\d)\b"
)
LAST = ("last", "past", "previous")


@dataclass(frozen=True, slots=True)
class Period:
    """From `first` on and before `end`, in UTC. Either may be open; both are if only an order was named."""

    first: date | None = None
    end: date | None = None

    def holds(self, at: datetime) -> bool:
        day = at.date()
        return (self.first is None or day >= self.first) and (self.end is None or day < self.end)


def period(question: str, today: date) -> Period | None:
    """Return the part of the past that a question is about; None if it is about the present."""
    text = " ".join(words(question))
    if PAST.search(text) is None:
        return None
    for found in NAMED.finditer(text):
        if (span := _span(found, today)) is None:
            continue
        match found["how"] or found[0].split()[0]:
            case "before" | "until":
                return Period(end=span.first)
            case "since" | "from":
                return Period(first=span.first)
            case "after":
                return Period(first=span.end)
            case _:
                return span
    # "Which van did I drive before the new one?"
    return Period() if re.search(r"\b(before|used to|previous(ly)?|former(ly)?)\b", text) else None


def _span(found: re.Match[str], today: date) -> Period | None:
    last = found["which"] in LAST
    if found["month"] or found["season"]:
        # "May" and "fall" are verbs as well, and "march 3" is a day in a text.
        if not (found["how"] or found["which"]):
            return None
        month = MONTHS.index(found["month"]) + 1 if found["month"] else SEASONS[found["season"]]
        latest = today.year - (month > today.month or (last and month == today.month))
        return _months(date(int(found["year"] or latest), month, 1), 1 if found["month"] else 3)
    if found["alone"]:
        return _months(date(int(found["alone"]), 1, 1), 12)
    if found["day"]:
        day = today - timedelta(days=found["day"] == "yesterday")
        return Period(day, day + timedelta(days=1))
    if not found["which"]:
        return None
    if found["unit"] == "week":
        monday = today - timedelta(days=today.weekday() + 7 * last)
        return Period(monday, monday + timedelta(days=7))
    if found["unit"] == "year":
        return _months(date(today.year - last, 1, 1), 12)
    return _months(_later(today.replace(day=1), -last), 1)


def _months(first: date, count: int) -> Period:
    return Period(first, _later(first, count))


def _later(first: date, months: int) -> date:
    years, month = divmod(first.month - 1 + months, 12)
    return first.replace(year=first.year + years, month=month + 1)
