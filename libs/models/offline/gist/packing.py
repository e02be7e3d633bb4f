"""Archives in a story: "can you zip em, call it pugh tacho, I email it from the ferry"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.gist import called, whereto
from libs.models.offline.gist.called import NAMED, Called
from libs.models.offline.gist.choosing import Choosing
from libs.models.offline.gist.deeds import Deed, pack
from libs.models.offline.gist.story import Some, Story
from libs.models.offline.measures import number_of
from libs.models.offline.originals import SINGLES
from libs.retrieval.words import Word, fold

ZIP = re.compile(r"\b(?:zip\w*|archiv(?!os?\b)\w*|comprim\w*|komprim\w*)", re.IGNORECASE)
PACKS = re.compile(
    r"\b(?:an?|one|ein\w*|ne[nm]?|un|una|als|as|in(?:to)?|en|single)\s+(?:[^\W\d_]+\s+)?(?:zip|archiv(?!os?\b))"
    r"|\bzip(?:p\w*)?\s+(?:it|them|em|up|the|my|me|us|those|these|all|every|everything|die|das|den|mir|alle\w*|los|las|todo\w*)\b"
    r"|\b(?:zipea|comprim|komprim|gezippt|zippen|zusammenzippen|gezipped|zipped)",
    re.IGNORECASE,
)
UNPACKED = re.compile(r"\b(?:un-?zip|entpack|auspack|descomprim|unpack|extract|extra[ei])", re.IGNORECASE)
KEPT = re.compile(
    r"\b(?:keep|keeping|leave|stay|stays|bleib\w*|behalt\w*|lass\w*|liegen|qued\w+|conserv\w*|mant[eé]n\w*|dej[ae]\w*)\b",
    re.IGNORECASE,
)
UNLESS = re.compile(
    r"\b(?:not|don['’]?t|never|nothing|without|nicht|nix|nichts|kein\w*|no|nada|sin|ohne)\b", re.IGNORECASE
)
CLAUSE = re.compile(r"[.,;!?\n]|\b(?:and|und|y|but|aber|pero)\b", re.IGNORECASE)


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
    """The archive that is wanted, with or without its originals."""
    titles = called.archives(story.text)
    title = titles[0] if titles else None
    beside = (*(one.span for one in titles), *(found.span() for found in ZIP.finditer(story.text)))
    found = ZIP.search(story.text)
    at = found.start() if found else len(story.text)
    named = whereto.there(story, beside)
    some = Choosing(story, beside, at, named).files(title=title.name if title else "")
    if some is not None and not _miscounts(story, len(some.files)):
        yield pack(some, f"{_name(title, some)}.zip", remove=_originals_go(story))


def _miscounts(story: Story, count: int) -> bool:
    """ "Pack the invoices and then delete the four", where three are packed."""
    going = (_clause(story.text, word.start) for word in story.words if "remove" in word.concepts)
    said = [number_of(fold(one)) for clause in going for one in re.findall(r"\w+", clause)]
    return any(number is not None and 1 < number <= COUNTED_MOST and number != count for number in said)


COUNTED_MOST = 12
"""Larger numbers are years, sizes or names."""


def _name(title: Called | None, some: Some) -> str:
    """As it is told, else as its files are called, or the folder that they are in."""
    if title is not None:
        return title.name
    home = some.files[0].rpartition("/")[0].rpartition("/")[2]
    if home and all(path.startswith(some.files[0].rpartition("/")[0]) for path in some.files):
        return home
    said = next((word.text for word in some.words if not word.text.isdigit()), None)
    said = said or next((word.text for word in some.words), "Archive")
    return f"{said[:1].upper()}{said[1:]}"


def _originals_go(story: Story) -> bool:
    """Only where their going is said, and nowhere that they stay."""
    goes = any(_goes(story, word) for word in story.words if "remove" in word.concepts)
    return goes and not any(_stays(story.text, found) for found in KEPT.finditer(story.text))


def _goes(story: Story, word: Word) -> bool:
    return UNLESS.search(_clause(story.text, word.start)) is None


def _stays(text: str, kept: re.Match[str]) -> bool:
    """ "Leave the originals" and not "I only want to keep the lessons"."""
    clause = _clause(text, kept.start())
    said = {one.casefold() for one in re.findall(r"\w+", clause)}
    return kept.start() > _zip_at(text) and (bool(said & SINGLES) or UNLESS.search(clause) is None)


def _zip_at(text: str) -> int:
    found = ZIP.search(text)
    return found.start() if found else 0


def _clause(text: str, at: int) -> str:
    cuts = [cut.end() for cut in CLAUSE.finditer(text, 0, at)]
    after = CLAUSE.search(text, at)
    return text[cuts[-1] if cuts else 0 : after.start() if after else len(text)]
