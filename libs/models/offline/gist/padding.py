"""Numbers in names that get leading noughts: "always with 3 digits", "dreistellig", "con ceros delante".

Nothing else of a name changes. Of several numbers it is the last one that is no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.gist.aiming import chosen
from libs.models.offline.gist.dating import written
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.reshaping import by_shapes
from libs.models.offline.gist.spelling import Files, Part, ending, parts, stem
from libs.models.offline.gist.story import Span, Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold
from libs.skills.shapes import FIELD

NUMBERS = {"two": 2, "zwei": 2, "dos": 2, "three": 3, "drei": 3, "tres": 3, "four": 4, "vier": 4, "cuatro": 4}
_NUMBER = rf"(?P<number>[2-6]|{'|'.join(NUMBERS)})"
DIGITS = regex(
    rf"\b{_NUMBER}[\s-]*(?:digits?|figures?|places|stell(?:en|ig\w*)|ziffern?|d[ií]gitos?|cifras?|n[uú]meros\s+de\s+largo)\b",
    re.IGNORECASE,
)
NOUGHTS = regex(
    r"\b(?:leading|extra|front)\s+(?:zero(?:e?s)?|nou?ghts?)\b|\b(?:zero(?:e?s)?|nou?ghts?|0)\s+(?:in\s+front|at\s+the\s+front|before)\b"
    r"|\b(?:zero|nought)[ -]?pad\w*|\bpad(?:ded|ding)?\s+(?:\w+\s+){0,3}with\s+(?:zero(?:e?s)?|nou?ghts?|0)"
    r"|\bf[üu]e?hrende[nr]?\s+nullen?\b|\bnull(?:en)?\s+(?:davor|voran\w*|vorne?)|\bmit\s+nullen?\b"
    r"|\bceros?\s+(?:delante|a\s+la\s+izquierda|adelante|iniciales?|al\s+principio)|\brell[eé]n\w*\s+con\s+ceros",
    re.IGNORECASE,
)
LEAST, MOST = 2, 6
SEVERAL = 2


def heard(story: Story) -> Iterator[Deed]:
    """The numbers in names get as many digits as are told, or as the longest has."""
    told = DIGITS.search(story.text)
    noughts = NOUGHTS.search(story.text)
    if told is None and noughts is None:
        return
    spans = [found.span() for found in (told, noughts) if found]
    files = _numbered(story, spans)
    digits = _said(told) if told else max((len(number.text) for _, number in files), default=0)
    short = [(path, number) for path, number in files if len(number.text) < max(digits, LEAST)]
    if len(files) >= SEVERAL and (
        deed := by_shapes((path, _shapes(path, number, max(digits, LEAST))) for path, number in short)
    ):
        yield deed


def _said(told: re.Match[str]) -> int:
    said = fold(told["number"])
    return NUMBERS.get(said) or int(said)


def _numbered(story: Story, beside: list[Span]) -> list[tuple[str, Part]]:
    """The files that are spoken of and have a number, each with it: "the 10 comes before the 2" chooses none."""
    numbers = [found.span() for found in re.finditer(r"(?<!\w)\d+(?!\w)", story.text)]
    some = chosen(story, beside=[*beside, *numbers])
    held: Files = some.files if some else story.ground.paths or ()
    found = ((path, _number(path)) for path in held)
    return [(path, number) for path, number in found if number is not None]


def _number(path: str) -> Part | None:
    """The last that is no date, and no number of a copy."""
    name = stem(path)
    date = written(name)
    told = [part for part in parts(name) if part.text.isdigit() and len(part.text) <= MOST]
    free = [part for part in told if date is None or not date.start <= part.start < date.end]
    free = [part for part in free if not (name[: part.start].endswith("(") or YEAR.fullmatch(part.text))]
    return free[-1] if free and not FIELD.search(name) else None


YEAR = regex(r"(?:19|20)\d\d")


def _shapes(path: str, number: Part, digits: int) -> tuple[str, str]:
    """All but the number as it is, where the name has another one."""
    name = stem(path)
    head, tail = name[: number.start], name[number.end :]
    if sum(part.text.isdigit() for part in parts(name)) > 1 or not ending(path):
        return f"{head}{{number}}{tail}", f"{head}{{number:{digits}}}{tail}"
    before, after = _kept(head, "{text}", first=True), _kept(tail, "{text2}", first=False)
    return f"{before}{{number}}{after}", f"{before}{{number:{digits}}}{after}"


def _kept(said: str, field: str, *, first: bool) -> str:
    """A field for the words beside the number, with the sign that is between them."""
    bare = said.rstrip(" _-.–(") if first else said.lstrip(" _-.–)")
    if not bare:
        return said
    return f"{field}{said[len(bare) :]}" if first else f"{said[: len(said) - len(bare)]}{field}"
