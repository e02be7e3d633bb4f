"""Rules that make one name of another: which of its parts move, which numbers are a date, what may be the same in all
names and what is each one's own.

Of `Maße Huber` that shall be "Huber Maße" nobody can tell from the one name which word is the kind and which the
customer. So every rule that would do is put down, and the names of the others tell which of them was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from libs.models.offline.gist.reshaping import Fixed, Piece, Rule
from libs.models.offline.gist.shown import Shown
from libs.models.offline.gist.spelling import Part, stem
from libs.retrieval.regexes import regex
from libs.skills.shapes import FIELD, Field

YEAR = regex(r"(?:19|20)\d\d")
MONTHS_MOST, DAYS_MOST = 12, 31
BLOCKS_MOST = 4
KINDS = ("fixed", "head", "word", "text")
"""What a part that moves may be in other names: just so, with its first word just so, any one word, anything."""


@dataclass(frozen=True, slots=True)
class Block:
    """Parts of the name, from the first to the last of them, that stay side by side."""

    first: int
    last: int
    field: Field | None = None


@dataclass(frozen=True, slots=True)
class Learnt:
    """A rule, and how much of it is the same in all names."""

    rule: Rule
    kinds: tuple[str, ...]
    dated: bool

    @property
    def anchored(self) -> bool:
        return not self.kinds or not {"fixed", "counted", "head"}.isdisjoint(self.kinds)

    @property
    def sure(self) -> bool:
        """Is there anything in a name that tells whether it is one of these?"""
        return self.anchored or self.dated


def learnt(one: Shown, text: str, *, whole: bool, sign: str | None = None) -> Iterator[Learnt]:
    """Every rule that comes to what is shown. What is not said of the name stays where it is, unless the new name is
    said `whole`; a `sign` stands between the words where the story is known to be careless of it.
    """
    name, own, blocks = stem(one.path), one.own, list(_blocks(one))
    texts = [block for block in blocks if block.field is None]
    if FIELD.search(name) or len(texts) > BLOCKS_MOST:
        return
    for kinds in product(*(_kinds(one, block) for block in texts)):
        made = _Making(one, text, name, own, blocks, dict(zip((block.first for block in texts), kinds, strict=True)))
        rule = made.rule(whole=whole, sign=sign)
        if rule is not None and rule.sound and rule.of(name) is not None:
            yield Learnt(rule, kinds, any(block.field and block.field.kind == "year" for block in blocks))


def _kinds(one: Shown, block: Block) -> Sequence[str]:
    if all(part.text.isdigit() for part in one.own[block.first : block.last + 1]):
        return ("numbers",) if block.first not in one.order else ("fixed", "word")
    if any(part.text.isdigit() for part in one.own[block.first : block.last + 1]):
        return ("fixed", "counted", "head", "text")
    return ("fixed", "word", "text") if block.first == block.last else ("fixed", "head", "text")


def _blocks(one: Shown) -> Iterator[Block]:
    """What of the name moves as a whole, or stays."""
    fields = {**_dates(one), **{n: Field(f"number{n}", "number", digits) for n, digits in _padded(one)}}
    at = {n: place for place, n in enumerate(one.order)}
    count, start = len(one.own), 0
    for n in range(1, count + 1):
        goes_on = n < count and (at.get(n, -2 - n) == at.get(n - 1, -3 - n) + 1 or not {n, n - 1} & {*at})
        if not goes_on or n in fields or n - 1 in fields:
            yield Block(start, n - 1, fields.get(start) or _lone(one, start, n - 1))
            start = n


def _lone(one: Shown, first: int, last: int) -> Field | None:
    """A number that moves by itself."""
    alone = first == last and one.own[first].text.isdigit() and first in one.order and one.moved
    return Field(f"number{first}", "number") if alone else None


def _padded(one: Shown) -> Iterator[tuple[int, int]]:
    dates = _dates(one)
    longer = {n: len(said.text) for n, said in zip(one.order, one.said, strict=True)}
    return ((n, longer[n]) for n in one.padded if n not in dates)


def _dates(one: Shown) -> dict[int, Field]:
    """The parts that are day, month and year: three numbers side by side in the new name, or a month and a year."""
    for length in (3, 2):
        for at in range(len(one.said) - length + 1):
            said, where = one.said[at : at + length], one.order[at : at + length]
            kinds = _kinds_of_date([part.text for part in said])
            if kinds and max(where) - min(where) == length - 1:
                told = dict(zip(where, kinds, strict=True))
                return {n: Field(kind, kind) for n, kind in _settled(one, told).items()}
    return {}


def _kinds_of_date(said: Sequence[str]) -> Sequence[str]:
    if not all(text.isdigit() for text in said) or sum(bool(YEAR.fullmatch(text)) for text in said) != 1:
        return ()
    year_first, year_last = YEAR.fullmatch(said[0]) is not None, YEAR.fullmatch(said[-1]) is not None
    numbers = [int(text) for text in said if not YEAR.fullmatch(text)]
    if len(said) == 2:
        return (("year", "month") if year_first else ("month", "year")) if numbers[0] <= MONTHS_MOST else ()
    if not (year_first or year_last) or max(numbers) > DAYS_MOST or min(numbers) > MONTHS_MOST:
        return ()
    swapped = numbers[0 if year_first else 1] > MONTHS_MOST
    days = ("day", "month") if swapped == year_first else ("month", "day")
    return ("year", *days) if year_first else (*days, "year")


def _settled(one: Shown, told: Mapping[int, str]) -> dict[int, str]:
    """Of the 3rd of March nobody knows which three is the day: it is the one farther from the year."""
    own, year = one.own, next(n for n, kind in told.items() if kind == "year")
    days = [n for n in told if n != year]
    if (
        len(days) < 2
        or not all(own[n].text.isdigit() for n in days)
        or int(own[days[0]].text) != int(own[days[1]].text)
    ):
        return dict(told)
    day = max(days, key=lambda n: abs(n - year))
    return {n: "year" if n == year else "day" if n == day else "month" for n in told}


@dataclass(frozen=True, slots=True)
class _Making:
    """A rule on its way: each block of words is of a kind."""

    one: Shown
    text: str
    name: str
    own: Sequence[Part]
    blocks: Sequence[Block]
    kinds: Mapping[int, str]

    def rule(self, *, whole: bool, sign: str | None) -> Rule | None:
        """None where something would be left out that is each name's own."""
        out = [block for block in self.blocks if block.first not in self.one.order]
        if whole and any(self.kinds.get(block.first) != "fixed" for block in out):
            return None
        old, new = tuple(self._old()), tuple(self._inner(sign) if whole else self._new(sign))
        called = _names(old)
        return Rule(tuple(map(called, old)), tuple(map(called, new)))

    def _old(self) -> Iterator[Piece]:
        end = 0
        for block in self.blocks:
            yield self.name[end : self.own[block.first].start]
            yield from self._pieces(block)
            end = self.own[block.last].end
        yield self.name[end:]

    def _new(self, sign: str | None) -> Iterator[Piece]:
        """With what stands before and after it now."""
        said = [block for block in self.blocks if block.first in self.one.order]
        before = [block for block in self.blocks if block.last < said[0].first]
        after = [block for block in self.blocks if block.first > said[-1].last]
        yield self.name[: self.own[0].start]
        for block in before:
            yield from self._pieces(block)
            yield self.name[self.own[block.last].end : self.own[block.last + 1].start]
        yield from self._inner(sign)
        for block in after:
            yield self.name[self.own[block.first - 1].end : self.own[block.first].start]
            yield from self._pieces(block)
        yield self.name[self.own[-1].end :]

    def _inner(self, sign: str | None) -> Iterator[Piece]:
        """In the order of what is shown, with the signs that stand there."""
        by_first = {block.first: block for block in self.blocks}
        at = 0
        while at < len(self.one.order):
            block = by_first[self.one.order[at]]
            if at:
                yield self._sign(at, sign)
            yield from self._pieces(block)
            at += block.last - block.first + 1

    def _sign(self, at: int, sign: str | None) -> str:
        left, right = self.one.said[at - 1], self.one.said[at]
        numbers = left.text.isdigit() and right.text.isdigit()
        return self.text[left.end : right.start] if sign is None or numbers else sign

    def _pieces(self, block: Block) -> Sequence[Piece]:
        first, last = self.own[block.first], self.own[block.last]
        if block.field is not None:
            return (block.field,)
        match self.kinds[block.first]:
            case "numbers" | "counted":
                return _numbers(self.name[first.start : last.end], block.first)
            case "fixed":
                return (Fixed(block.first, self.name[first.start : last.end]),)
            case "head":
                gap = self.name[first.end : self.own[block.first + 1].start]
                head = Fixed(block.first, f"{first.text}{gap}")
                return (head, Field(f"text{block.first}", "text"))
            case kind:
                return (Field(f"{kind}{block.first}", kind),)


def _numbers(said: str, at: int) -> Sequence[Piece]:
    """Any numbers, with the words and signs between them."""
    pieces = re.split(r"(\d+|[^\W\d_]+(?:[\W_]+[^\W\d_]+)*)", said)
    return tuple(_number_or_words(piece, at + n, n % 2) for n, piece in enumerate(pieces) if piece)


def _number_or_words(piece: str, at: int, inside: int) -> Piece:
    if not inside:
        return piece
    return Field(f"number{at}", "number") if piece.isdigit() else Fixed(at, piece)


def _names(old: Sequence[Piece]) -> Callable[[Piece], Piece]:
    """Calls the first text "text" and the next "text2"."""
    fields = [piece for piece in old if isinstance(piece, Field)]
    told: dict[str, str] = {}
    for field in fields:
        earlier = sum(other.kind == field.kind for other in fields[: fields.index(field)])
        told[field.name] = f"{field.kind}{earlier + 1}" if earlier else field.kind
    return lambda piece: replace(piece, name=told[piece.name]) if isinstance(piece, Field) else piece
