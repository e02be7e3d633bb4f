"""Names taken apart and put together anew: what of them is the same in all, what each has of its own, and in which
order they stand then.

A rule is learnt from one name, and others are written a little otherwise: with another sign between their words, or in
capitals. Each keeps its own: the rule says for it in its own letters what it is, and what it becomes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from unicodedata import normalize

from libs.models.offline.gist.deeds import Deed, restyle
from libs.models.offline.gist.rewriting import together
from libs.models.offline.gist.spelling import Files, stem
from libs.models.offline.gist.story import Some
from libs.skills.shapes import FIELD, BadShape, Field, Shape, formed, reshaped

SIGNS = r"[ _.,–—+&-]+"
RULES_MOST = 12
"""Ways in which the same is written, in one offer."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A text that all names of a kind have, by its number."""

    number: int
    text: str


Piece = Field | Fixed | str
"""A plain text of the old name is a sign between its parts; of the new one it is what the example says."""


@dataclass(frozen=True)
class Rule:
    """What names are like, and what becomes of them."""

    old: tuple[Piece, ...]
    new: tuple[Piece, ...]

    def of(self, name: str) -> tuple[str, str] | None:
        """The shapes of this name before and after, in its own letters; None where the rule is not for it."""
        found = self._loose.fullmatch(normalize("NFC", name)) if not FIELD.search(name) else None
        if found is None:
            return None
        own = found.groupdict()
        shape, becomes = (_told(pieces, own, loose=pieces is self.old) for pieces in (self.old, self.new))
        return (shape, becomes) if reshaped(name, shape, becomes) not in (None, name) else None

    def held(self, files: Files) -> list[str]:
        """Those of the files that it is for."""
        return [path for path in files if of_kin(self, stem(path)) is not None]

    @property
    def kin(self) -> tuple[Rule, ...]:
        """Itself for a copy with its number, for a name that goes on, and for one without the numbers at its end: what
        stands there stays.
        """
        number, more = Field("number9", "number"), Field("text9", "text")
        copies = Rule((*self.old, " (", number, ")"), (*self.new, " (", number, ")"))
        longer = Rule((*self.old, " ", more), (*self.new, " ", more))
        free = isinstance(_last(self.old), Field) and _last(self.old) != _last(self.new)
        kin = [copies, self, *([] if free and _texts(self.old) else [longer]), *self._shorter]
        return tuple(rule for rule in kin if rule.sound)

    @property
    def _shorter(self) -> tuple[Rule, ...]:
        """Without the numbers that both its names end with."""
        at = next((n for n, piece in enumerate(self.old) if _numeric(self.old[n:])), len(self.old))
        tail = self.old[at:]
        ends = 0 < len(tail) < len(self.old) and self.new[-len(tail) :] == tail
        return (Rule(self.old[:at], self.new[: -len(tail)]),) if ends else ()

    @cached_property
    def sound(self) -> bool:
        """Does it take names apart in one way only?"""
        try:
            Shape.read(_told(self.old, {}, loose=False))
        except BadShape:
            return False
        fields = [piece for piece in self.old if not isinstance(piece, str)]
        texts = [isinstance(piece, Field) and piece.kind == "text" for piece in fields]
        return not any(one and other for one, other in pairwise(texts))

    @cached_property
    def _loose(self) -> re.Pattern[str]:
        return re.compile("".join(_form(piece, at) for at, piece in enumerate(self.old)))


def _last(pieces: Sequence[Piece]) -> Piece:
    return next((piece for piece in reversed(pieces) if piece), "")


def _texts(pieces: Sequence[Piece]) -> bool:
    last = _last(pieces)
    return isinstance(last, Field) and last.kind == "text"


def _numeric(pieces: Sequence[Piece]) -> bool:
    """A sign, and nothing but numbers and signs behind it."""
    numbers = [piece for piece in pieces if isinstance(piece, Field)]
    plain = all(isinstance(piece, str) or (isinstance(piece, Field) and piece.kind == "number") for piece in pieces)
    return plain and bool(numbers) and isinstance(pieces[0], str) and bool(pieces[0])


def _form(piece: Piece, at: int) -> str:
    match piece:
        case Fixed(number, text):
            return f"(?P<fixed{number}>(?i:{re.escape(text)}))"
        case Field():
            return formed(piece)
        case str():
            return f"(?P<sign{at}>{SIGNS if re.fullmatch(SIGNS, piece) else re.escape(piece)})" if piece else ""


def _told(pieces: Sequence[Piece], own: Mapping[str, str], *, loose: bool) -> str:
    """A rule's half as the tool reads it, in the letters of one name."""
    told = []
    for at, piece in enumerate(pieces):
        match piece:
            case Fixed(number, text):
                told.append(own.get(f"fixed{number}", text))
            case Field(name, _, digits):
                told.append(f"{{{name}:{digits}}}" if digits and not loose else f"{{{name}}}")
            case str():
                told.append(own.get(f"sign{at}", piece) if loose else piece)
    return "".join(told)


def by_rule(files: Files, rule: Rule) -> Deed | None:
    """One step for all names that are written alike."""
    return by_shapes((path, of_kin(rule, stem(path))) for path in files)


def of_kin(rule: Rule, name: str) -> tuple[str, str] | None:
    """The shapes of a name before and after, by the rule or by the nearest to it."""
    return next((shapes for one in rule.kin if (shapes := one.of(name)) is not None), None)


def by_shapes(told: Iterable[tuple[str, tuple[str, str] | None]]) -> Deed | None:
    """Each file with its shapes before and after."""
    alike: dict[tuple[str, str], list[str]] = {}
    for path, shapes in told:
        if shapes is not None and reshaped(stem(path), *shapes) not in (None, stem(path)):
            alike.setdefault(shapes, []).append(path)
    if len(alike) > RULES_MOST:
        return None
    return together([restyle(Some(tuple(paths)), shape=old, becomes=new) for (old, new), paths in alike.items()])
