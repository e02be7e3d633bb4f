"""Sizes, counts and spans of time, read from words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from libs.models.offline.lexicon import Lexicon, singular

SIZE = re.compile(r"^(\d+(?:[.,]\d+)?)\s*(b|byte|bytes|[kmgt]i?b|[kmgt]|kilobytes?|megabytes?|gigabytes?|megs?|gigs?)$")
HALF = ("half", "a")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
YEAR = re.compile(r"^(19|20)\d\d$")
DAY = re.compile(r"^((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?$")
MONTHS = 12
RELATIVE = r"(?:(?:that|which|whose|with|a|of|size|sizes|file|are|is|weighs?|weighing|takes?|taking|up) )*"
THAN = re.compile(
    rf"{RELATIVE}(?P<no>(?:no|not) )?(?:(?P<more>(?:larg|bigg|heavi|great|long)er|more|over|above|beyond"
    r"|exceed(?:ing|s)?|at least|upwards of|in excess of)|(?P<less>(?:small|light|few)er|less|under|below|at most"
    r"|up to))(?: than)? "
)
BETWEEN = re.compile(r"(?:between|from) (?P<low>\d+(?:[.,]\d+)?)(?: (?P<unit>[a-z]+))? (?:and|to) ")
CHANGED = (
    r"(?P<changed>(?:(?:that|which|i|we|have|has|had|was|were|been|did|do|are|is|not|never|last|recently) )*"
    r"(?:(?:un)?changed?|(?:un)?touch(?:ed)?|untouched|modif(?:y|ied)|edit(?:ed)?|made?|make|creat(?:ed?)|add(?:ed)?|saved?"
    r"|updated?|dated|work(?:ed)? on|with a date|new)(?: or [a-z]+ed)? )?"
)
WHEN = re.compile(
    rf"{CHANGED}(?:(?:for |in |from )?(?P<older>older than|more than|longer than|over(?! the))"
    r"|(?P<newer>(?:newer|younger|less|no older|not older) than)"
    r"|(?P<within>(?:(?:from|in|within|during|over|of|for) )*(?P<the>the )?(?P<last>last|past|previous))"
    r"|(?:from )?(?P<how>before|since|after|from|of|in|on|during|for)(?: the)?)? ?"
)


@dataclass(frozen=True, slots=True)
class Span:
    """From `after` on, and before `before`: dates in UTC, either may be open."""

    after: date | None = None
    before: date | None = None


def bounds_at(words: Sequence[str], at: int) -> tuple[int, dict[str, int]] | None:
    """Limits of a size such as `larger than 10 MB` or `between 1 and 5 MB`: their number of words, and their roles."""
    text = _text(words, at)
    if found := BETWEEN.match(text):
        used = found[0].count(" ")
        if (high := size_at(words, at + used)) is None:
            return None
        low = size_at([found["low"], found["unit"] or words[at + used + high[0] - 1].lstrip("0123456789.,")], 0)
        return (used + high[0], {"larger_than": low[1], "smaller_than": high[1]}) if low else None
    if (found := THAN.match(text)) is None or (size := size_at(words, at + found[0].count(" "))) is None:
        return None
    role = "larger_than" if bool(found["more"]) != bool(found["no"]) else "smaller_than"
    return found[0].count(" ") + size[0], {role: size[1]}


def _text(words: Sequence[str], at: int) -> str:
    """Join the words from `at` on for an expression; a name of several words counts as one."""
    return " ".join([*(word.replace(" ", "_") or "_" for word in words[at:]), ""])


def size_at(words: Sequence[str], at: int) -> tuple[int, int] | None:
    """Read a size such as `10 MB` at `at`. Returns its number of words and its bytes."""
    for words_, share in (((*HALF, ""), 0.5), (("a", ""), 1), (("one", ""), 1)):
        unit = words[at + len(words_) - 1 : at + len(words_)]
        if tuple(words[at : at + len(words_) - 1]) == words_[:-1] and unit and (found := SIZE.match(f"1 {unit[0]}")):
            return len(words_), int(share * _bytes("1", found[2]))
    for length in (2, 1):
        if found := SIZE.match(" ".join(words[at : at + length])):
            return length, int(_bytes(found[1], found[2]))
    return None


def _bytes(number: str, unit: str) -> float:
    """Return a size in bytes. Units are decimal, but for `KiB` and its like."""
    base = 1024 if unit[1:3] == "ib" else 1000
    return float(number.replace(",", ".")) * float(base ** "bkmgt".index(unit[0]))


def duration_at(words: Sequence[str], at: int, lexicon: Lexicon) -> tuple[int, timedelta] | None:
    """Read a duration such as `two weeks`, `a year` or `6 months`."""
    if list(words[at : at + 3]) == ["half", "a", "year"]:
        return 3, timedelta(days=182)
    number = _number(words[at], lexicon) if at < len(words) else None
    unit = lexicon.units.get(singular(words[at + 1])) if at + 1 < len(words) else None
    if number is None or unit is None:
        # "In the last month" is one of them.
        alone = lexicon.units.get(words[at]) if at < len(words) else None
        return (1, timedelta(days=alone)) if alone else None
    return 2, timedelta(days=min(number * unit, 36500))


def _number(word: str, lexicon: Lexicon) -> int | None:
    return 1 if word in ("a", "an", "one") else lexicon.number(word)


def when_at(words: Sequence[str], at: int, lexicon: Lexicon, now: datetime) -> tuple[int, dict[str, str], bool] | None:
    """Limits of a time such as `older than a year`, `changed last week` or `not touched since May`.

    Returns the number of words, the limits by role, and whether a verb of changing is among the words.
    """
    found = WHEN.match(_text(words, at))
    if found is None or not (found["changed"] or found["how"] or found["older"] or found["newer"] or found["within"]):
        found = None
    start = at + (found[0].count(" ") if found else 0)
    changed = found["changed"] or "" if found else ""
    kept = bool({"not", "never", "untouched", "unchanged"} & set(changed.split()))
    length = duration_at(words, start, lexicon) if found else None
    if found and length and _is_length(found, length[0], kept=kept):
        role = "modified_before" if kept or found["older"] else "modified_after"
        end = start + length[0]
        used = end - at + (list(words[end : end + 1]) in (["old"], ["ago"]))
        return used, {role: moment((now - length[1]).date())}, bool(changed)
    start -= bool(found and found["within"])
    if not found and words[at] not in ("this", "today", "yesterday"):
        return None
    span = span_at(words, start, lexicon, now) if start < len(words) else None
    if found is None or span is None:
        return (span[0], _limits(span[1], ""), False) if span else None
    how = "before" if kept or found["older"] else "since" if found["newer"] else found["how"] or ""
    return start + span[0] - at, _limits(span[1], how), bool(changed)


def _is_length(found: re.Match[str], used: int, *, kept: bool) -> bool:
    """Return whether a duration follows, and no calendar period such as "last month"."""
    if found["within"]:
        return used > 1 or bool(found["the"]) or found["last"] == "past"
    return bool(found["older"] or found["newer"]) or (kept and found["how"] in ("in", "for"))


def _limits(span: Span, how: str) -> dict[str, str]:
    first = None if how == "before" else span.before if how == "after" else span.after
    last = span.after if how == "before" else None if how in ("after", "since") else span.before
    limits = {"modified_after": first, "modified_before": last}
    return {role: moment(value) for role, value in limits.items() if value}


def span_at(words: Sequence[str], at: int, lexicon: Lexicon, now: datetime) -> tuple[int, Span] | None:
    """Read a year, month, week or day at `at` as the period that it covers."""
    today = now.astimezone(UTC).date()
    word, then = (*words[at : at + 2], "", "")[:2]
    if word in ("today", "yesterday"):
        day = today - timedelta(days=word == "yesterday")
        return 1, Span(day, day + timedelta(days=1))
    if word in WEEKDAYS:
        day = today - timedelta(days=(today.weekday() - WEEKDAYS.index(word)) % 7)
        return 1, Span(day, day + timedelta(days=1))
    if word in ("last", "this", "previous") and then in ("year", "month", "week"):
        return 2, _period(then, today, back=word != "this")
    number = lexicon.number(word)
    if number is not None and singular(then) == "year" and words[at + 2 : at + 3] == ["ago"]:
        return 3, Span(date(today.year - number, 1, 1), date(today.year - number + 1, 1, 1))
    if found := DAY.match(word):
        return _named_day(int(found[1]), int(found[2]), found[3])
    if YEAR.match(word):
        return 1, Span(date(int(word), 1, 1), date(int(word) + 1, 1, 1))
    if word in lexicon.months:
        return _month(lexicon.months[word], words, at, today)
    return None


def _period(unit: str, today: date, *, back: bool) -> Span:
    if unit == "year":
        year = today.year - back
        return Span(date(year, 1, 1), date(year + 1, 1, 1))
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return Span(monday, monday + timedelta(days=7))
    first = today.replace(day=1)
    if back:
        first = (first - timedelta(days=1)).replace(day=1)
    return Span(first, _next_month(first))


def _month(month: int, words: Sequence[str], at: int, today: date) -> tuple[int, Span]:
    """`March 2024`, `March last year`, `last March` without its word: the latest one that has begun."""
    following = words[at + 1 : at + 3]
    if following and YEAR.match(following[0]):
        first, used = date(int(following[0]), month, 1), 2
    elif tuple(following) == ("last", "year"):
        first, used = date(today.year - 1, month, 1), 3
    elif tuple(following) == ("this", "year"):
        first, used = date(today.year, month, 1), 3
    else:
        first, used = date(today.year - (month > today.month), month, 1), 1
    return used, Span(first, _next_month(first))


def _named_day(year: int, month: int, day: str | None) -> tuple[int, Span] | None:
    try:
        first = date(year, month, int(day or 1))
    except ValueError:
        return None
    return 1, Span(first, first + timedelta(days=1) if day else _next_month(first))


def _next_month(first: date) -> date:
    return date(first.year + first.month // MONTHS, first.month % MONTHS + 1, 1)


def moment(value: date) -> str:
    """As tools take it."""
    return value.isoformat()
