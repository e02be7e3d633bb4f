"""Archives in a story: "can you zip em, call it pugh tacho, I email it from the ferry"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from libs.models.offline.gist import called, whereto
from libs.models.offline.gist.called import NAMED, Called
from libs.models.offline.gist.choosing import Choosing
from libs.models.offline.gist.deeds import Deed, pack, pack_folder
from libs.models.offline.gist.story import Some, Story
from libs.models.offline.measures import number_of
from libs.models.offline.originals import SINGLES
from libs.retrieval.lexicon import Language
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold

ZIP = regex(r"\b(?:zip\w*|archiv(?!os?\b)\w*|comprim\w*|komprim\w*)", re.IGNORECASE)
PACKS = regex(
    r"\b(?:an?|one|ein\w*|ne[nm]?|un|una|als|as|in(?:to)?|en|single)\s+(?:[^\W\d_]+\s+)?(?:zip|archiv(?!os?\b))"
    r"|\bzip(?:p\w*)?\s+(?:it|them|em|up|the|my|me|us|those|these|all|every|everything|die|das|den|mir|alle\w*|los|las|todo\w*)\b"
    r"|\b(?:zipea|comprim|komprim|gezippt|zippen|zusammenzippen|gezipped|zipped)",
    re.IGNORECASE,
)
UNPACKED = regex(r"\b(?:un-?zip|entpack|auspack|descomprim|unpack|extract|extra[ei])", re.IGNORECASE)
KEPT = regex(
    r"\b(?:keep|keeping|leave|stay|stays|bleib\w*|behalt\w*|lass\w*|liegen|qued\w+|conserv\w*|mant[eé]n\w*|dej[ae]\w*)\b",
    re.IGNORECASE,
)
UNLESS = regex(r"\b(?:not|don['’]?t|never|nothing|without|nicht|nix|nichts|kein\w*|no|nada|sin|ohne)\b", re.IGNORECASE)
COUNTED_MOST = 12
"""Larger numbers are years, sizes or names."""
_NOUN = r"(?:folder|ordner|verzeichnis|carpeta|directorio)"
FOLDER_NOUN = regex(rf"\b{_NOUN}\b", re.IGNORECASE)
FOLDER_BEFORE = regex(rf"\b{_NOUN}\s+[\"“„«']?$", re.IGNORECASE)
FOLDER_AFTER = regex(rf"[\"”“»']?[\s-]{_NOUN}\b", re.IGNORECASE)
ALL_BEFORE = regex(
    r"\b(?:whole|entire|all\s+of|everything\s+in|ganze[nrms]?|gesamte[nrms]?|komplette[nrms]?|alles\s+(?:aus|in|im|von)"
    r"|tod[oa]\s+(?:l[oa]\s+de|el|la|lo\s+que\s+hay\s+en)?|enter[oa]|complet[oa])\s+(?:the\s+|den\s+|dem\s+|el\s+|la\s+)?$",
    re.IGNORECASE,
)
EACH = regex(
    r"\b(?:two|2|three|3|separate|several|different|each|own|zwei|drei|getrennte?|je(?:weils)?|eigene[nrms]?|dos|tres|cada"
    r"|separad[oa]s?|por\s+separado|distint[oa]s)\b[^.;!?\n]{0,24}?\b(?:zip|archiv)",
    re.IGNORECASE,
)
""" "As two separate zips", "je in ein Zip", "un zip para cada"."""
YEAR = regex(r"(?<!\d)(?:19|20)\d\d(?!\d)")
ARCHIVE: Mapping[Language, str] = {"en": "Archive", "de": "Archiv", "es": "Archivo"}
CLAUSE = regex(r"[.,;!?\n]|\b(?:and|und|y|but|aber|pero)\b", re.IGNORECASE)


def spoken(story: Story) -> bool:
    """Is something to be packed? Archives that are there may be spoken of as well."""
    if UNPACKED.search(story.text):
        return False
    found = PACKS.search(story.text)
    archive = found is not None and found.group().split()[-1].casefold() in {fold(one) for one in story.ground.folders}
    named = story.says("pack") or any(NAMED.match(story.text, one.lead) for one in called.archives(story.text))
    return (found is not None and not archive) or (named and ZIP.search(story.text) is not None and not _of_zips(story))


def _of_zips(story: Story) -> bool:
    """Are there archives that may be spoken of?"""
    return any(path.casefold().endswith(".zip") for path in story.ground.paths or ())


def heard(story: Story) -> Iterator[Deed]:
    """The archives that are wanted, with or without their originals."""
    titles = called.archives(story.text)
    beside = (*(one.span for one in titles), *(found.span() for found in ZIP.finditer(story.text)))
    choosing = Choosing(story, beside, _zip_at(story.text, len(story.text)), whereto.there(story, beside))
    found = _several(story, choosing, titles) or _whole(story, choosing, titles) or _one(story, choosing, titles)
    if found is not None:
        yield found


def _one(story: Story, choosing: Choosing, titles: Sequence[Called]) -> Deed | None:
    some = choosing.files(title=titles[0].name if titles else "")
    if some is None or _miscounts(story, len(some.files)):
        return None
    return pack(some, f"{_name(story, titles, some)}.zip", remove=_originals_go(story))


def _whole(story: Story, choosing: Choosing, titles: Sequence[Called]) -> Deed | None:
    """A folder that is spoken of as one goes in as one, and is what goes afterwards."""
    some = choosing.files()
    folder = choosing.named[0][0] if choosing.named else "."
    below = story.ground.below(folder) if folder != "." else ()
    all_of_it = some is not None and {*some.files} in ({*below}, {*story.ground.within(folder)})
    if not below or not all_of_it or not _as_one(story.text, choosing.named[0][1]):
        return None
    named = {"archive": f"{titles[0].name}.zip"} if titles else {}
    return pack_folder(folder, remove=_originals_go(story), **named)


def _as_one(text: str, by: Sequence[Word]) -> bool:
    """ "The folder Alt", "all of Alt", "den ganzen Kram aus Alt"; and "get rid of the folder after"."""
    before, after = text[: by[0].start], text[by[-1].end :]
    beside = FOLDER_BEFORE.search(before) or FOLDER_AFTER.match(after) or ALL_BEFORE.search(before)
    gone = FOLDER_NOUN.search(after)
    return bool(beside or (gone is not None and UNLESS.search(_clause(text, by[-1].end + gone.start())) is None))


def _several(story: Story, choosing: Choosing, titles: Sequence[Called]) -> Deed | None:
    """ "The quotes as quotes 2026 and the invoices as invoices": each takes what is told right before it; of "each in
    its own zip" it is what is listed.
    """
    told = _before_each(choosing, titles) if len(titles) > 1 else _listed(story, choosing)
    every = [path for _, files in told for path in files]
    if len(told) < 2 or not all(files for _, files in told) or len({*every}) < len(every):
        return None
    go = _originals_go(story)
    return reduce(Deed.then, (pack(Some(tuple(files)), f"{name}.zip", remove=go) for name, files in told))


def _before_each(choosing: Choosing, titles: Sequence[Called]) -> list[tuple[str, list[str]]]:
    titles = sorted(titles, key=lambda one: one.start)
    ends = [0, *(one.end for one in titles)]
    return [(one.name, choosing.between(end, one.span[0])[0]) for end, one in zip(ends, titles, strict=False)]


def _listed(story: Story, choosing: Choosing) -> list[tuple[str, list[str]]]:
    """Each part of the list that stands before the archives, or behind them."""
    if EACH.search(story.text) is None:
        return []
    told = [choosing.between(group[0].start, group[-1].end) for group in story.groups(story.words)]
    some = [Some(tuple(files), words=tuple(by)) for files, by in told if files]
    return [(_name(story, (), one), list(one.files)) for one in some]


def _miscounts(story: Story, count: int) -> bool:
    """ "Pack the invoices and then delete the four", where three are packed."""
    going = (_clause(story.text, word.start) for word in story.words if "remove" in word.concepts)
    said = [number_of(fold(one)) for clause in going for one in re.findall(r"\w+", clause)]
    return any(number is not None and 1 < number <= COUNTED_MOST and number != count for number in said)


def _name(story: Story, titles: Sequence[Called], some: Some) -> str:
    """As it is told; else as the folder is called whose files these all are; else by the words that chose them, with
    the year that did, or by the folder that they are some of.
    """
    if titles:
        return titles[0].name
    home = some.files[0].rpartition("/")[0]
    inside = bool(home) and all(path.startswith(f"{home}/") for path in some.files)
    if inside and len(some.files) >= len(story.ground.within(home)):
        return home.rpartition("/")[2]
    said = next((word.text for word in some.words if not word.text.isdigit()), None)
    name = said or (home.rpartition("/")[2] if inside else None) or ARCHIVE[story.language]
    return " ".join((f"{name[:1].upper()}{name[1:]}", *_year(story, some)))


def _year(story: Story, some: Some) -> list[str]:
    """The one year that was said of them."""
    told = [*(word.text for word in some.words), *(story.text[one.start : one.end] for one in some.times)]
    years = {found for one in told for found in YEAR.findall(one)}
    return list(years) if len(years) == 1 else []


def _originals_go(story: Story) -> bool:
    """Only where their going is said, and nowhere that they stay."""
    removes = (word for word in story.words if "remove" in word.concepts and not word.slip)
    goes = any(_goes(story, word) for word in removes if story.language != "es" or word.folded != "del")
    return goes and not any(_stays(story.text, found) for found in KEPT.finditer(story.text))


def _goes(story: Story, word: Word) -> bool:
    return UNLESS.search(_clause(story.text, word.start)) is None


def _stays(text: str, kept: re.Match[str]) -> bool:
    """ "Leave the originals" and not "I only want to keep the lessons"."""
    clause = _clause(text, kept.start())
    said = {one.casefold() for one in re.findall(r"\w+", clause)}
    return kept.start() > _zip_at(text) and (bool(said & SINGLES) or UNLESS.search(clause) is None)


def _zip_at(text: str, otherwise: int = 0) -> int:
    found = ZIP.search(text)
    return found.start() if found else otherwise


def _clause(text: str, at: int) -> str:
    cuts = [cut.end() for cut in CLAUSE.finditer(text, 0, at)]
    after = CLAUSE.search(text, at)
    return text[cuts[-1] if cuts else 0 : after.start() if after else len(text)]
