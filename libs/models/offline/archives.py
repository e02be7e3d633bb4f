"""Archives as they are spoken of: by a name with such an ending, or as what something is to be put into."""

from __future__ import annotations

from collections.abc import Sequence

from libs.models.offline.clauses import Clause, Item, Name, Named
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word

ENDINGS = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".rar", ".7z", ".gz")
NOUNS = listed("zip archive archiv tarball tar zipdatei comprimido archivo_comprimido")
BEFORE_A_NAME = listed("into to in as named called namens a en llamado als")
AS = listed("as als como")
ONE = listed("a an one single ein einem eine einen un")


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
        elif (before & ONE or before & AS) and _an_archive(item, clause.items[at + 1 : at + 2]):
            return True
    return False


def _an_archive(word: Word, after: Sequence[Item]) -> bool:
    """Not the "archive files", which are some that are there."""
    files = any(isinstance(item, Word) and {"file", "folder"} & {*item.concepts} for item in after)
    return archive_noun(word) and not (files and word.folded.startswith("archive"))
