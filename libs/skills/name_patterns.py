"""Name patterns: `Invoice {text} {day}-{month}-{year}` is the pattern of `Invoice Hartley 14-03-2026`.

One pattern splits a name and another assembles its parts: in another order, with a reversed date, or a number with
leading zeros. Both are plain texts, so that people, planners and the executor read the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Self
from unicodedata import normalize

from libs.errors import Rejected

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
KINDS = {
    "text": r"\S(?:.*?\S)?",
    "word": r"[^\W_]+(?:['’-][^\W_]+)*",
    "number": r"\d+",
    "day": r"(?:0?[1-9]|[12]\d|3[01])",
    "month": rf"(?:0?[1-9]|1[0-2]|(?i:{'|'.join(sorted(MONTHS, key=len, reverse=True))}))",
    "year": r"(?:19|20)?\d\d",
}
DIGITS = frozenset(("number", "day", "month", "year"))
TEXTS_MOST = 3
"""Maximum number of `{text}` fields in one pattern: more would allow too many ways to split a name."""
CENTURY = 70
"""Years of two digits from here on belong to the last century."""


class BadNamePattern(Rejected):
    """A pattern may have up to three `{text}` fields, no field twice, and a new pattern only fields of the old one."""

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
        names = [field.name for field in shape.fields]
        if len({*names}) < len(names) or sum(field.kind == "text" for field in shape.fields) > TEXTS_MOST:
            raise BadNamePattern
        return shape

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Field))

    def taken(self, name: str) -> Mapping[str, str] | None:
        """Return the parts of a name by field; None if it has another pattern."""
        found = _form(self).fullmatch(normalize("NFC", name))
        return found.groupdict() if found else None

    def put(self, parts: Mapping[str, str]) -> str:
        """Return the name with these parts."""
        return "".join(piece.written(parts[piece.name]) if isinstance(piece, Field) else piece for piece in self.pieces)


def reshaped(name: str, shape: str, becomes: str) -> str | None:
    """Return the new name for a name without its extension; None if it has another pattern. Raises `BadNamePattern`."""
    old, new = NamePattern.read(normalize("NFC", shape)), NamePattern.read(becomes)
    if not {field.name for field in new.fields} <= {field.name for field in old.fields}:
        raise BadNamePattern
    parts = old.taken(name)
    return new.put(parts) if parts is not None else None


def formed(field: Field, *, after: bool = False, before: bool = False) -> str:
    """Return the field's regular expression as a named group. A number is matched whole, unless another one directly
    precedes it (`before`) or follows it (`after`).
    """
    form = f"(?P<{field.name}>{KINDS[field.kind]})"
    if field.kind not in DIGITS:
        return form
    return f"{'' if before else NO_DIGIT_BEFORE}{form}{'' if after else NO_DIGIT_AFTER}"


NO_DIGIT_BEFORE, NO_DIGIT_AFTER = r"(?<!\d)", r"(?!\d)"


@lru_cache(maxsize=512)
def _form(shape: NamePattern) -> re.Pattern[str]:
    forms = [
        formed(piece, before=_is_number(shape, at - 1), after=_is_number(shape, at + 1))
        if isinstance(piece, Field)
        else re.escape(piece)
        for at, piece in enumerate(shape.pieces)
    ]
    return re.compile("".join(forms))


def _is_number(shape: NamePattern, at: int) -> bool:
    piece = shape.pieces[at] if 0 <= at < len(shape.pieces) else ""
    return isinstance(piece, Field) and piece.kind in DIGITS
