"""Which files: kinds, extensions, patterns and names, as the `include` and `exclude` of a listing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from libs.models.offline.clauses import ACTIONS, KINDS, Clause, Item, Name, Named
from libs.models.offline.ground import Ground
from libs.models.offline.places import places
from libs.retrieval.lexicon import FAMILIES, listed
from libs.retrieval.words import Word, extension_of
from libs.skills import Categories, selected

TWINS = {
    "jpg": ("jpg", "jpeg"),
    "jpeg": ("jpg", "jpeg"),
    "html": ("html", "htm"),
    "tif": ("tif", "tiff"),
    "tiff": ("tif", "tiff"),
    "yaml": ("yaml", "yml"),
    "mpg": ("mpg", "mpeg"),
}


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
    rest = [item for item in clause.items if item not in where and not _acts(item)]
    patterns = [pattern for item in rest for pattern in _patterns(item, categories)]
    called = named_words(clause, ground)
    told = [escaped(path.rpartition("/")[2]) for _, held in called for path in held]
    if called and patterns:
        patterns = [name for name in told if _is_one(name, patterns)] if _beside(rest, called) else [*patterns, *told]
    else:
        patterns += told
    patterns = _named_like(rest, patterns)
    known = {item for item, _ in called}
    names = [item.text for item in rest if isinstance(item, Named) and item.kind is not Name.GLOB]
    strange = [
        item.text
        for item in rest
        if isinstance(item, Word) and item.unknown and item not in known and not extension_of(item.folded)
    ]
    return Selection(tuple(dict.fromkeys(patterns)), tuple(dict.fromkeys(names)), tuple(strange))


def named_words(clause: Clause, ground: Ground) -> list[tuple[Word, tuple[str, ...]]]:
    """The words that tell files by their names, and those files; none where something is looked for in them."""
    if clause.says("find", "content"):
        return []
    where = {place.item for place in places(clause, ground)}
    return _called(
        [item for item in clause.items if item not in where and not _acts(item)], ground, _within(clause, ground)
    )


def _acts(item: Item) -> bool:
    """A verb chooses nothing: the zip of "zip the PDFs" is no kind of file."""
    return isinstance(item, Word) and not ACTIONS.isdisjoint(item.concepts)


def _within(clause: Clause, ground: Ground) -> str:
    """The folder that the clause speaks of, as far as it is known."""
    said = [place.said for place in places(clause, ground) if not place.target and not place.beside]
    return (ground.has(said[0]) or said[0].strip("/")) if said else "."


def _called(items: Sequence[Item], ground: Ground, within: str) -> list[tuple[Word, tuple[str, ...]]]:
    """Words that several files have in their names: "the invoices", "the DSC files". One thing alone is named, not
    called so.
    """
    found = []
    for at, item in enumerate(items):
        if not isinstance(item, Word) or not item.unknown or not (held := ground.called(item.text, within)):
            continue
        after = items[at + 1] if at + 1 < len(items) else None
        if (
            _plural(item, held)
            or _sole(items, at, held=held, ground=ground)
            or (after is not None and _kind_noun(after))
            or any(_files_noun(other) for other in items[max(0, at - 3) : at + 3] if other is not item)
        ):
            found.append((item, held))
    return found


THE = listed("the my der die das den el la mi")


def _sole(items: Sequence[Item], at: int, *, held: Sequence[str], ground: Ground) -> bool:
    """ "The podcast", where one file in the whole tree is called so."""
    item, before = items[at], items[at - 1] if at else None
    anywhere = ground.everywhere(item.text)
    definite = isinstance(before, Word) and before.folded in THE
    alone = not any(isinstance(other, Named) and other.kind is not Name.GLOB for other in items)
    return definite and alone and len(item.text) >= 4 and len(held) == len(anywhere) == 1


def _kind_noun(item: Item) -> bool:
    """ "The lecture video" is told by both words."""
    return isinstance(item, Word) and bool({"file", *KINDS} & {*item.concepts} or extension_of(item.folded))


def _plural(word: Word, held: Sequence[str]) -> bool:
    return word.folded.endswith(("s", "en", "er", "n")) and (len(held) > 1 or word.folded.endswith(("s", "en")))


def _files_noun(item: Item) -> bool:
    if not isinstance(item, Word):
        return False
    several = item.folded.endswith(("s", "en", "er")) or extension_of(item.folded) is not None
    return several and bool({"file", *KINDS} & {*item.concepts} or extension_of(item.folded))


def _beside(items: Sequence[Item], called: Sequence[tuple[Word, tuple[str, ...]]]) -> bool:
    """Does the name's word tell which of the kind: "beach photos", "fotos de la playa"?"""
    at = items.index(called[0][0])
    near = [item for item in items[max(0, at - 3) : at + 3] if isinstance(item, Word)]
    return any({*KINDS} & {*item.concepts} or extension_of(item.folded) for item in near) and len(called) == 1


def _is_one(name: str, patterns: Sequence[str]) -> bool:
    return selected(re.sub(r"\[(.)\]", r"\1", name), include=patterns)


def escaped(name: str) -> str:
    """A name as a pattern that matches nothing else."""
    return re.sub(r"([*?\[])", r"[\1]", name)


def _named_like(items: Sequence[Item], patterns: list[str]) -> list[str]:
    """ "that start with IMG", "ending in _old"."""
    for at, item in enumerate(items):
        if not isinstance(item, Word) or not {"starts", "ends"} & {*item.concepts} or at + 1 == len(items):
            continue
        named = items[at + 1]
        if isinstance(named, Named) and named.kind is Name.GLOB:
            return [named.text]
        part = escaped(named.text)
        if "starts" in item.concepts:
            return [f"{part}{pattern}" for pattern in patterns if pattern.startswith("*")] or [f"{part}*"]
        return [f"*{part}"] if part.startswith(".") or extension_of(part.casefold()) else [f"*{part}.*"]
    return patterns


def spared(clause: Clause, ground: Ground, categories: Categories) -> Selection:
    """What a clause wants left alone, folders included. Raises `Outside` or `NoSuchPlace`."""
    if the_rest(clause) and not clause.names:
        return Selection()
    picked = select(clause, ground, categories)
    folders = [ground.path(place.said) for place in places(clause, ground)]
    named = [ground.path(name) for name in picked.names]
    bare = [real for word in clause.words if word.unknown and (real := ground.has(word.text))]
    called = [escaped(path) for word in picked.strange for path in ground.called(word)]
    found = tuple(dict.fromkeys((*picked.patterns, *folders, *named, *bare, *called)))
    strange = tuple(word for word in picked.strange if ground.has(word) is None and not ground.called(word))
    if not found and not strange and not clause.says("untouched", "all"):
        strange = tuple(word.text for word in clause.words if "except" not in word.concepts)
    return Selection(found, (), strange)


REST = listed("rest others other remaining remainder ubrigen ubrige restlichen anderen andere resto demas otros otras")


def the_rest(clause: Clause) -> bool:
    """What was not chosen: leaving that alone goes without saying."""
    said = any(word.folded in REST for word in clause.words)
    return said and not clause.says(*KINDS) and not any(extension_of(word.folded) for word in clause.words)


def _patterns(item: Word | Named, categories: Categories) -> list[str]:
    if isinstance(item, Named):
        return [item.text] if item.kind is Name.GLOB else []
    extension = extension_of(item.folded)
    if extension:
        return [f"*.{twin}" for twin in TWINS.get(extension, (extension,))]
    families = [FAMILIES[kind] for kind in item.concepts if kind in FAMILIES]
    if families:
        return [f"*.{known}" for known in families[0]]
    kinds = [kind for kind in KINDS if kind in item.concepts]
    return [f"*.{known}" for kind in kinds for known in sorted(categories.extensions.get(kind.capitalize(), ()))]
