"""Name patterns: `Invoice {text} {day}-{month}-{year}` is the pattern of `Invoice Hartley 14-03-2026`.

One pattern splits a name and another assembles its parts: in another order, with a reversed date, or a number with
leading zeros. Both are plain texts, so that people, planners and the executor read the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from libs.errors import Rejected
from libs.texts import composed

FIELD = re.compile(r"\{(?P<name>(?P<kind>text|word|number|day|month|year)\d?)(?::(?P<digits>[1-6]))?\}")
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*+")
NUMBER = re.compile(r"\d+")
ALTERNATIVES = {
    "day": tuple(map(re.compile, (r"0?[1-9]", r"[12]\d", r"3[01]"))),
    "month": tuple(
        map(re.compile, (r"0?[1-9]", r"1[0-2]", rf"(?i:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"))
    ),
    "year": tuple(map(re.compile, (r"(?:19|20)\d\d", r"\d\d"))),
}
DIGITS = frozenset(("number", "day", "month", "year"))
TEXTS_MOST, FIELDS_MOST = 3, 8
"""Maximum numbers of `{text}` fields and of all fields in one pattern: more would split a name in too many ways."""
CENTURY = 70
"""Years of two digits from here on belong to the last century."""


class BadNamePattern(Rejected):
    """A pattern may have up to three `{text}` and eight fields in all, no field twice, a text between two words, and a
    new pattern only fields of the old one.
    """

    code = "BAD_SHAPE"


@dataclass(frozen=True, slots=True)
class Field:
    """A part that differs between names."""

    name: str
    kind: str
    digits: int = 0

    def written(self, said: str) -> str:
        """Return the value as written in a new name: a day and a month with two digits, a year with four."""
        match self.kind:
            case "day" | "month":
                return f"{MONTHS.get(said.casefold()) or int(said):02}"
            case "year" if len(said) == len("26"):
                return f"{'19' if int(said) >= CENTURY else '20'}{said}"
            case "number" if self.digits:
                return f"{int(said):0{self.digits}}"
        return said


@dataclass(frozen=True, slots=True)
class NamePattern:
    """Texts that are the same in all names, and the fields between them."""

    pieces: tuple[str | Field, ...]

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a pattern. Raises `BadNamePattern`."""
        pieces: list[str | Field] = []
        end = 0
        for found in FIELD.finditer(text):
            pieces += [text[end : found.start()], Field(found["name"], found["kind"], int(found["digits"] or 0))]
            end = found.end()
        shape = cls(tuple(piece for piece in (*pieces, text[end:]) if piece))
        names, texts = [field.name for field in shape.fields], sum(field.kind == "text" for field in shape.fields)
        if len({*names}) < len(names) or texts > TEXTS_MOST:
            raise BadNamePattern
        return shape

    def check_split(self) -> None:
        """Raise BadNamePattern if names could be split in too many ways: nothing tells where one of two neighbouring
        words or texts ends.
        """
        open_ended = [isinstance(piece, Field) and piece.kind in ("text", "word") for piece in self.pieces]
        if len(self.fields) > FIELDS_MOST or any(map(all, pairwise(open_ended))):
            raise BadNamePattern

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Field))

    def taken(self, name: str) -> Mapping[str, str] | None:
        """Return the parts of a name by field; None if it has another pattern."""
        self.check_split()
        return _Split(self, composed(name)).parts()

    def put(self, parts: Mapping[str, str]) -> str:
        """Return the name with these parts."""
        return "".join(piece.written(parts[piece.name]) if isinstance(piece, Field) else piece for piece in self.pieces)


def reshaped(name: str, shape: str, becomes: str) -> str | None:
    """Return the new name for a name without its extension; None if it has another pattern. Raises `BadNamePattern`."""
    old, new = NamePattern.read(composed(shape)), NamePattern.read(becomes)
    if not {field.name for field in new.fields} <= {field.name for field in old.fields}:
        raise BadNamePattern
    parts = old.taken(name)
    return new.put(parts) if parts is not None else None


class _Split:
    """One name against one pattern, by hand: each pair of a piece and a place in the name is tried once, so that no
    pattern and no name costs more than their lengths multiplied. A regular expression would try each split.
    """

    def __init__(self, shape: NamePattern, name: str) -> None:
        self._pieces, self._name = shape.pieces, name
        self._failed: set[tuple[int, int]] = set()
        self._found: dict[str, str] = {}

    def parts(self) -> Mapping[str, str] | None:
        return self._found if self._matches(0, 0) else None

    def _matches(self, at: int, start: int) -> bool:
        if at == len(self._pieces):
            return start == len(self._name)
        if (at, start) in self._failed:
            return False
        piece = self._pieces[at]
        for end in self._ends(at, start):
            if self._matches(at + 1, end):
                if isinstance(piece, Field):
                    self._found[piece.name] = self._name[start:end]
                return True
        self._failed.add((at, start))
        return False

    def _ends(self, at: int, start: int) -> Iterator[int]:
        """Yield where a piece that begins at `start` may end, the preferred place first."""
        piece, name = self._pieces[at], self._name
        ends: Iterable[int]
        if isinstance(piece, str):
            return iter((start + len(piece),) if name.startswith(piece, start) else ())
        match piece.kind:
            case "text":
                return self._texts(start)
            case "word":
                found = WORD.match(name, start)
                ends = range(found.end(), start, -1) if found else ()
                return (end for end in ends if name[end - 1] not in JOINERS)
            case "number":
                found = NUMBER.match(name, start)
                ends = range(found.end(), start, -1) if found else ()
            case kind:
                ends = [found.end() for form in ALTERNATIVES[kind] if (found := form.match(name, start))]
        return (end for end in ends if self._is_whole(at, start, end))

    def _texts(self, start: int) -> Iterator[int]:
        """Yield the ends of a text: it neither begins nor ends with a space, and the shortest is preferred."""
        if start == len(self._name) or self._name[start].isspace():
            return
        for end in range(start + 1, len(self._name) + 1):
            if not self._name[end - 1].isspace():
                yield end

    def _is_whole(self, at: int, start: int, end: int) -> bool:
        """Return whether no digit directly precedes or follows a number, except one of a neighbouring field."""
        before = start > 0 and self._name[start - 1].isdecimal() and not self._is_number(at - 1)
        return not before and (self._is_number(at + 1) or not self._name[end : end + 1].isdecimal())

    def _is_number(self, at: int) -> bool:
        piece = self._pieces[at] if 0 <= at < len(self._pieces) else ""
        return isinstance(piece, Field) and piece.kind in DIGITS


JOINERS = "'’-"
