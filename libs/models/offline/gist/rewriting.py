"""What a rule makes of the names that are there, and the deed that this is.

The folder has the same word in capitals here and in small letters there: each spelling is a rule of its own. What one
rule cannot say is said name by name, as long as these are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce

from libs.models.offline.gist.aiming import scope
from libs.models.offline.gist.deeds import Deed, rename, restyle
from libs.models.offline.gist.spelling import APART, Files, Run, ending, standing, stem
from libs.models.offline.gist.story import Some, Span, Story

MOST = 40
"""Files that are renamed one by one."""


def exchange(story: Story, old: str, new: str, *, beside: Sequence[Span], cased: bool = False) -> Deed | None:
    """The new text where the old one stands, in its capitals where that is all the story can mean; without a new one,
    the signs beside the old one go as well.
    """
    held = standing(old, story.ground.paths or ())
    if held is None:
        return None
    files = scope(story, held.files, beside=beside)
    if not new:
        return drop(held, files)
    careless = story.text.islower()
    told = (
        (path, one, _as(one, new) if cased or (careless and not one.isupper()) else new)
        for path in files
        for one in (held.literal(path),)
    )
    return by_rules((path, {"find": one, "replace": put}) for path, one, put in told if one != put)


def _as(old: str, new: str) -> str:
    """In the capitals of the old text."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return f"{new[:1].upper() if old[:1].isupper() else new[:1].lower()}{new[1:]}"


def drop(held: Run, files: Files) -> Deed | None:
    """The part goes, wherever something of the name is left without it."""
    cuts = ((path, cut(held, path)) for path in files)
    return by_rules((path, {"find": one, "replace": ""}) for path, one in cuts if _left(stem(path), one))


def cut(held: Run, path: str) -> str:
    """The part with the signs that would be left over beside it."""
    name, (start, end) = stem(path), held.held[path]
    if start and name[start - 1] in OPEN and name[end : end + 1] in CLOSE:
        start, end = start - 1, end + 1
    if end == len(name):
        start = len(name[:start].rstrip(APART))
    else:
        end = len(name) - len(name[end:].lstrip(APART))
    return name[start:end]


OPEN, CLOSE = "([", ")]"


def _left(name: str, part: str) -> bool:
    return any(letter.isalnum() for letter in name.replace(part, ""))


def by_rules(told: Iterator[tuple[str, Mapping[str, str]]]) -> Deed | None:
    """One rule for some, another for others."""
    rules: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for path, rule in told:
        rules.setdefault(tuple(rule.items()), []).append(path)
    deeds = [restyle(Some(tuple(paths)), **dict(rule)) for rule, paths in rules.items()]
    return together(deeds)


def one_by_one(files: Files, renewed: Callable[[str], str]) -> Deed | None:
    """Each file by what becomes of its stem."""
    told = [(path, renewed(stem(path))) for path in files]
    deeds = [rename(path, f"{new}{ending(path)}") for path, new in told if new and new != stem(path)]
    return together(deeds) if len(deeds) <= MOST else None


def together(deeds: Sequence[Deed]) -> Deed | None:
    return reduce(lambda one, other: one.then(other), deeds) if deeds else None
