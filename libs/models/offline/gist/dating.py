"""Dates that stand in names, and shall stand there otherwise: "the date first, year then month then day".

Which number is the day and which the month is told by all the names together: where one has a 21 in the second place,
that is where the days are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from libs.models.offline.gist.aiming import chosen
from libs.models.offline.gist.deeds import Deed, restyle
from libs.models.offline.gist.reshaping import by_shapes
from libs.models.offline.gist.spelling import Files, stem
from libs.models.offline.gist.story import Some, Span, Story
from libs.retrieval.regexes import regex
from libs.skills.shapes import FIELD, MONTHS

_NAME = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"
_APART = r"[-._ ]|[.,] "
_WORDS = (r"(?<![^\W_])", r"(?![^\W_])")
YMD, DMY, MDY, YM, MY = (
    ("year", "month", "day"),
    ("day", "month", "year"),
    ("month", "day", "year"),
    ("year", "month"),
    ("month", "year"),
)
WRITTEN = (
    (YMD, rf"(?<!\d)({_YEAR})([-._ ]?)({_MONTH[:-1]}|{_NAME}))(\2)({_DAY})(?!\d)"),
    (DMY, rf"(?<!\d)({_DAY})([-._])({_MONTH})(\2)({_YEAR}|\d\d)(?!\d)"),
    (DMY, rf"(?<!\d)({_DAY})( )({_MONTH})( )({_YEAR})(?!\d)"),
    (DMY, rf"(?<!\d)({_DAY})({_APART})({_NAME})({_APART})({_YEAR}|\d\d)(?!\d)"),
    (MDY, rf"(?<!\d)({_MONTH})([-._])({_DAY})(\2)({_YEAR}|\d\d)(?!\d)"),
    (MDY, rf"(?<!\d)({_MONTH})( )({_DAY})( )({_YEAR})(?!\d)"),
    (MDY, rf"{_WORDS[0]}({_NAME})({_APART})({_DAY})({_APART})({_YEAR})(?!\d)"),
    (YM, rf"(?<!\d)({_YEAR})([-._ ])(0[1-9]|1[0-2]|{_NAME}){_WORDS[1]}"),
    (MY, rf"{_WORDS[0]}(0[1-9]|1[0-2]|{_NAME})([-._ ])({_YEAR})(?!\d)"),
)
"""The ways in which dates are written, the fuller before the shorter."""
FORMS = tuple((order, regex(form, re.IGNORECASE)) for order, form in WRITTEN)
DATES = regex(r"\b(?:dates?|datum\w*|daten|fechas?|iso)\b", re.IGNORECASE)
_THEN = r"[\s,]*(?:and\s+|then\s+|und\s+|dann\s+|y\s+|luego\s+|despu[eé]s\s+|the\s+|der\s+|el\s+)*"
YEAR_FIRST = regex(
    rf"\byears?\s+(?:(?:comes?|goes|at\s+the|in|is)\s+)*(?:first|front|beginning|start)|\byear{_THEN}month|\byyyy|\bfirst\s+the\s+year"
    rf"|\bjahr(?:eszahl)?\s+(?:(?:kommt|steht|soll|am|nach|an|den)\s+)*(?:zuerst|vorne?|voran|anfang)|\bzuerst\s+(?:das\s+)?jahr"
    rf"|\bjahr{_THEN}monat|\ba[nñ]o\s+(?:va(?:ya)?\s+)?(?:primero|delante|adelante|al\s+principio)|\bprimero\s+el\s+a[nñ]o"
    rf"|\ba[nñ]o{_THEN}(?:el\s+)?mes\b|\biso\b|(?<![\d-])(?:19|20)\d\d-\d\d-\d\d(?!\d)",
    re.IGNORECASE,
)
DAY_FIRST = regex(
    rf"\bday\s+(?:(?:comes?|goes)\s+)*first|\bday{_THEN}month|\bdd[.-]?mm|\btag\s+(?:zuerst|vorne?)|\bzuerst\s+(?:der\s+)?tag"
    rf"|\btag{_THEN}monat|\bd[ií]a\s+(?:va(?:ya)?\s+)?(?:primero|delante)|\bprimero\s+el\s+d[ií]a|\bd[ií]a{_THEN}(?:el\s+)?mes\b",
    re.IGNORECASE,
)
TURNED = regex(
    r"\b(?:other\s+way|(?:a)?round|turn(?:ed)?|backwards?|umdreh\w*|umgedreht|anders(?:he)?rum|umgekehrt|rev[eé]s|vuelta|invert\w*)\b",
    re.IGNORECASE,
)
SORTED = regex(
    r"\b(?:sort\w*|line\s+up|in\s+order|chronolog\w*|reihenfolge|ordnung|ordnen|orden\w*|cronol[oó]g\w*)\b",
    re.IGNORECASE,
)
FRONT = regex(
    r"\b(?:front|(?:at|to)\s+the\s+(?:start|beginning|head)|(?:date|datum|fecha)s?\s+(?:(?:comes?|goes|should|shall|be|to|is|soll|va|vaya|vayan|ist)\s+)*"
    r"(?:first|zuerst|als\s+erstes|primero)|starts?\s+with|beginn?\w*\s+(?:with|mit)|vorne?|voran|davor|am\s+anfang|delante|adelante"
    r"|al\s+(?:principio|inicio)|empie[cz]\w*)\b",
    re.IGNORECASE,
)
BEHIND = regex(r"\b(?:end|behind|last|hinten|ende|dahinter|final|detr[aá]s|atr[aá]s)\b", re.IGNORECASE)
THE_YEAR = regex(r"\b(?:the\s+years?|das\s+jahr|die\s+jahre(?:szahl)?|el\s+a[nñ]o|los\s+a[nñ]os)\b", re.IGNORECASE)
APART = regex(
    r"\b(?:months?|monate?|mes(?:es)?|days?|tag|d[ií]a|folders?|ordner|carpetas?|chang\w+|ge[äa]ndert|modificad\w+)\b",
    re.IGNORECASE,
)
"""With one of these it is no year alone, or none that names have."""
YEAR = regex(r"(?<!\d)(?:19|20)\d\d(?!\d)")
ISO, ISO_MONTH = "{year}-{month}-{day}", "{year}-{month}"


@dataclass(frozen=True, slots=True)
class Written:
    """A date in a name: where, in which order, with which signs."""

    start: int
    end: int
    order: tuple[str, ...]
    signs: tuple[str, ...]

    @property
    def shape(self) -> str:
        fields = [f"{{{field}}}" for field in self.order]
        return "".join(one + sign for one, sign in zip(fields, (*self.signs, ""), strict=True))


def heard(story: Story) -> Iterator[Deed]:
    """Dates are turned, and stand in front or at the end where that is told as well."""
    order = _order(story)
    if order is None:
        return
    months_first = _american(story.ground.paths or ())
    some = chosen(story, beside=_samples(story))
    files = some.files if some else story.ground.paths or ()
    place = "first" if FRONT.search(story.text) else "last" if BEHIND.search(story.text) else ""
    told = ((path, _shapes(stem(path), order, place, months_first=months_first)) for path in files)
    if (deed := by_shapes(told)) is not None:
        yield deed


def years(story: Story) -> Iterator[Deed]:
    """A year that stands in names goes to their front or their end: "das Jahr nach vorne"."""
    if THE_YEAR.search(story.text) is None or DATES.search(story.text) or APART.search(story.text):
        return
    place = "first" if FRONT.search(story.text) else "last" if BEHIND.search(story.text) else ""
    some = chosen(story, beside=_samples(story))
    files = some.files if some else story.ground.paths or ()
    dated = tuple(path for path in files if len(YEAR.findall(stem(path))) == 1)
    if place and dated and len(dated) * 3 >= len(files) * 2:
        yield restyle(Some(dated), written=place)


def surely(story: Story) -> Iterator[Deed]:
    """The same, where it is said which of a date's parts comes first."""
    yield from years(story)
    if any(form.search(story.text) for form in (YEAR_FIRST, DAY_FIRST)):
        yield from heard(story)


def written(name: str, *, months_first: bool = False) -> Written | None:
    """The only date in a name that tells a month at least."""
    skipped = DMY if months_first else MDY
    for order, form in FORMS:
        found = [
            one for one in form.finditer(name) if order != skipped or not one[1 + order.index("month") * 2].isdigit()
        ]
        if found:
            return Written(*found[0].span(), order, found[0].groups()[1::2]) if len(found) == 1 else None
    return None


def _order(story: Story) -> str | None:
    """Which comes first."""
    if DATES.search(story.text) is None:
        return None
    if YEAR_FIRST.search(story.text):
        return "year"
    if DAY_FIRST.search(story.text):
        return "day"
    if TURNED.search(story.text):
        return "other"
    return "year" if FRONT.search(story.text) and SORTED.search(story.text) else None


def _american(files: Files) -> bool:
    """Has a name a day in the second place, and none in the first?"""
    seconds, firsts = (
        any(form.search(stem(path)) for one, form in FORMS if one == order for path in files if not _either(stem(path)))
        for order in (MDY, DMY)
    )
    return seconds and not firsts


def _either(name: str) -> bool:
    """May its day be its month as well?"""
    return len({order for order, form in FORMS if order in (DMY, MDY) and form.search(name)}) > 1


def _samples(story: Story) -> list[Span]:
    samples = [(one.start, one.end) for one in story.times]
    return samples + [found.span() for found in re.finditer(r"\b\d{2,4}-\d\d-\d\d(?:[ _-]+\w+)?", story.text)]


def _shapes(name: str, order: str, place: str, *, months_first: bool) -> tuple[str, str] | None:
    """What the name is like and what it becomes; None where its date stands so already."""
    date = written(name, months_first=months_first)
    if date is None or FIELD.search(name):
        return None
    turned, fields = _turned(date, order)
    head, opens, closes, tail = _around(name, date)
    there = "first" if not head else "last" if not tail else ""
    if date.order == fields and place in ("", there):
        return None
    texts = ["{text}", "{text2}"] if head and tail else ["{text}"] if head or tail else []
    before, after = (texts[0] if head else ""), (texts[-1] if tail else "")
    old = f"{before}{opens}{date.shape}{closes}{after}"
    if not place or not texts:
        return old, f"{before}{opens}{turned}{closes}{after}"
    sign = "_" if "_" in opens + closes and " " not in name else " "
    return old, sign.join([turned, *texts] if place == "first" else [*texts, turned])


def _around(name: str, date: Written) -> tuple[str, str, str, str]:
    """What stands before the date and after it, and the signs beside it, brackets among them."""
    found = BESIDE.fullmatch(name[: date.start] + "\0" + name[date.end :])
    return found.groups() if found else (name[: date.start], "", "", name[date.end :])  # type: ignore[return-value]


BESIDE = regex(r"(.*?)([ _.–-]*(?:\((?=\0\)))?)\0((?:(?<=\(\0)\))?[ _.–-]*)(.*)", re.DOTALL)


def _turned(date: Written, order: str) -> tuple[str, tuple[str, ...]]:
    """The date in its new order, and that order."""
    year_first = order == "year" or (order == "other" and date.order[0] != "year")
    days = "day" in date.order
    if year_first:
        return (ISO, ("year", "month", "day")) if days else (ISO_MONTH, ("year", "month"))
    sign = date.signs[0] if date.signs[0] in ("-", ".", "_") else "-"
    fields = ("day", "month", "year") if days else ("month", "year")
    return sign.join(f"{{{field}}}" for field in fields), fields
