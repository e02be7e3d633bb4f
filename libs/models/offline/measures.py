"""Sizes, dates and ages in a request, read as the filters of a listing.

"older than 2 weeks", "über 5 MB", "del año pasado": each is a span of words with one meaning, so it is read by
patterns over the folded words, and taken out before anything else is made of them. Months and years
are of the UTC calendar; a span of time ("2 weeks") is counted back from the given moment, a named one ("last week")
is the calendar's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache

from libs.models.offline import numerals as spoken
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold

Filters = Mapping[str, int | str | bool]
TOKEN = regex(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\.\d{1,2}\.\d{4}|\d+(?:[.,]\d+)?|[<>]=?|[^\W\d_]+|\S")
DAYS = {"minute": 0, "hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class Measured:
    """A span of the text and the filters that it means."""

    start: int
    end: int
    filters: Filters


def measured(text: str, now: datetime) -> tuple[Measured, ...]:
    """Every size and time in the text, in its order; where two readings overlap, the longer one holds."""
    plain, places = _plain(text)
    found = [
        Measured(places[match.start()], _end(places, plain, match.end()), filters)
        for pattern, read in _grammar()
        for match in pattern.finditer(plain)
        if (filters := read(match, now))
    ]
    kept: list[Measured] = []
    for one in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    whole = [told for one in _in_that_year(text, kept, now) if (told := _undenied(text, one)) is not None]
    return tuple(sorted(whole, key=lambda one: one.start))


def _in_that_year(text: str, told: Sequence[Measured], now: datetime) -> list[Measured]:
    """ "Last year's statements from between April and August": months without a year are of the year beside them."""
    year = next(
        (one for one in told if re.search(rf"^(?:\w+ )?{LAST_YEAR}$", _plain(text[one.start : one.end])[0].strip())),
        None,
    )
    return [one if year is None or one is year else _year_before(text, one, now) for one in told]


def _year_before(text: str, one: Measured, now: datetime) -> Measured:
    said = _plain(text[one.start : one.end])[0]
    if re.search(r"\d", said) or re.search(rf"\b{MONTH}\b", said) is None or re.search(LAST_YEAR, said):
        return one
    moved = {
        name: f"{int(str(value)[:4]) - 1}{str(value)[4:]}" if str(value)[:4] == str(now.year) else value
        for name, value in one.filters.items()
    }
    return Measured(one.start, one.end, moved)


DENIED = regex(r"(?:\bnot|n't|nt|\bnicht|\bno|\bnever|\bnie|\bnunca)(?: been| be| are| sind| sean| son)?\s*$")


def _undenied(text: str, one: Measured) -> Measured | None:
    """ "not older than 2 weeks" is its opposite; of what has two ends there is none that a filter could say."""
    denied = (
        DENIED.search(fold(text[: one.start])) if len(fold(text)) == len(text) else DENIED.search(text[: one.start])
    )
    if denied is None or one.filters.keys() & {"empty"}:
        return one
    opposite = opposed(one.filters)
    return Measured(denied.start(), one.end, opposite) if opposite is not None else None


def opposed(filters: Filters) -> Filters | None:
    """What these filters leave out, where one bound says it."""
    if len(filters) != 1:
        return None
    match next(iter(filters.items())):
        case ("larger_than", int(size)):
            return {"smaller_than": size + 1}
        case ("smaller_than", int(size)):
            return {"larger_than": max(0, size - 1)}
        case ("modified_before", moment):
            return {"modified_after": moment}
        case ("modified_after", moment):
            return {"modified_before": moment}
        case ("empty", bool(empty)):
            return {"empty": not empty}
        case ("containing", text):
            return {"lacking": text}
        case ("lacking", text):
            return {"containing": text}
        case _:
            return None


def number_of(word: str) -> int | None:
    """`5` for "five", "fünf", "cinco" and "5"."""
    return int(word) if word.isdigit() else _numbers().get(word)


def _plain(text: str) -> tuple[str, list[int]]:
    """The folded words with one blank between, and for each character its place in the text."""
    plain, places = "", []
    for found in TOKEN.finditer(text):
        folded = fold(found.group())
        plain += f"{folded} "
        places += [found.start()] * len(folded) + [found.end()]
    return plain, places


def _end(places: list[int], plain: str, end: int) -> int:
    return places[plain.index(" ", end - 1)] if plain[end - 1] != " " else places[end - 1]


# The grammar.


def _any(*forms: str) -> str:
    """One of these words, the longest first."""
    words = sorted({form.replace("_", " ") for listed in forms for form in listed.split()}, key=lambda w: (-len(w), w))
    return "(?:" + "|".join(map(re.escape, words)) + ")"


def _of(table: Mapping[int, str] | Mapping[str, str]) -> str:
    return _any(*table.values())


Reader = Callable[[re.Match[str], datetime], Filters]
Rule = tuple[str, Reader]

NUMBER = rf"(?:\d+(?:[.,]\d+)?|{_of(spoken.NUMBERS)})"
UNIT, SPAN_UNIT, MONTH = _of(spoken.UNITS), _of(spoken.SPANS), _of(spoken.MONTHS)
HALF = "half a|half|ein halbes|medio"
SCALES = {
    "thousand tausend mil": 1_000,
    "million millions millionen millones": 1_000_000,
    "billion milliarden": 1_000_000_000,
}
SIZE = rf"(?P<size>(?:{NUMBER}(?: {_any(*SCALES)})?|{HALF}) (?:of |de )?{UNIT})"
HALVES = "half halbes halben halbe medio media"
A_HALF = rf"(?:(?:and )?(?:an? |ein(?:e[mn]?)? |n )?{_any(HALVES)} (?:an? )?)"
SPAN = rf"(?P<span>(?:{NUMBER} )?{A_HALF}?{SPAN_UNIT}(?: and a half| y medio)?)"
YEAR = r"(?:19|20)\d\d"
CALENDAR = _any(*(spoken.SPANS[unit] for unit in ("week", "month", "year")))
LAST_YEAR = r"(?:last year|letzten jahres?|vergangenen jahres?|letztes jahr|vorigen jahres?|(?:el |del )?ano pasado)"
TWO_BACK = _any(spoken.BEFORE_LAST)
MONTH_BACK = rf"(?:{MONTH} (?:(?:of|de|del|im|des) )?{LAST_YEAR}|last year ['’] ?s {MONTH})"
MONTHS = (
    rf"{MONTH}(?: (?:, )?(?:(?:and|or|und|oder|y|o|e|&) )?(?:of |de )?{MONTH})+"
    rf"(?: (?:(?:of|de|del|im|des) )?(?:{YEAR}|{LAST_YEAR}))?"
)
SEASON = (
    rf"(?:{_any(spoken.THIS)} {_of(spoken.SEASONS)}|(?:the )?{_of(spoken.SEASONS)}(?: of| de| del| des jahres)? {YEAR})"
)
UNIT_BACK = rf"(?:the )?{CALENDAR} {TWO_BACK}|{TWO_BACK} {CALENDAR}"
DAY = (
    rf"(?:{MONTHS}|{SEASON}|{MONTH_BACK}|{UNIT_BACK}"
    r"|\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\.\d{1,2}\.\d{4}"
    rf"|(?:the )?\d{{1,2}} ?(?:st |nd |rd |th |\. )?(?:of |de )?{MONTH}(?: ,)?(?: (?:de |del |of )?{YEAR})?"
    rf"|{MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: (?:st|nd|rd|th))?(?: ,)?(?: {YEAR})?"
    rf"|{MONTH}(?: ,)?(?: (?:de |del |of )?{YEAR})?|(?:the )?(?:year |jahr |dem jahr |ano |el ano )?{YEAR}"
    rf"|{_any(spoken.TODAY, spoken.YESTERDAY, *spoken.WEEKDAYS)}"
    rf"|(?:the )?{_any(spoken.LAST, spoken.THIS)} {CALENDAR}|(?:el |la )?{CALENDAR} pasad[oa])"
)
ARTICLE = r"(?:the |a |an |dem |den |der |die |das |el |la |los |las |lo )?"
LEAD = (
    r"(?:(?:that|which|who|die|der|que) )?"
    r"(?:(?:are|is|were|was|have|has|haben|sind|son|sean|pesan|pesen|weigh|ocupan|fueron) )?"
    rf"(?:{_any(spoken.MODIFIED)} )?"
)
"""Words before a quantity that belong to it: "that were modified before …"."""
OF = r"(?:de |con |mit |with |von |of |in )?(?:einer grosse von |un tamano |a size |size )?"
DENIED_CHANGE = (
    r"(?:(?:that |which |die |que )?(?:(?:i |we )?(?:have|has|had|did)(?:n ' t|nt| not)?|not|never|nicht|no|nunca) "
    r"(?:been |ha sido |han sido |se han? |he )?)"
    rf"(?:{_any(spoken.MODIFIED, 'opened used usado usados abierto abiertos tocado')} )"
)
UNTOUCHED_IN_GERMAN = (
    rf" (?:nicht|nie) (?:mehr )?{_any(spoken.MODIFIED, 'geoffnet benutzt angefasst angeruhrt')}"
    r"(?: wurden| wurde| worden sind)?"
)


@cache
def _grammar() -> tuple[tuple[re.Pattern[str], Reader], ...]:
    rules = (*_sizes(), *_ages(), *_calendar())
    return tuple((re.compile(rf"(?<![\w.]){pattern}(?![\w])"), read) for pattern, read in rules)


def _sizes() -> Iterator[Rule]:
    low, high = rf"(?P<a>{NUMBER}(?: {UNIT})?)", rf"(?P<b>{NUMBER} {UNIT})"
    yield rf"{LEAD}{OF}{_any(spoken.BETWEEN)} {low} {_any(spoken.AND_TO)} {high}", _size_between
    yield rf"{LEAD}{OF}{_any(spoken.MORE)} {SIZE}", _larger
    yield rf"{LEAD}{OF}{_any(spoken.AT_LEAST)} {SIZE}", _at_least
    yield rf"{SIZE} (?:{_any(spoken.OR_MORE)}|\+)", _at_least
    yield rf"{LEAD}{OF}{_any(spoken.LESS)} {SIZE}", _smaller
    yield rf"{LEAD}{OF}{_any(spoken.AT_MOST)} {SIZE}", _at_most
    yield rf"{SIZE} {_any(spoken.OR_LESS)}", _at_most
    yield rf"{OF}(?:0|zero|null|cero) (?:- )?(?:byte|bytes|kb|b)", _nothing


def _ages() -> Iterator[Rule]:
    old = rf"(?P<old> {_any(spoken.OLD)})?"
    within = r"(?:from |in |of |within |during |over |aus |von |in |de |en |durante )?"
    counted = rf"(?P<span>{NUMBER} {SPAN_UNIT})"
    yield rf"{LEAD}(?P<how>{_any(spoken.OLDER)}) {ARTICLE}{SPAN}{old}", _older
    yield rf"{LEAD}(?P<how>{_any(spoken.NEWER)}) {ARTICLE}{SPAN}{old}", _newer
    yield rf"{LEAD}{within}{ARTICLE}{_any(spoken.LAST)} {counted}", _recent
    yield rf"{LEAD}{within}{ARTICLE}{counted} {_any('pasados pasadas ultimos ultimas')}", _recent
    yield rf"{LEAD}{within}the {_any('last past previous')} (?P<span>{SPAN_UNIT})", _recent
    yield (
        rf"{LEAD}(?:de la |en la |en el |del |durante (?:el|la) ){_any('ultimo ultima')} (?P<span>{SPAN_UNIT})",
        _recent,
    )
    yield (
        rf"{DENIED_CHANGE}(?:in|for|en|durante) (?:over |more than |mas de )?{ARTICLE}(?:last |past )?{SPAN}",
        _stale,
    )
    yield rf"(?:die )?(?:ich )?seit (?:mehr als |uber )?{ARTICLE}{SPAN}{UNTOUCHED_IN_GERMAN}", _stale


def _calendar() -> Iterator[Rule]:
    day, coming = rf"{ARTICLE}(?P<day>{DAY})", r"(?:from |de |von |aus der zeit )?"
    first, last = rf"{ARTICLE}(?P<a>{DAY})", rf"{ARTICLE}(?P<b>{DAY})"
    short = rf"(?P<month>{MONTH}) (?:de |del )?(?P<mark>['’] )?(?P<short>\d\d)"
    yield rf"{LEAD}(?:in|im|en|von|aus|de) {short}", _in_short
    yield rf"{LEAD}(?:from|of) {short}", _from_short
    yield rf"{LEAD}{_any(spoken.BETWEEN)} {first} {_any(spoken.AND_TO)} {last}", _days_between
    yield rf"{LEAD}{coming}{_any(spoken.BEFORE)} {day}", _before
    yield rf"{LEAD}{coming}{_any(spoken.THROUGH)} {day}", _through
    yield rf"{LEAD}{coming}{_any(spoken.SINCE)} {day}", _since
    yield rf"{LEAD}{coming}{_any(spoken.AFTER)} {day}", _after
    yield rf"{DENIED_CHANGE}(?:since|desde) {day}", _before
    yield rf"(?:die )?(?:ich )?seit {day}{UNTOUCHED_IN_GERMAN}", _before
    yield rf"{LEAD}{_any(spoken.DURING)} {day}(?: s)?", _during
    back = rf"(?P<count>{NUMBER}) (?P<unit>{_any(*(spoken.SPANS[unit] for unit in ('day', 'week', 'month', 'year')))})"
    yield rf"{LEAD}(?:from|of|in|dated|made|taken|created) {back} ago", _ago
    yield rf"{LEAD}(?:noch )?(?:von|aus|aus der zeit) vor {back}", _ago
    yield rf"{LEAD}(?:de|desde) hace {back}", _ago
    yield rf"{LEAD}(?P<day>{_any(spoken.THIS)} {_of(spoken.SEASONS)})", _during
    bare = rf"{_any(spoken.TODAY, spoken.YESTERDAY)}|{_any(spoken.LAST, spoken.THIS)} {CALENDAR}"
    yield rf"{LEAD}(?P<day>{bare})(?: s)?", _during
    yield rf"{LEAD}(?P<day>{UNIT_BACK}|{MONTH_BACK})(?: s)?", _during


# Sizes.


def _size_between(said: re.Match[str], now: datetime) -> Filters:
    most = said["b"]
    least = said["a"] if " " in said["a"] else f"{said['a']} {most.split()[-1]}"
    low, high = _bytes(least), _bytes(most)
    return {"larger_than": max(0, low - 1), "smaller_than": high + 1} if low < high else {}


def _larger(said: re.Match[str], now: datetime) -> Filters:
    return {"larger_than": _bytes(said["size"])}


def _at_least(said: re.Match[str], now: datetime) -> Filters:
    return {"larger_than": max(0, _bytes(said["size"]) - 1)}


def _smaller(said: re.Match[str], now: datetime) -> Filters:
    return {"smaller_than": _bytes(said["size"])}


def _at_most(said: re.Match[str], now: datetime) -> Filters:
    return {"smaller_than": _bytes(said["size"]) + 1}


def _bytes(said: str) -> int:
    amount, _, unit = said.rpartition(" ")
    return round(_amount(amount) * next(size for size, names in spoken.UNITS.items() if unit in names.split()))


def _amount(said: str) -> float:
    if said in HALF.split("|"):
        return 0.5
    said, _, scale = said.removesuffix(" of").removesuffix(" de").partition(" ")
    if scale:
        return _amount(said) * next(value for names, value in SCALES.items() if scale in names.split())
    return float(said.replace(",", ".")) if said[0].isdigit() else float(_numbers()[said])


@cache
def _numbers() -> Mapping[str, int]:
    return {name: number for number, names in spoken.NUMBERS.items() for name in names.split()}


# Times.


SPAN_IS_AGE = ("de mas", "con mas", "que t", "tengan", "tienen", "mas de", "mehr als")
"""Of what is older, the words after which a span of time is an age and nothing else."""


def _older(said: re.Match[str], now: datetime) -> Filters:
    outright = said["how"] in spoken.OUTRIGHT_OLDER or "hace" in said["how"].split()
    if not (outright or said["old"] or said["how"].startswith(SPAN_IS_AGE)):
        return {}
    return {"modified_before": _moment(_back(said["span"], now))}


def _newer(said: re.Match[str], now: datetime) -> Filters:
    if said["how"] not in spoken.OUTRIGHT_NEWER and not said["old"]:
        return {}
    return {"modified_after": _moment(_back(said["span"], now))}


def _recent(said: re.Match[str], now: datetime) -> Filters:
    return {"modified_after": _moment(_back(said["span"], now))}


def _stale(said: re.Match[str], now: datetime) -> Filters:
    return {"modified_before": _moment(_back(said["span"], now))}


def _nothing(said: re.Match[str], now: datetime) -> Filters:
    return {"empty": True}


def _back(span: str, now: datetime) -> datetime:
    """The moment this long ago; a month, a year and the half of one by the calendar."""
    told = span.split()
    unit = next(unit for unit, names in spoken.SPANS.items() if not {*told}.isdisjoint(names.split()))
    amount = _so_many(told)
    match unit:
        case "minute":
            return now - timedelta(minutes=amount)
        case "hour":
            return now - timedelta(hours=amount)
        case "month" if amount % 1 == 0:
            return _months_back(now, int(amount))
        case "year" if amount * 2 % 1 == 0:
            return _months_back(now, int(amount * 12))
        case _:
            return now - timedelta(days=amount * DAYS[unit])


def _so_many(told: Sequence[str]) -> float:
    """ "Two and a half" is more than two, as is "a year and a half" than one; "half a" alone is half."""
    halves = next((at for at, word in enumerate(told) if word in HALVES.split()), None)
    whole = next((_amount(word) for word in told if word[0].isdigit() or word in _numbers()), 1.0)
    if halves is None:
        return whole
    alone = not {*told[: halves + 1]} & {"and", "y"} and whole == 1
    return 0.5 if alone else whole + 0.5


def _months_back(now: datetime, months: int) -> datetime:
    year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
    first = datetime(max(year, 1), month + 1, 1, tzinfo=UTC)
    last = (_next_month(first.date()) - timedelta(days=1)).day
    return now.replace(year=first.year, month=first.month, day=min(now.day, last))


def _before(said: re.Match[str], now: datetime) -> Filters:
    days = _days(said["day"], now)
    return {"modified_before": days[0].isoformat()} if days else {}


def _through(said: re.Match[str], now: datetime) -> Filters:
    days = _days(said["day"], now)
    return {"modified_before": days[1].isoformat()} if days else {}


def _since(said: re.Match[str], now: datetime) -> Filters:
    days = _days(said["day"], now)
    return {"modified_after": days[0].isoformat()} if days else {}


def _after(said: re.Match[str], now: datetime) -> Filters:
    days = _days(said["day"], now)
    return {"modified_after": days[1].isoformat()} if days else {}


def _during(said: re.Match[str], now: datetime) -> Filters:
    days = _days(said["day"], now)
    if days is None:
        return UNCLEAR if re.search(MONTHS, said["day"]) else {}
    ahead = {} if days[1] > now.date() else {"modified_before": days[1].isoformat()}
    return {"modified_after": days[0].isoformat(), **ahead}


def _in_short(said: re.Match[str], now: datetime) -> Filters:
    """ "In March 24": a year, since one would say "on" of a day."""
    days = _days(f"{said['month']} {2000 + int(said['short'])}", now)
    if days is None or days[0] > now.date():
        return {}
    return {"modified_after": days[0].isoformat(), "modified_before": days[1].isoformat()}


def _from_short(said: re.Match[str], now: datetime) -> Filters:
    """ "From March 24" is that year or that day."""
    told = _in_short(said, now)
    return told if said["mark"] or not told else {**told, **UNCLEAR}


SPANNING = "between zwischen entre"
UNCLEAR: Filters = {"several_times": True}
"""Times apart, which no listing can choose by: as a filter that nothing takes, they are asked about."""


def _ago(said: re.Match[str], now: datetime) -> Filters:
    """ "From two years ago": the whole of that year."""
    count = int(_amount(said["count"]))
    unit = next(unit for unit, names in spoken.SPANS.items() if said["unit"] in names.split())
    first, after = _calendar_unit(unit, now.date(), count)
    return {"modified_after": first.isoformat(), "modified_before": after.isoformat()}


def _calendar_unit(unit: str, today: date, back: int) -> tuple[date, date]:
    """The day, week, month or year so many before this one."""
    match unit:
        case "day":
            first = today - timedelta(days=back)
            return first, first + timedelta(days=1)
        case "week":
            first = today - timedelta(days=today.weekday() + 7 * back)
            return first, first + timedelta(days=7)
        case "month":
            year, month = divmod(today.year * 12 + today.month - 1 - back, 12)
            first = date(max(year, 1), month + 1, 1)
            return first, _next_month(first)
        case _:
            year = max(today.year - back, 1)
            return date(year, 1, 1), date(year + 1, 1, 1)


def _days_between(said: re.Match[str], now: datetime) -> Filters:
    of_last = " last year" if re.search(LAST_YEAR, said["b"]) and not re.search(rf"\d|{LAST_YEAR}", said["a"]) else ""
    first, last = _days(f"{said['a']}{of_last}", now), _days(said["b"], now)
    if first is None or last is None or first[0] >= last[1]:
        return {}
    listed = re.search(r" (?:and|und|y) ", said.group()) and not re.search(rf"{_any(SPANNING)} ", said.group())
    if listed and first[1] != last[0]:
        return UNCLEAR  # "from 2022 and 2025"
    return {"modified_after": first[0].isoformat(), "modified_before": last[1].isoformat()}


def _days(said: str, now: datetime) -> tuple[date, date] | None:
    """The first day of what was said, and the first after it."""
    today = now.date()
    words = said.replace(",", " ").split()
    if re.fullmatch(MONTHS, said):
        return _months(said, words, today)
    if first_month := next((n for n, names in spoken.SEASONS.items() for word in words if word in names.split()), 0):
        return _season(first_month, words, today)
    if (month := _month_of_last_year(said)) is not None:
        first = date(today.year - 1, month, 1)
        return first, _next_month(first)
    for unit in ("week", "month", "year"):
        if re.search(rf"\b{TWO_BACK}\b", said) and any(word in spoken.SPANS[unit].split() for word in words):
            return _calendar_unit(unit, today, 2)
        if any(word in spoken.SPANS[unit].split() for word in words) and not said[-4:].isdigit():
            return _calendar_unit(unit, today, 0 if any(word in spoken.THIS.split() for word in words) else 1)
    if words[-1] in spoken.TODAY.split():
        return today, today + timedelta(days=1)
    if words[-1] in spoken.YESTERDAY.split():
        return today - timedelta(days=1), today
    weekday = next((n for n, names in enumerate(spoken.WEEKDAYS) if words[-1] in names.split()), None)
    if weekday is not None:
        first = today - timedelta(days=(today.weekday() - weekday) % 7)
        return first, first + timedelta(days=1)
    return _dated(said, words, today)


def _months(said: str, words: Sequence[str], today: date) -> tuple[date, date] | None:
    """ "June, July and August": of one year, and in a row."""
    numbers = [n for word in words for n, names in spoken.MONTHS.items() if word in names.split()]
    year = next((int(word) for word in words if re.fullmatch(YEAR, word)), None)
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    if year is None:
        year = today.year - (re.search(LAST_YEAR, said) is not None or date(today.year, numbers[0], 1) > today)
    return date(year, numbers[0], 1), _next_month(date(year, numbers[-1], 1))


def _season(month: int, words: Sequence[str], today: date) -> tuple[date, date] | None:
    """Three months; "this summer" only once it has come."""
    year = next((int(word) for word in words if re.fullmatch(YEAR, word)), today.year)
    first = date(year, month, 1)
    return (first, _next_month(date(year, month + 2, 1))) if first <= today else None


def _month_of_last_year(said: str) -> int | None:
    """ "August of last year", "last year's August"."""
    if re.search(LAST_YEAR, said) is None:
        return None
    return next((n for n, names in spoken.MONTHS.items() for word in said.split() if word in names.split()), None)


def _dated(said: str, words: list[str], today: date) -> tuple[date, date] | None:
    try:
        if found := re.fullmatch(r"(\d{4})-(\d+)-(\d+)", said):
            first = date(*map(int, found.groups()))
            return first, first + timedelta(days=1)
        if found := re.fullmatch(r"(\d+)\.(\d+)\.(\d{4})", said):
            day, month, year = map(int, found.groups())
            return date(year, month, day), date(year, month, day) + timedelta(days=1)
        return _spelt(words, today)
    except ValueError:
        return None


def _spelt(words: list[str], today: date) -> tuple[date, date] | None:
    """ "1 May 2024", "May 2024", "May", "2024". Without a year, the last one that is not ahead of us."""
    month = next((n for n, names in spoken.MONTHS.items() for word in words if word in names.split()), None)
    numbers = [int(found) for word in words if (found := re.sub(r"(st|nd|rd|th)$", "", word)).isdigit()]
    years = [number for number in numbers if number > 31]
    if month is None:
        return (date(years[0], 1, 1), date(years[0] + 1, 1, 1)) if years else None
    days = [number for number in numbers if number <= 31]
    year = years[0] if years else today.year
    first = date(year, month, days[0] if days else 1)
    if not years and first > today:
        first = first.replace(year=year - 1)
    return first, first + timedelta(days=1) if days else _next_month(first)


def _next_month(first: date) -> date:
    return date(first.year + first.month // 12, first.month % 12 + 1, 1)


def _moment(when: datetime) -> str:
    return when.astimezone(UTC).replace(microsecond=0).strftime("%Y-%m-%dT%H:%M:%SZ")
