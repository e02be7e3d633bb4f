"""How much room folders take: "which folder is the biggest", "wie groß sind die Ordner", "cuánto ocupa cada carpeta".

However it is asked, it is a list of the folders, the largest first, with the size of all that each holds.
"""

from __future__ import annotations

from dataclasses import replace

from libs.models.offline.clauses import ACTIONS, KINDS, Clause, Item, Measure, Named
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word

ROOM = listed("room space disk platz speicher speicherplatz festplatte belegt espacio disco sitio ocupa ocupan")
MANY = listed("folders subfolders directories subdirectories ordnern unterordnern carpetas subcarpetas directorios")
EACH = listed(
    "which each every what welcher welchen welches jeder jeden jedes die einzelnen alle aller meine que cual cuales"
    " cada q"
)
"""Before a folder, these speak of one among others, or of all of them."""
HERE = listed("this the in of current dieser diesem der dem im esta la en de")
"""Before it, these speak of the one where we are."""
CHANGES = ACTIONS - listed("list find report whatis howmany explain")
SAID = listed("recursive here")
"""Concepts that say which folders, and not how they are weighed."""


def weighed(clause: Clause) -> Clause:
    """What asks for it, said plainly; any other clause as it is. Only a look is ever made of it."""
    if not weighs(clause):
        return clause
    start, order = clause.items[0].start, "smallest" if clause.says("smallest") else "largest"
    plain = (_word("list", "list", start), _word(order, order, start), _word("folders", "folder", start))
    return replace(clause, items=(*plain, *filter(_tells_which, clause.items)))


def weighs(clause: Clause) -> bool:
    """Is it asked how large folders are, and not which files, nor the one folder that is named or where we are?"""
    of_files = clause.says("file", "duplicate", "empty", *KINDS)
    if clause.concepts & CHANGES or of_files or not _of_room(clause):
        return False
    around = zip((None, *clause.items), clause.items, (*clause.items[1:], None), strict=False)
    return any(_one_of_many(clause, before, item, after) for before, item, after in around)


def _of_room(clause: Clause) -> bool:
    said = {part for word in clause.words for part in word.folded.split("_")}
    return clause.says("size", "largest", "smallest") or not said.isdisjoint(ROOM)


def _one_of_many(clause: Clause, before: Item | None, item: Item, after: Item | None) -> bool:
    if not isinstance(item, Word) or isinstance(item, Measure):
        return False
    if item.folded.rpartition("_")[2] in MANY:
        return True
    led = before.folded if isinstance(before, Word) else ""
    superlative = clause.says("largest", "smallest") and led not in HERE
    return "folder" in item.concepts and not isinstance(after, Named) and (led in EACH or superlative)


def _tells_which(item: Item) -> bool:
    return isinstance(item, Named | Measure) or item.filler or not SAID.isdisjoint(item.concepts)


def _word(text: str, concept: str, at: int) -> Word:
    return Word(text, text, at, at, concepts=(concept,))
