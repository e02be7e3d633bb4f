"""Which of them, by whom or what they are of: "the photos of Marta", "Rechnungen von Hansen", "las facturas de 2023".

Whose they are stands in the names: of the files, or of the folder that holds them. Where it stands in neither, nothing
is guessed: the words stay, and are asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from libs.models.offline.archives import AS, archive_noun, into_archive
from libs.models.offline.clauses import KINDS, Clause, Item, Measure, Name, Named
from libs.models.offline.ground import Ground, with_words
from libs.models.offline.measures import number_of
from libs.models.offline.numerals import ARTICLES
from libs.models.offline.places import INTO, places
from libs.models.offline.quantities import ORDERS
from libs.models.offline.selection import SOME, a_piece, by_years, told_by_year, told_in_its_folder
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, fold
from libs.skills import selected

OF = listed("of from for by about von vom aus fur bei uber de del para sobre")


@dataclass(frozen=True, slots=True)
class Owned:
    """A noun, and the words after "of" that tell which of them; where both stand among the items."""

    noun: Item
    words: tuple[Word, ...]
    start: int
    end: int
    when: Measure | None = None
    like: tuple[Named, ...] = ()
    """Patterns that follow: "the minutes with board in the name"."""


def told_by_names(clause: Clause, ground: Ground) -> Clause:
    """The clause with all that stands in names told by them, whatever else the words might mean: owners and years."""
    for told in (told_of, told_inside, told_in_its_folder, told_by_year):
        clause = told(clause, ground)
    return clause


def told_inside(clause: Clause, ground: Ground) -> Clause:
    """ "The pdf invoices", "the first three reports", "the empty minutes": some of what is in the folder that is called
    so, and never all of it.
    """
    if ground.paths is None or not clause.says(*CHANGES):
        return clause
    around = {place.item for place in places(clause, ground)}
    for group in clause.groups(clause.items):
        nouns = (one for one in group if isinstance(one, Named) and one not in around and _holds(one, ground))
        noun = next(nouns, None)
        if noun is not None and _chooses(group, noun, packs=clause.says("pack", "unpack") or into_archive(clause)):
            at = clause.items.index(noun)
            return replace(clause, items=(*clause.items[:at], *_files_of(noun), *clause.items[at + 1 :]))
    return clause


CHANGES = listed("remove move copy pack rename change swap prefix suffix lower upper titlecase snake number date")


def _holds(noun: Named, ground: Ground) -> bool:
    return noun.kind is Name.PATH and bool(ground.below(noun.text.strip("/")))


def _chooses(group: Sequence[Item], noun: Named, *, packs: bool) -> bool:
    """Is there a word beside a folder's name that picks some of its files?"""
    if any(isinstance(one, Word) and "folder" in one.concepts for one in group):
        return False
    at = group.index(noun)
    after = takewhile(lambda one: not (isinstance(one, Word) and one.folded in (*INTO, *AS)), group[at + 1 :])
    beside = [one for one in (*group[:at], *after) if isinstance(one, Word)]
    before = group[at - 1] if at else None
    near = (before, *group[at + 1 : at + 2])
    strange = any(isinstance(one, Word) and (one.unknown or one.folded in SOME) for one in near)
    return strange or any(_picks(one) and not (packs and archive_noun(one)) for one in beside)


def _picks(word: Word) -> bool:
    if isinstance(word, Measure):
        return bool(word.filters)
    kinds = {*KINDS, *ORDERS, "empty"} & {*word.concepts} or extension_of(word.folded)
    return bool(kinds) or (word.folded not in ARTICLES and number_of(word.folded) is not None)


def told_of(clause: Clause, ground: Ground) -> Clause:
    """The clause with what is of somebody told by the names that say so."""
    if ground.paths is None or clause.says("create", "content"):
        return clause
    found = next((one for at in range(len(clause.items)) if (one := _owned(clause.items, at)) is not None), None)
    around = {place.item for place in places(clause, ground)}
    told = None if found is None else _told(found, ground, placed=found.noun in around)
    if found is None or told is None:
        return clause
    return replace(clause, items=(*clause.items[: found.start], *told, *clause.items[found.end :]))


def _owned(items: Sequence[Item], at: int) -> Owned | None:
    """What begins with this noun."""
    noun, end = items[at], at + 1
    if not _is_noun(noun) or end == len(items):
        return None
    if (like := _pieces(items, end)) and isinstance(noun, Named):
        return Owned(noun, (), at, end, like=like)
    if isinstance(when := items[end], Measure):
        return Owned(noun, _year(when), at, end + 1, when)
    if not _leads(items[end]):
        return None
    words: list[Word] = []
    stop = end
    for n, item in enumerate(items[end:], end):
        if not isinstance(item, Word) or isinstance(item, Measure) or not (item.filler or item.unknown):
            break
        if item.filler and item.folded in ENDS:
            break
        if not item.filler:
            words.append(item)
            stop = n + 1
    return Owned(noun, tuple(words), at, stop) if words else None


def _year(measure: Item) -> tuple[Word, ...]:
    """ "Of 2023": the whole of one year, which may stand in the names."""
    found = OF_YEAR.fullmatch(measure.text) if isinstance(measure, Measure) else None
    if found is None or fold(found[1]) not in OF:
        return ()
    return (Word(found[2], found[2], measure.start, measure.end),)


OF_YEAR = regex(
    r"(\w+)\s+(?:(?!before|after|until|since|vor|nach|bis|seit|antes|despu[eé]s|hasta|desde)\w+\s+)?((?:19|20)\d\d)"
)
""" "From the year 2024", and not "from before 2024"."""
ENDS = listed("in im into to a al nach zu zum zur en as als como on auf raus")
"""Where something else begins."""


def _pieces(items: Sequence[Item], at: int) -> tuple[Named, ...]:
    rest = (item for item in items[at:] if not (isinstance(item, Word) and item.filler))
    first = next(rest, None)
    return (first,) if isinstance(first, Named) and a_piece(first) and "/" not in first.text else ()


def _leads(item: Item) -> bool:
    return isinstance(item, Word) and item.folded in OF


def _is_noun(item: Item) -> bool:
    if isinstance(item, Named):
        return item.kind is Name.PATH
    return item.unknown or bool({*KINDS, "file"} & {*item.concepts})


def _told(found: Owned, ground: Ground, *, placed: bool) -> tuple[Item, ...] | None:
    said = [word.folded for word in found.words]
    if isinstance(found.noun, Named):
        inner = "/".join((found.noun.text.strip("/"), " ".join(word.text for word in found.words)))
        if said and ground.below(inner):
            return (Named(Name.PATH, inner, found.noun.start, found.words[-1].end),)
        told = _in_folder(found, found.noun, ground)
        if not told or (placed and found.like):
            return None
        told = () if found.like else told  # they stand there already
        return (found.noun, *told) if placed else (*_files_of(found.noun), *told)
    if not said:
        return None
    if found.noun.unknown and not extension_of(found.noun.folded):
        folder = _the_one(ground.folders_with((found.noun.folded, *said)))
        # Else the words stand side by side, as in "bank statements".
        held = with_words(ground.everywhere(found.noun.text), said)
        return (_path(folder, found),) if folder else (found.noun, *found.words) if held else None
    folder = _the_one(ground.folders_with(said))
    return (found.noun, _inside(found.noun), _path(folder, found)) if folder else None


def _in_folder(found: Owned, noun: Named, ground: Ground) -> Sequence[Item]:
    """Which of those in the folder that is called as they are."""
    folder = ground.has(noun.text.strip("/"))
    below = () if folder is None else ground.below(folder)
    if folder is None or not below:
        return ()
    if found.like:
        return found.like
    return _in_names(found, below) if found.when is None else by_years(found.when, ground.within(folder))


def _files_of(noun: Named) -> tuple[Item, ...]:
    return Word("files", "files", noun.start, noun.start, ("file",)), _inside(noun), noun


def _in_names(found: Owned, below: Sequence[str]) -> Sequence[Item]:
    pattern = f"*{'*'.join(NOT_ASCII.sub('?', word.text) for word in found.words)}*"
    held = with_words(below, [word.folded for word in found.words])
    if not held or {*held} != {path for path in below if selected(path, include=[pattern])}:
        return ()
    return (Named(Name.GLOB, pattern, found.noun.end, found.words[-1].end),)


NOT_ASCII = regex(r"[^ -~]")
"""What is written in more than one way."""


def _inside(noun: Item) -> Word:
    return Word("of", "of", noun.end, noun.end, filler=True)


def _path(folder: str, found: Owned) -> Named:
    return Named(Name.PATH, folder, found.words[0].start, found.words[-1].end)


def _the_one(folders: Sequence[str]) -> str | None:
    """The only one, or the one that holds all the others."""
    top = [one for one in folders if not any(one.startswith(f"{other}/") for other in folders)]
    return top[0] if len(top) == 1 else None
