"""What a deed depends on: "delete notes.txt if it is empty", "falls b.txt fertig ist, lösch sie".

A size, a time or emptiness bounds a list: what is named is listed with that bound, and nothing happens where it is
otherwise. Any other condition is put aside and said back, so that nothing is done as if it held.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from libs.models.offline.clauses import KINDS, Clause, Item, Measure, Name, Named
from libs.models.offline.ground import Ground, singulars
from libs.models.offline.measures import opposed
from libs.models.offline.paths import file_like
from libs.models.offline.places import places
from libs.models.offline.selection import escaped
from libs.models.offline.telling import CONDITIONS
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word, extension_of

DEEDS = listed("remove move copy rename create pack unpack organize change clean")
TOLD = listed("duplicate starts ends name all junk tempfiles litterfiles lockfiles partfiles file")
"""What a list can tell by itself, beside kinds, sizes and times."""
UNLESS = listed("unless")
OTHERWISE = listed("otherwise sonst ansonsten andernfalls")
EXISTS = listed("exists exist existiert existieren existe existen gibt hay")
SEEN = listed("find list")
""" "If you find any": only what they are counts."""
TALK = listed("here then greeting first only")


def put_aside(parts: Sequence[Clause], text: str, tokens: Collection[str]) -> tuple[list[Clause], tuple[str, ...]]:
    """The parts without the conditions that nothing here can check, and these as they were written; any other one is
    put plainly. `tokens` are the words of the names that are there.
    """
    if not any(part.says(*DEEDS) for part in parts):
        return list(parts), ()
    named = any(map(_a_file, (item for part in parts for item in part.items)))
    read: list[Clause] = []
    aside: list[str] = []
    for part in parts:
        held = _condition(part)
        plain = _plain(held, tokens, named=named)
        if plain is None and (but := _excepted(held)):
            read += [part.without(held), replace(part, items=but, joined="but")]
            continue
        if plain is None:
            aside.append(text[held[0].start : held[-1].end])
        kept = _subject(held, parts) if plain is None else plain
        items = sorted((*part.without(held).items, *kept), key=lambda item: item.start)
        read.append(replace(part, items=tuple(items)))
    return [part for part in read if part.items], tuple(aside)


def _condition(part: Clause) -> tuple[Item, ...]:
    """From its first word to the end of the part, or to the deed that follows it."""
    if _folded(part.items[0]) in OTHERWISE and part.says(*DEEDS):
        return part.items
    at = next((n for n, item in enumerate(part.items) if _folded(item) in CONDITIONS), len(part.items))
    led = any(map(_a_deed, part.items[:at]))
    ends = (n for n, item in enumerate(part.items) if n > at and _a_deed(item) and not led)
    only = at < len(part.items) and at > 0 and _says(part.items[at - 1], "only")
    return part.items[at - only : next(ends, len(part.items))]


def _plain(held: Sequence[Item], tokens: Collection[str], *, named: bool) -> tuple[Item, ...] | None:
    """The condition as a list can tell it; None where none can."""
    said = [item for item in held if not (_filler(item) or _says(item, *SEEN) or _folded(item) in EXISTS | CONDITIONS)]
    names = [item for item in said if isinstance(item, Named)]
    words = [item for item in said if isinstance(item, Word)]
    strange = any(word.unknown and not extension_of(word.folded) and _of_no_name(word, tokens) for word in words)
    if strange or len(names) > 1 or (held and _folded(held[0]) in OTHERWISE):
        return None
    if any(isinstance(item, Measure) or "empty" in item.concepts for item in held if isinstance(item, Word)):
        return _bounded(held)
    if not words and len(names) <= any(_folded(item) in EXISTS for item in held):
        return _but(held, lambda item: _folded(item) in EXISTS)
    copy = named and any(_says(one, "duplicate") for one in words)
    tells = bool(words) and not any(map(_a_file, names)) and not copy
    known = all({*word.concepts} & {*KINDS, *TOLD, *TALK} or extension_of(word.folded) for word in words)
    denied = any(_says(item, "not") or _folded(item) in UNLESS for item in held)
    return _but(held, lambda item: _says(item, *SEEN)) if tells and known and not denied else None


def _but(held: Sequence[Item], aside: Callable[[Item], bool]) -> tuple[Item, ...]:
    """Without these; its first word is grammar."""
    return tuple(_led(item) for item in held if not aside(item))


def _led(item: Item) -> Item:
    return replace(item, concepts=(), filler=True) if isinstance(item, Word) and item.folded in CONDITIONS else item


def _excepted(held: Sequence[Item]) -> tuple[Item, ...]:
    """ "Unless it's a PDF": these kinds are left alone."""
    said = [item for item in held if not (_filler(item) or _folded(item) in CONDITIONS)]
    kinds = all(isinstance(item, Word) and (_says(item, *KINDS) or extension_of(item.folded)) for item in said)
    unless = next((item for item in held if isinstance(item, Word) and item.folded in UNLESS), None)
    return (replace(unless, concepts=("except",), filler=False), *said) if said and kinds and unless else ()


def _of_no_name(word: Word, tokens: Collection[str]) -> bool:
    return singulars(word.folded).isdisjoint(tokens)


def _bounded(held: Sequence[Item]) -> tuple[Item, ...] | None:
    """With its bound as a filter, and turned round where it says "not" or "unless"."""
    denied = sum(_folded(item) in UNLESS or _says(item, "not") for item in held) % 2 == 1
    plain: list[Item] = []
    for item in held:
        if isinstance(item, Word) and (isinstance(item, Measure) or "empty" in item.concepts):
            told = item.filters if isinstance(item, Measure) else {"empty": True}
            turned = opposed(told) if denied else told
            if turned is None:
                return None
            plain.append(Measure(item.text, "<measure>", item.start, item.end, filler=True, filters=turned))
        elif not _says(item, "not", "only", *SEEN):
            plain.append(_led(item))
    return tuple(plain)


def _subject(held: Sequence[Item], parts: Sequence[Clause]) -> tuple[Item, ...]:
    """ "If notes.txt is of no use, delete it": the one thing that it speaks of, where the deed names none."""
    inside = [item for item in held if isinstance(item, Named)]
    inside = [item for item in inside if _a_file(item)] or inside
    outside = any(item not in held for part in parts for item in part.names)
    return tuple(inside) if not outside and len(inside) == 1 else ()


def told_if(clause: Clause, ground: Ground) -> Clause:
    """A file that is named and a bound on it: the list of that name tells whether it is so."""
    hangs = any(word.folded in CONDITIONS for word in clause.words)
    if not hangs or not clause.filters or not clause.says(*DEEDS):
        return clause
    around = {place.item for place in places(clause, ground) if place.after}
    whole = clause.says("folder") or "empty" in clause.filters
    told = (_listed(item, ground, whole=whole) if item not in around else [item] for item in clause.items)
    return replace(clause, items=tuple(one for items in told for one in items))


def _listed(item: Item, ground: Ground, *, whole: bool) -> Sequence[Item]:
    """A file as those of its name, and "the folder Docs" as the folders that are called so."""
    if not isinstance(item, Named) or item.kind is not Name.PATH:
        return [item]
    said = item.text.strip("/")
    pattern = Named(Name.GLOB, escaped(said), item.start, item.end)
    if not (ground.below(said) or ground.has(said) in ground.folders):
        return [pattern]
    return [Word("folders", "folders", item.start, item.start, ("folder",)), pattern] if whole else [item]


def _a_file(item: Item) -> bool:
    return isinstance(item, Named) and item.kind is Name.PATH and file_like(item)


def _a_deed(item: Item) -> bool:
    return _says(item, *DEEDS)


def _says(item: Item, *concepts: str) -> bool:
    return isinstance(item, Word) and not {*concepts}.isdisjoint(item.concepts)


def _filler(item: Item) -> bool:
    return (
        isinstance(item, Word)
        and not isinstance(item, Measure)
        and (item.filler or (not item.unknown and {*item.concepts} <= TALK))
    )


def _folded(item: Item) -> str:
    return item.folded if isinstance(item, Word) else ""
