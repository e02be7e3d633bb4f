"""Up to where, and from where on, a story goes: sizes, times, and numbers in names.

"The rotas before week 47" is no time that a file has, but a number in its name; "the price lists from 2024" are those
that are called so, where the names say their years.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from libs.models.offline.clauses import both
from libs.models.offline.gist import periods
from libs.models.offline.gist.cues import plain as plainly
from libs.models.offline.gist.stances import Part, Stance
from libs.models.offline.gist.story import PART
from libs.models.offline.measures import Filters, Measured, opposed
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold

BELOW = (
    r"before|below|under|earlier than|older than|lower than|vor|unter|antes de(?: la| el)?|antes del"
    r"|menor(?:es)? (?:de|que)"
)
UP_TO = r"up to|until|till|through|bis(?: zu[mr]?| einschlie(?:ß|ss)lich)?|hasta(?: la| el)?"
ABOVE = r"after|above|over|later than|nach|uber|despues de(?: la| el)?|despues del|mayor(?:es)? (?:de|que)"
FROM = r"from|since|ab|seit|desde(?: la| el)?|a partir de(?: la| el)?|a partir del"
SIDES = ("lt", "le", "gt", "ge")
SIDE = rf"(?:(?P<lt>{BELOW})|(?P<le>{UP_TO})|(?P<gt>{ABOVE})|(?P<ge>{FROM}))"
NUMBERED = regex(
    rf"(?<!\w){SIDE}\s+(?:(?:the|der|die|dem|den|das)\s+)?"
    r"(?P<label>[^\W\d_]{1,14})[ ._-]{0,2}(?P<number>\d{1,6})(?!\w)"
)
WEEKS = ("kw", "wk", "week", "woche", "semana")
BARE = regex(
    r"(?:the )?(?:yesterday|today|gestern|heute|ayer|hoy|(?:last|this|letzte\w*|diese\w*|vergangene\w*|este|esta) \w+"
    r"|(?:el |la )?\w+ pasad[oa])"
)
"""A time that may be of anything: "last week I printed them"."""
OF_THEN = regex(r"['’]?s\s+\w")
""" "Last year's", "last years"."""
SINCE = regex(
    r"\d{4}|\b(?:this|last|diese\w*|letzte\w*|este|esta|pasad[oa]|newer|younger|neuere?|jungere?|recent|nuev\w+|recient\w+)\b"
)
"""Of what is to stay, a time that tells its age."""
YEAR = regex(r"(?<!\d)(?:19|20)\d\d(?!\d)")
MONTH = regex(
    r"(?<!\d)(?:(?P<year>(?:19|20)\d\d)[-._ ](?P<month>0[1-9]|1[0-2])"
    r"|(?P<first>0?[1-9]|1[0-2])[-._/](?P<later>(?:19|20)\d\d))(?!\d)"
)
MONTHLY = regex(
    rf"(?<!\w){SIDE}\s+(?:(?:the|der|dem|la|el)\s+)?(?P<at>(?:19|20)\d\d[-._/]\d\d?|\d\d?[-._/](?:19|20)\d\d)(?![\w-])"
)
YEARS = regex(
    r"(?:(?<!\w)(?:from|of|von|aus|vom|de|del)\s+)?(?:19|20)\d\d(?:(?:\s*,\s*|\s*,?\s+(?:and|und|y|&|or|o|oder|e)\s+)"
    r"(?:from |of |von |aus |de |del )?(?:19|20)\d\d)+(?!\w)"
)


@dataclass(frozen=True, slots=True)
class Numbered:
    """A bound of the numbers that stand behind one word in names."""

    start: int
    end: int
    labels: tuple[str, ...]
    side: str
    number: int

    def lets(self, path: str) -> bool:
        said = number_behind(self.labels, path)
        return said is not None and _on(self.side, said, self.number)


@dataclass(frozen=True, slots=True)
class Dated:
    """A bound of the months that are in names: "before 09-2026"."""

    start: int
    end: int
    side: str
    month: int

    def lets(self, path: str) -> bool:
        said = month_in(path)
        return said is not None and _on(self.side, said, self.month)


@dataclass(frozen=True, slots=True)
class Years:
    """Years that are listed: "from 2024 and 2025"."""

    start: int
    end: int
    years: frozenset[str]

    def lets(self, path: str) -> bool:
        return not self.years.isdisjoint(YEAR.findall(path.rpartition("/")[2]))


Bound = Numbered | Dated | Years


@dataclass(frozen=True, slots=True)
class Bounds:
    """All of them, of what is to go."""

    numbers: tuple[Bound, ...] = ()
    times: tuple[Measured, ...] = ()
    text: str = ""

    def __bool__(self) -> bool:
        return bool(self.numbers or self.times)

    def within(self, paths: Sequence[str]) -> Sequence[str]:
        """Those that their names let through."""
        told = [path for path in paths if all(bound.lets(path) for bound in self.numbers)]
        years = [one for one in self.times if by_name(one, self.text, told)]
        then = [path for path in told if not years or any(in_years(path, one, self.text) for one in years)]
        return then or [path for path in told if any(periods.in_its_month(path, one) for one in years)]

    def left(self, paths: Sequence[str]) -> tuple[Measured, ...] | None:
        """The times and sizes that no name tells; None where no listing can choose by them."""
        times = tuple(one for one in self.times if not by_name(one, self.text, paths))
        told: dict[str, int | str | bool] = {}
        for one in times:
            told = both(told, one.filters)
        return None if "several_times" in told else times


def numbered(plain: str, held: Sequence[str]) -> Iterator[Numbered]:
    """Every bound that names bear out: two of them at least have a number behind that word."""
    for found in NUMBERED.finditer(plain):
        labels = WEEKS if found["label"] in WEEKS else (found["label"],)
        side = next(name for name in SIDES if found[name])
        if sum(number_behind(labels, path) is not None for path in held) > 1:
            yield Numbered(*found.span(), labels, side, int(found["number"]))


def dated(plain: str, held: Sequence[str]) -> Iterator[Dated]:
    """Every month that is a bound, where two names at least have theirs."""
    for found in MONTHLY.finditer(plain):
        side, month = next(name for name in SIDES if found[name]), month_in(found["at"])
        if month is not None and sum(month_in(path) is not None for path in held) > 1:
            yield Dated(*found.span(), side, month)


def month_in(name: str) -> int | None:
    """The month that a name says, counted from year 0: of `Abrechnung 09-2026.pdf` and of `rent 2026-09.pdf`."""
    found = MONTH.search(name.rpartition("/")[2])
    if found is None:
        return None
    return int(found["year"] or found["later"]) * 12 + int(found["month"] or found["first"])


def listed_years(plain: str, held: Sequence[str]) -> Iterator[Years]:
    """Several, where there are files that are called so."""
    for found in YEARS.finditer(plain):
        bound = Years(*found.span(), frozenset(YEAR.findall(found.group())))
        if any(map(bound.lets, held)):
            yield bound


def number_behind(labels: Sequence[str], path: str) -> int | None:
    """The number behind one of these words in a file's name."""
    parts = PART.findall(fold(path.rpartition("/")[2].rpartition(".")[0]))
    pairs = pairwise(parts)
    return next((int(number) for word, number in pairs if word in labels and number.isdigit()), None)


def of(told: Sequence[Part], text: str, times: Sequence[Measured], numbers: Sequence[Bound]) -> Bounds:
    """The bounds in what is to go; where it has none, all but what is said of what is to stay."""
    going = [part for part in told if part.stance is Stance.GO]
    staying = [part for part in told if part.stance is Stance.STAY]
    sure = [one for one in times if _sure(one, text)]
    sure = [one for one in sure if not any(other.start < one.end and one.start < other.end for other in numbers)]
    ours = tuple(one for one in sure if _in(one, going))
    since = [one for one in sure if SINCE.search(plainly(text[one.start : one.end])) and _in(one, staying)]
    others = tuple(map(_turned, since)) if not ours else ()
    return Bounds(tuple(one for one in numbers if _in(one, going)), ours or others, text)


def _sure(one: Measured, text: str) -> bool:
    """ "Last year's insurance" is of then; "last year I sold it" may be about anything."""
    return not BARE.fullmatch(plainly(text[one.start : one.end]).strip()) or OF_THEN.match(text, one.end) is not None


def by_name(one: Measured, text: str, paths: Sequence[str]) -> bool:
    """Is it a year or a month, where most of these have theirs in their names?"""
    years = [path for path in paths if YEAR.search(path.rpartition("/")[2])]
    if YEAR.search(text, one.start, one.end) is not None:
        return bool(paths) and len(years) * 3 >= len(paths) * 2
    return periods.told_by_names(one, paths)


def in_years(path: str, one: Measured, text: str) -> bool:
    """Does the name say a year or a month that the time lets through?"""
    if YEAR.search(text, one.start, one.end) is None:
        return periods.in_period(path, one)
    said = {int(year) for year in YEAR.findall(path.rpartition("/")[2])}
    if "several_times" in one.filters:
        return not said.isdisjoint(map(int, YEAR.findall(text[one.start : one.end])))
    after = str(one.filters.get("modified_after", ""))[:4] or "0"
    before = str(one.filters.get("modified_before", ""))[:4] or "9999"
    return any(int(after) <= year < int(before) for year in said)


def _on(side: str, said: int, bound: int) -> bool:
    below, at = said < bound, said == bound
    return {"lt": below, "le": below or at, "gt": not (below or at), "ge": not below}[side]


def _turned(one: Measured) -> Measured:
    """The other files: what is from this year stays, so what is older goes."""
    filters: Filters = {name: bound for name, bound in one.filters.items() if name != "several_times"}
    turned = opposed(filters) or (
        {"modified_before": filters["modified_after"]} if "modified_after" in filters else None
    )
    return Measured(one.start, one.end, turned or {"several_times": True})


def _in(one: Measured | Bound, told: Sequence[Part]) -> bool:
    return any(part.start <= one.start < part.end for part in told)
