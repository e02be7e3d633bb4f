"""Intents: templates of requests, the verbs in them, and the slots that fill a tool's parameters.

A template has the form `<verb> {files} (to|into) {target} [please]`: literal words, `<verb>` for any of the intent's
verbs, `(a|b)` for alternatives, `[a]` for optional words, `{slot}` for a part that is read by its type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SlotType = Literal[
    "selection",
    "contents",
    "within",
    "several",
    "patterns",
    "item",
    "file",
    "folder",
    "archive",
    "archives",
    "beside",
    "target",
    "new_name",
    "new_names",
    "title",
    "archive_name",
    "text",
    "series",
    "query",
    "count",
]
FORMS_MOST = 256
"""Maximum number of linear forms of one template."""
PIECE = re.compile(r"<verb>|\{([a-z_]+)\}|[(\[|)\]]|[^\s()\[\]|{}<>]+|\S")


class BadTemplate(ValueError):
    """The template does not follow the syntax of templates."""


class Declared(BaseModel):
    """A part of tools.yaml, where an unknown key is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Slot(Declared):
    """A part of a request: its type, and the parameter that it fills. Without a parameter it fills several by their
    roles.
    """

    type: SlotType
    param: str = ""


@dataclass(frozen=True, slots=True)
class Hole:
    """The position of a slot in a form."""

    slot: str


Words = frozenset[tuple[str, ...]]
Form = tuple[Words | Hole, ...]
"""One form of a request: alternatives of words, and holes."""


class Intent(Declared):
    """One meaning of a tool, with every form of a request for it."""

    say: tuple[str, ...] = Field(min_length=1, max_length=40)
    verbs: tuple[str, ...] = Field(default=(), max_length=60, alias="verb")
    slots: dict[str, Slot] = Field(default_factory=dict)
    set: dict[str, Any] = Field(default_factory=dict)
    """Arguments that these words imply."""
    unless: tuple[str, ...] = ()
    """Words that exclude this meaning."""

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """All forms of all templates."""
        return tuple(form for template in self.say for form in forms(template, self.verbs))

    def problems(self) -> Iterator[str]:
        """Yield the mistakes in the templates, for authors of skills."""
        for template in self.say:
            try:
                holes = {part.slot for form in forms(template, self.verbs) for part in form if isinstance(part, Hole)}
            except BadTemplate as wrong:
                yield f"{template!r}: {wrong}"
                continue
            yield from (f"{template!r}: {{{name}}} is not a slot" for name in sorted(holes - self.slots.keys()))


def forms(template: str, verbs: Sequence[str]) -> tuple[Form, ...]:
    """Return the forms of a template. Raises `BadTemplate`."""
    pieces = [(match[0], match[1]) for match in PIECE.finditer(template)]
    found, rest = _sequence(pieces, 0, verbs)
    if rest != len(pieces):
        raise BadTemplate(f"{pieces[rest][0]!r} has no opening bracket")
    if len(found) > FORMS_MOST:
        raise BadTemplate(f"it has more than {FORMS_MOST} forms")
    return tuple(form for form in found if form)


def _sequence(pieces: Sequence[tuple[str, str]], at: int, verbs: Sequence[str]) -> tuple[list[Form], int]:
    parts: list[list[Form]] = []
    while at < len(pieces) and pieces[at][0] not in ("|", ")", "]"):
        part, at = _part(pieces, at, verbs)
        parts.append(part)
        if prod(map(len, parts)) > FORMS_MOST:
            raise BadTemplate(f"it has more than {FORMS_MOST} forms")
    return [tuple(piece for form in chosen for piece in form) for chosen in product(*parts)], at


def _part(pieces: Sequence[tuple[str, str]], at: int, verbs: Sequence[str]) -> tuple[list[Form], int]:
    text, slot = pieces[at]
    if text in ("(", "["):
        return _group(pieces, at, verbs)
    if text == "<verb>":
        if not verbs:
            raise BadTemplate("it uses <verb>, but the intent has no verbs; add some")
        return [(frozenset(tuple(verb.lower().split()) for verb in verbs),)], at + 1
    if slot:
        return [(Hole(slot),)], at + 1
    if text in "{}<>":
        raise BadTemplate(f"{text!r} is not valid in a template")
    return [(frozenset({(text.lower(),)}),)], at + 1


def _group(pieces: Sequence[tuple[str, str]], at: int, verbs: Sequence[str]) -> tuple[list[Form], int]:
    closing = {"(": ")", "[": "]"}[pieces[at][0]]
    choices: list[Form] = [] if closing == ")" else [()]
    while True:
        found, at = _sequence(pieces, at + 1, verbs)
        choices += found
        if at == len(pieces) or pieces[at][0] not in ("|", closing):
            raise BadTemplate(f"the closing {closing!r} is missing")
        if pieces[at][0] == closing:
            return _joined(choices), at + 1


def _joined(choices: Sequence[Form]) -> list[Form]:
    """Merge alternatives that hold only words into one part, so that each needs no form of its own."""
    words = [form for form in choices if not any(isinstance(part, Hole) for part in form)]
    said = frozenset(spelt for form in words for spelt in _spelt(form))
    if len(said) > FORMS_MOST:
        raise BadTemplate(f"a group has more than {FORMS_MOST} alternatives")
    return [*([(said,)] if said else []), *(form for form in choices if form not in words)]


def _spelt(form: Form) -> Iterator[tuple[str, ...]]:
    """Every way to say a form without holes."""
    for chosen in product(*(part for part in form if not isinstance(part, Hole))):
        yield tuple(word for said in chosen for word in said)
