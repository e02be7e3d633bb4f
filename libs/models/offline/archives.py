"""Archives as they are spoken of: by a name with such an ending, or as what something is to be put into."""

from __future__ import annotations

import re
from collections.abc import Sequence

from libs.models.offline.clauses import Clause, Item, Name, Named
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word

UNPACKS = regex(
    r"unzip|unpack|unpakc|extract|untar|entpack|auspack|entzip|pack\w*\s.*\baus\b|descomprim|extra[ei]|desempaq|desz[ií]p",
    re.IGNORECASE,
)
STRAIGHT = regex(
    r"(?:\s*,?\s*\b(?:and|und|y|but|aber|pero))?\s*,?\s*\b(?:(?:directly|unmittelbar|directamente|aqu[ií]\s+mismo)(?!\w)"
    r"|(?:straight|right)(?=\s+(?:in|into|inside|to|there|here)\b)"
    r"|direkt(?=\s+(?:in|nach|ins|dort|hier|hinein|rein|dahin|da)\b|\W*$)"
    r"|(?:(?:with)?(?:no|out)(?:\s+an?[yo]?)?|not?\s+(?:in(?:to)?\s+)?an?|don['’]?t\s+(?:make|create)\s+an?|ohne(?:\s+einen)?|kein(?:en)?"
    r"|nicht\s+in\s+einen|sin(?:\s+una?)?|no\s+en\s+una|sin\s+crear(?:\s+una)?)\s+(?:new\s+|extra\s+|separate\s+|own\s+|additional\s+"
    r"|neuen\s+|extra\s+|eigenen\s+|zusätzlichen\s+|otra\s+|nueva\s+)?(?:sub-?folders?|folders?|(?:Unter)?ordner|(?:sub)?carpetas?)"
    r"(?:\s+(?:nueva|propia|aparte|extra))?)",
    re.IGNORECASE,
)
ENDINGS = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".rar", ".7z", ".gz")
NOUNS = listed("zip archive archiv tarball tar zipdatei zip_datei comprimido archivo_comprimido")
BEFORE_A_NAME = listed("into to in as named called namens a en llamado als")
AS = listed("as als como")
ONE = listed("a an one single ein einem einer eine einen un una ne nem nen")


def straight(text: str) -> bool:
    """Shall it come out right where it is said, into no folder of its own: "directly into raw", "ohne Unterordner"?"""
    return STRAIGHT.search(text) is not None and UNPACKS.search(text) is not None


def without_straight(text: str) -> str:
    """The text without that, in its old length."""
    return STRAIGHT.sub(lambda found: " " * len(found.group()), text) if straight(text) else text


def is_archive(name: str) -> bool:
    return name.casefold().endswith(ENDINGS)


def archive_noun(word: Word) -> bool:
    """One archive: "a zip", not "the zips"."""
    return word.folded in NOUNS


def into_archive(clause: Clause) -> bool:
    """ "into a zip", "a.zip", "ein Archiv aus …": an archive is what shall be there afterwards."""
    for at, item in enumerate(clause.items):
        before = {other.folded for other in clause.items[max(0, at - 2) : at] if isinstance(other, Word)}
        if isinstance(item, Named):
            if item.kind is not Name.GLOB and is_archive(item.text) and before & BEFORE_A_NAME:
                return True
        elif (
            (before & ONE or before & AS)
            and not _of_folder(clause.items[:at])
            and _an_archive(item, clause.items[at + 1 : at + 2])
        ):
            return True
    return False


def _of_folder(before: Sequence[Item]) -> bool:
    """ "In einen Ordner Archiv": a folder that is called so."""
    return bool(before) and isinstance(last := before[-1], Word) and "folder" in last.concepts


def _an_archive(word: Word, after: Sequence[Item]) -> bool:
    """Not the "archive files", which are some that are there."""
    files = any(isinstance(item, Word) and {"file", "folder"} & {*item.concepts} for item in after)
    return archive_noun(word) and not (files and word.folded.startswith("archive"))
