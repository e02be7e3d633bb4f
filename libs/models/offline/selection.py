"""Which files: kinds, extensions, patterns and names, as the `include` and `exclude` of a listing."""

from __future__ import annotations

from dataclasses import dataclass

from libs.models.offline.places import Ground, places
from libs.models.offline.reading import KINDS, Clause, Name, Named
from libs.retrieval.words import Word, extension_of
from libs.skills import Categories

TWINS = {"jpg": ("jpg", "jpeg"), "jpeg": ("jpg", "jpeg"), "html": ("html", "htm")}


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns for a listing, names said outright, and the words that nobody could turn into either."""

    patterns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.patterns or self.names)


def select(clause: Clause, ground: Ground, categories: Categories) -> Selection:
    """What a clause picks out. Its folders are left aside, except where sparing: there a folder is spared whole."""
    where = {place.item for place in places(clause, ground)}
    rest = [item for item in clause.items if item not in where]
    patterns = [pattern for item in rest for pattern in _patterns(item, categories)]
    names = [item.text for item in rest if isinstance(item, Named) and item.kind is not Name.GLOB]
    strange = [item.text for item in rest if isinstance(item, Word) and item.unknown and not extension_of(item.folded)]
    return Selection(tuple(dict.fromkeys(patterns)), tuple(dict.fromkeys(names)), tuple(strange))


def spared(clause: Clause, ground: Ground, categories: Categories) -> Selection:
    """What a clause wants left alone, folders included. Raises `Outside` or `NoSuchPlace`."""
    picked = select(clause, ground, categories)
    folders = [ground.path(place.said) for place in places(clause, ground)]
    named = [ground.path(name) for name in picked.names]
    bare = [real for word in clause.words if word.unknown and (real := ground.has(word.text))]
    found = tuple(dict.fromkeys((*picked.patterns, *folders, *named, *bare)))
    strange = tuple(word for word in picked.strange if ground.has(word) is None)
    if not found and not strange and not clause.says("untouched", "all"):
        strange = tuple(word.text for word in clause.words if "except" not in word.concepts)
    return Selection(found, (), strange)


def _patterns(item: Word | Named, categories: Categories) -> list[str]:
    if isinstance(item, Named):
        return [item.text] if item.kind is Name.GLOB else []
    extension = extension_of(item.folded)
    if extension:
        return [f"*.{twin}" for twin in TWINS.get(extension, (extension,))]
    kinds = [kind for kind in KINDS if kind in item.concepts]
    return [f"*.{known}" for kind in kinds for known in sorted(categories.extensions.get(kind.capitalize(), ()))]
