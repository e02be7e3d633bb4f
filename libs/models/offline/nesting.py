"""A folder within a folder, said in words: "a subfolder of work called finance", "a folder Alt in Bewerbungen".

Both names become one path, so that every reader of places sees one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from libs.models.offline.clauses import Item, Name, Named
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word, fold

OF = listed(
    "of in inside within under beneath below underneath from von vom im unter unterhalb innerhalb de del en"
    " dentro bajo debajo"
)
"""What stands between the inner folder and the one around it."""
SUB = listed("subfolder subfolders subdirectory unterordner unterverzeichnis subcarpeta subdirectorio")
PASSES = listed("the a an my der die das dem den des einem einen el la los las un una new neuen neuer nueva nuevo de")


@dataclass(frozen=True, slots=True)
class _Nest:
    """Where the inner name and the outer folder stand."""

    inner: int
    outer: int
    first: int
    last: int


def nested(items: Sequence[Item], folders: frozenset[str]) -> list[Item]:
    """The items with each such pair as one name. `folders` are those that are there, folded."""
    told = list(items)
    for at in range(len(told)):
        found = _nest(told, at, folders) if at < len(told) and _folder_noun(told[at]) else _there(told, at, folders)
        if found is not None:
            told[found.first : found.last + 1] = [_joined(told, found)]
    return told


def _nest(items: Sequence[Item], at: int, folders: frozenset[str]) -> _Nest | None:
    noun = items[at]
    inner = _name(items, _past(items, at + 1, "name"), folders, new=True)
    if inner is not None:
        outer = _around(items, inner + 1, folders)
        return None if outer is None else _Nest(inner, outer, inner, outer)
    outer = _around(items, at + 1, folders)
    if outer is None:
        return None
    called = _past(items, outer + 1, "name")
    named = called > outer + 1 or (isinstance(noun, Word) and noun.folded in SUB)
    inner = _name(items, called, folders, new=True) if named else None
    return None if inner is None else _Nest(inner, outer, at + 1, inner)


def _there(items: Sequence[Item], at: int, folders: frozenset[str]) -> _Nest | None:
    """ "Exportadas de Boda Ana", "the cache folder in work": no new folder, but one that is there in the other."""
    inner = items[at] if at < len(items) else None
    if inner is None or (isinstance(inner, Word) and inner.filler):
        return None
    after = next((n for n in (at + 1, at + 2) if n < len(items) and not _folder_noun(items[n])), len(items))
    outer = _around(items, after, folders)
    there = outer is not None and fold(f"{items[outer].text.rstrip('/')}/{_last(inner)}") in folders
    return _Nest(at, outer, at, outer) if there and outer is not None else None


def _around(items: Sequence[Item], at: int, folders: frozenset[str]) -> int | None:
    """The place of a folder that is there, after "of" or "in"."""
    item = items[at] if at < len(items) else None
    if not isinstance(item, Word) or item.folded not in OF:
        return None
    return _name(items, _past(items, at + 1, "folder"), folders, new=False)


def _past(items: Sequence[Item], at: int, concept: str) -> int:
    """The first place that is neither an article nor a word of this concept."""
    while at < len(items):
        item = items[at]
        if not isinstance(item, Word) or not (item.folded in PASSES or item.folded in OF or concept in item.concepts):
            return at
        at += 1
    return at


def _name(items: Sequence[Item], at: int, folders: frozenset[str], *, new: bool) -> int | None:
    item = items[at] if at < len(items) else None
    if item is None or (isinstance(item, Named) and (item.kind is Name.GLOB or "." in item.text)):
        return None
    there = fold(item.text.rstrip("/")) in folders
    if new:
        return at if not there and (isinstance(item, Named) or item.unknown) else None
    return at if there else None


def _joined(items: Sequence[Item], found: _Nest) -> Named:
    inner, outer = items[found.inner], items[found.outer]
    text = f"{outer.text.rstrip('/')}/{_last(inner)}"
    return Named(Name.QUOTE, text, min(inner.start, outer.start), max(inner.end, outer.end))


def _last(inner: Item) -> str:
    """Its own name, where one that is called so was found elsewhere."""
    return inner.text.strip("/").rpartition("/")[2]


def _folder_noun(item: Item) -> bool:
    return isinstance(item, Word) and "folder" in item.concepts
