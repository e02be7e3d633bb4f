"""What a listing chooses, and where, in plain words: "PDF files over 5 MB" "in “Photos”".

A plan that is proposed and an answer that found nothing say it alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from libs.models.offline import phrasebook as say
from libs.retrieval.lexicon import FAMILIES, Language
from libs.retrieval.regexes import regex
from libs.skills import Categories

TEXTS = ("containing", "lacking")
TIMES = ("modified_after", "modified_before")
NEW_YEAR = regex(r"-01-01$")
WHOLE = ((4, NEW_YEAR), (7, regex(r"-01$")))
"""Letters of a year and of a month, and how the first day of one ends."""
FEW = 5
"""Patterns that are told before the rest is only counted as more."""


@dataclass(frozen=True, slots=True)
class Choosing:
    """Tells the args of a listing in one language; `size` says bytes as people do."""

    language: Language
    categories: Categories
    size: Callable[[int], str]

    def what(self, args: Mapping[str, Any]) -> str:
        """What is chosen, as it stands behind "no" or "the"."""
        named = [str(pattern) for pattern in args.get("include") or ()]
        nodes, node = (say.EMPTY if args.get("empty") else say.NODES), str(args.get("node_kind") or "file")
        noun = nodes[node][self.language]
        if named:
            noun = self._kind(named)
            noun = say.EMPTY_KIND[self.language].format(what=noun) if args.get("empty") else noun
        bound = {name: args[name] for name in say.BOUNDS if args.get(name) is not None}
        return " ".join((noun, *(self._bound(name, value) for name, value in _in_one(bound).items())))

    def of_these(self, named: str, args: Mapping[str, Any]) -> str:
        """Of files by name, those that say something, or are of a time or a size."""
        told = _in_one({name: args[name] for name in say.BOUNDS if args.get(name) is not None})
        bound = " ".join(self._bound(name, value) for name, value in told.items())
        return say.OF_THESE[self.language].format(named=named, bound=bound)

    def within(self, args: Mapping[str, Any]) -> str:
        """In which folders; `here` where none is named."""
        places = [str(place) for place in args.get("folders") or [args.get("path", ".")] if place != "."]
        quoted = ", ".join(map(self.quoted, places))
        return say.WITHIN[self.language].format(place=quoted) if quoted else say.HERE[self.language]

    def where(self, args: Mapping[str, Any]) -> str:
        """The same, with what lies below where that was looked through, too."""
        return f"{self.within(args)}{say.NOR_BELOW[self.language] if args.get('recursive') else ''}"

    def _kind(self, patterns: Sequence[str]) -> str:
        """`images`, where it is all of them; `JPG, JPEG files`; else the patterns as they are."""
        if {*patterns} == {*FAMILIES["tempfiles"]}:
            return say.TEMPORARY[self.language]
        endings = [pattern.removeprefix("*.") for pattern in patterns]
        plain = all(
            pattern.startswith("*.") and ending.isalnum() for pattern, ending in zip(patterns, endings, strict=True)
        )
        known = self.categories.extensions.items()
        category = next((name for name, held in known if plain and held == {*endings}), None)
        if category is not None:
            ours = say.KINDS.get(category)
            return ours[self.language] if ours is not None else category
        names = [ending.upper() for ending in endings] if plain else [self.quoted(one) for one in patterns]
        more = [] if len(names) <= FEW else ["…"]
        return (say.OF_KIND if plain else say.LIKE)[self.language].format(kinds=", ".join((*names[:FEW], *more)))

    def quoted(self, name: str) -> str:
        return say.QUOTED[self.language].format(name=name)

    def _bound(self, name: str, value: object) -> str:
        if name in TEXTS:
            return say.BOUNDS[name][self.language].format(value=self.quoted(str(value)))
        told = self.size(value) if isinstance(value, int) and name.endswith("_than") else str(value)
        told = NEW_YEAR.sub("", told[:10]) if name in TIMES else told
        return say.BOUNDS[name][self.language].format(value=told)


def _in_one(bounds: Mapping[str, object]) -> Mapping[str, object]:
    """Both ends of a time as that: `2023`, `2021–2023`, `2023-05`, `2023-05-04`, `2023-05-04–2023-06-01`."""
    after, before = (str(bounds.get(name, ""))[:10] for name in TIMES)
    if not (after and before):
        return bounds
    last = (date.fromisoformat(before) - timedelta(days=1)).isoformat()
    cut = next((n for n, whole in WHOLE if whole.search(after) and whole.search(before)), None)
    told = dict.fromkeys((after[:cut], last[:cut]))
    rest = {name: value for name, value in bounds.items() if name not in TIMES}
    return {"within": "–".join(told), **rest}
