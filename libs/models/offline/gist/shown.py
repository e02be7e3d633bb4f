"""Names of files that a story says otherwise than they are: "like 2026-03-14 Invoice Hartley", where the file is called
`Invoice Hartley 14-03-2026`.

Nobody says the parts of one file's name in another order, or its number with leading noughts, without meaning a new
name. So this is looked for before anything else is: these words choose no files, and name no folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from libs.models.offline.gist.spelling import Part, parts, stem, tight
from libs.models.offline.gist.story import Span, Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold
from libs.skills.shapes import MONTHS

_SAMPLE = (
    r"(?:\b(?:like|such\s+as|e\.?g\.?|for\s+(?:example|instance)|as\s+in|so|i\.?e\.?|also|wie|etwa|zb"
    r"|z\.\s?b\.|zum\s+beispiel|beispielsweise|bspw\.?|tipo|ej\.?|p\.?\s?ej\.?|por\s+ejemplo|como"
    r"|o\s+sea|as[ií](?:\s+quede?n?)?)[,:]?\s+)[\"“„«'‘]?"
)
_IS = r"(?:\b(?:quede?n?|llamarse|becomes?|be|called|read|says?|hei(?:ß|ss)t|llamen?)[,:]?\s+)[\"“„«'‘]?"
LEADS, SAMPLE = regex(_SAMPLE, re.IGNORECASE), regex(f"{_SAMPLE}$", re.IGNORECASE)
IS = regex(f"{_IS}$", re.IGNORECASE)
"""What leads to an example of a new name, and to the new name of what was said before."""
EXTENSION = regex(r"\.[^\W\d_]\w{1,4}(?!\w)")
PARTS_MOST = 12
SHORT_YEAR = 2


@dataclass(frozen=True, slots=True)
class Shown:
    """Words of the story, side by side, that are a run of parts of one file's name."""

    path: str
    said: tuple[Part, ...]
    order: tuple[int, ...]
    """Which part of the name each of them is."""

    @property
    def span(self) -> Span:
        return self.said[0].start, self.said[-1].end

    @property
    def moved(self) -> bool:
        """Are they in another order than the name has them?"""
        return [*self.order] != sorted(self.order)

    @property
    def own(self) -> list[Part]:
        """The parts of the name, as it is."""
        return parts(stem(self.path))

    @property
    def padded(self) -> tuple[int, ...]:
        """The numbers of the name that are said with leading noughts."""
        own = self.own
        longer = zip(self.order, self.said, strict=True)
        return tuple(
            n for n, said in longer if said.text.isdigit() and len(said.text) > len(own[n].text) and _nought(said)
        )

    @property
    def whole(self) -> bool:
        return len(self.order) == len(self.own)

    def is_old(self) -> bool:
        """Does it say the name, or a part of it, as it is?"""
        return not (self.moved or self.padded)


def _nought(said: Part) -> bool:
    return said.text.startswith("0")


@lru_cache(maxsize=64)
def _found(text: str, files: tuple[str, ...]) -> tuple[Shown, ...]:
    told = parts(text)
    known = {key for part in told for key in _keys(part.text)}
    found: list[Shown] = []
    for path in files:
        own = parts(stem(path))
        if len(own) <= PARTS_MOST and sum(not known.isdisjoint(_keys(part.text)) for part in own) > 1:
            found += _of_one(text, told, path, own)
    return tuple(found)


def mentions(story: Story) -> tuple[Shown, ...]:
    """All runs of two parts or more, in the order of the files."""
    return _found(story.text, tuple(story.ground.paths or ()))


def anew(story: Story) -> list[Shown]:
    """Those that say names otherwise than they are, the fullest first; of each place in the story the fullest alone."""
    told = [one for one in mentions(story) if not one.is_old()]
    told.sort(key=lambda one: (-len(one.order), not one.whole, one.span[0]))
    old = [one for one in mentions(story) if one.is_old()]
    kept: list[Shown] = []
    for one in told:
        fuller = any(len(other.order) >= len(one.order) and _overlap(one.span, other.span) for other in old)
        if not fuller and not any(_overlap(one.span, other.span) and one.path != other.path for other in kept):
            kept.append(one)
    return kept


def ended(story: Story, one: Shown) -> bool:
    """Does the name end with what is shown of it?"""
    told = parts(story.text)
    after = next((part for part in told if part.start >= one.span[1]), None)
    if EXTENSION.match(story.text, one.span[1]):
        return True
    return after is None or not _adjoin(story.text, one.said[-1], after) or story.text[one.span[1]].isspace()


def worded(one: Shown) -> bool:
    """Is there more of the name in it than numbers?"""
    return one.whole or any(part.text.isalpha() for part in one.said)


def led(story: Story, one: Shown) -> bool:
    """Does something lead to it as to an example, or as to the name of many?"""
    at = one.span[0]
    plain = SAMPLE.search(story.text, 0, at) is not None
    return plain or (IS.search(story.text, 0, at) is not None and not paired(story, one))


def spans(story: Story) -> list[Span]:
    """Where the story says how names shall be."""
    return [one.span for one in anew(story) if led(story, one) or one.padded or paired(story, one)]


def paired(story: Story, shown: Shown) -> bool:
    """Is the old name said as well?"""
    told = {*shown.order}
    return any(one.is_old() and one.path == shown.path and told <= {*one.order} for one in mentions(story))


def _of_one(text: str, told: Sequence[Part], path: str, own: Sequence[Part]) -> Iterator[Shown]:
    at = 0
    while at < len(told):
        order = _run(text, told, at, own)
        if len(order) > 1:
            yield Shown(path, tuple(told[at : at + len(order)]), tuple(order))
        at += max(len(order), 1)


def _run(text: str, told: Sequence[Part], at: int, own: Sequence[Part]) -> list[int]:
    """The longest run from here: which parts of the name, one next to the other in it, these words are."""
    order: list[int] = []
    for n, part in enumerate(told[at:], at):
        if order and not _adjoin(text, told[n - 1], part):
            break
        options = [one for one in range(len(own)) if one not in order and _same(part.text, own[one].text)]
        if not options:
            break
        following = order[-1] + 1 if order else -1
        order.append(following if following in options else options[0])
    while order and max(order) - min(order) >= len(order):
        order.pop()
    return order


def _adjoin(text: str, left: Part, right: Part) -> bool:
    """May both be of one name, or of one date?"""
    dotted = text[left.end : right.start] == "." or (left.text.isdigit() and text[left.end : right.start] == ". ")
    return dotted or tight(text, left, right)


@lru_cache(maxsize=4096)
def _keys(text: str) -> frozenset[str]:
    folded = fold(text)
    if text.isdigit():
        return frozenset((text.lstrip("0") or "0", text[-SHORT_YEAR:].lstrip("0") or "0"))
    return frozenset((folded, str(MONTHS[folded]))) if folded in MONTHS else frozenset((folded,))


@lru_cache(maxsize=16384)
def _same(said: str, real: str) -> bool:
    """One word; a number but for its leading noughts, its century, or being a month's name."""
    if said.isdigit() and real.isdigit():
        year = len(said) == len("2026") and len(real) == SHORT_YEAR and said.endswith(real) and said[:2] in ("19", "20")
        return year or said.lstrip("0") == real.lstrip("0")
    if said.isdigit():
        return MONTHS.get(real.casefold()) == int(said)
    return fold(said) == fold(real)


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
