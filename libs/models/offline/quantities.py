"""How many, in which order, and whether empty: read from a clause's words."""

from __future__ import annotations

from itertools import pairwise, takewhile

from libs.models.offline.clauses import KINDS, Clause, Item, Measure, Name, Named
from libs.models.offline.measures import number_of
from libs.models.offline.numerals import ARTICLES
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word, extension_of

ORDERS = ("largest", "smallest", "newest", "oldest")
SINGULAR = listed(
    "file datei archivo fichero one eine image picture photo pic bild foto imagen document dokument documento song lied"
    " cancion video film movie pelicula folder item zip archive archiv spreadsheet presentation script installer thing"
    " screenshot pdf jpg png mp3 mp4 txt csv docx xlsx log ding cosa logfile"
)
PLURAL = listed("files dateien archivos ficheros ones folders things stuff")
UNIT = listed("sentence sentences satz satze saetze satzen frase frases oracion oraciones lines words")


def ranking(clause: Clause) -> str | None:
    """By what the files shall be ordered; None in a clause about which copy to keep."""
    if clause.says("duplicate", "keep"):
        return None
    return next((order for order in ORDERS if clause.says(order) and not _original(clause, order)), None)


def criteria(clause: Clause) -> list[Word]:
    """By what something shall be sorted or told apart: "by month", "nach Datum", "por fecha"."""
    return [word for word in told_by(clause) if {"date", "age", "size"} & {*word.concepts}]


def told_by(clause: Clause) -> list[Word]:
    """The same with kinds: all that is said in one go, "by type and year", "by the month of the last change"."""
    plain = [word for word in clause.words if word.folded in BY or not word.filler]
    led = [n for n, word in enumerate(plain) if word.folded in BY]
    runs = (takewhile(lambda word: {"date", "age", "size", "type"} & {*word.concepts}, plain[n + 1 :]) for n in led)
    return [word for run in runs for word in run]


BY = listed("by nach per por je pro segun")


def superlative(clause: Clause) -> bool:
    return any(clause.says(order) and not _original(clause, order) for order in ORDERS)


def most(clause: Clause) -> int | None:
    """How many of them in that order: the number beside it, one where it speaks of one."""
    order = ranking(clause)
    if order is None:
        return None
    at = next(n for n, item in enumerate(clause.items) if isinstance(item, Word) and order in item.concepts)
    near = sorted(range(max(0, at - 4), min(len(clause.items), at + 3)), key=lambda n: abs(n - at))
    for n in near:
        item = clause.items[n]
        if isinstance(item, Word) and (number := number_of(item.folded)) and item.folded not in ARTICLES:
            return number
    return 1 if _one(clause, at) else None


def count(clause: Clause) -> int | None:
    """A number that counts sentences or results."""
    for at, item in enumerate(clause.items):
        after = clause.items[at + 1 : at + 3]
        counts = any(isinstance(other, Word) and other.folded in UNIT for other in after)
        if counts and isinstance(item, Word) and (number := number_of(item.folded)):
            return number
    plain = (item for at, item in enumerate(clause.items) if isinstance(item, Word) and not _of_a_name(clause, at))
    return next((int(word.text) for word in plain if word.text.isdigit() and 0 < int(word.text) < MANY), None)


def _of_a_name(clause: Clause, at: int) -> bool:
    """ "Flat 2": a number right behind a word that is nothing but a name's."""
    before = clause.items[at - 1] if at else None
    return isinstance(before, Word) and before.unknown and before.end + 1 == clause.items[at].start


def emptiness(clause: Clause) -> bool | None:
    """ "empty files", "files that are empty" – but not "empty the folder"."""
    if clause.says("create"):
        return None
    said = clause.filters.get("empty")
    if said is not None:
        return bool(said)
    at = next((n for n, item in enumerate(clause.items) if isinstance(item, Word) and "empty" in item.concepts), None)
    if at is None or (_first(clause, at) and not _before_files(clause, at)):
        return None
    return True


def counted(clause: Clause) -> int | None:
    """How many of them there are, in the person's words: three in "the three invoices"."""
    for at, item in enumerate(clause.items):
        number = number_of(item.folded) if isinstance(item, Word) and item.folded not in ARTICLES else None
        if number and number < MANY and any(_noun(after) for after in clause.items[at + 1 : at + 4]):
            return number
    return None


MANY = 100
"""From here on a number is a year, or part of a name."""


def _noun(item: Item) -> bool:
    if isinstance(item, Named):
        return item.kind is Name.GLOB
    return item.unknown or _kind(item) or "file" in item.concepts


def singles(clause: Clause) -> int:
    """How many single things of a kind are meant: one in "the photo", two in "die mp3 und die mp4"."""
    told = 0
    for at, item in enumerate(clause.items):
        if not isinstance(item, Word) or not _single(item) or not _kind(item):
            continue
        after = clause.items[at + 1] if at + 1 < len(clause.items) else None
        if isinstance(after, Word) and not after.filler and after.folded.endswith("s") and after.text.isalpha():
            continue  # "the mp3 tracks", "the docx drafts"
        if any(isinstance(one, Word) and one.folded in NAMES for one in clause.items[max(0, at - 3) : at]):
            continue  # "in den Namen der csv"
        around = [
            other for other in clause.items[max(0, at - 2) : at + 3] if isinstance(other, Word) and other is not item
        ]
        if not any(
            other.folded in SEVERAL or other.folded in PLURAL or _files(other) or "all" in other.concepts
            for other in around
        ):
            told += not any((number_of(other.folded) or 0) > 1 for other in around)
    return told


NAMES = listed("names filenames namen dateinamen nombres")


def _single(item: Word) -> bool:
    """Endings of rubbish are said of all of it: "that tmp stuff"."""
    one = extension_of(item.folded) == item.folded and item.folded not in ("tmp", "bak", "raw", "cr2", "diff")
    return item.folded in SINGULAR or one


def _files(item: Word) -> bool:
    return "file" in item.concepts and item.folded not in SINGULAR


SEVERAL = listed("both beide beiden ambos ambas los las these those alle todos todas all my every")


def _kind(item: Word) -> bool:
    return bool({*KINDS} & {*item.concepts}) or extension_of(item.folded) is not None


def _original(clause: Clause, order: str) -> bool:
    """Originals are the oldest of copies, and of nothing else."""
    words = [word for word in clause.words if order in word.concepts]
    return all(word.folded.startswith("original") for word in words)


def _one(clause: Clause, at: int) -> bool:
    """Is the noun beside the superlative a single thing? German says it by the superlative's ending as well."""
    near = [item for item in clause.items[max(0, at - 2) : at + 3] if isinstance(item, Word)]
    if any(item.folded in PLURAL or _many(item) for item in near):
        return False
    return any(item.folded in SINGULAR for item in near) or _asked_of_one(clause)


def _asked_of_one(clause: Clause) -> bool:
    """ "What's the newest", "which of these is the oldest": a verb that is said of one alone."""
    said = [word.folded for word in clause.words]
    one = any(word in IS or (word == "es" and before in WHICH) for before, word in pairwise(["", *said]))
    return one and not clause.says(*DEEDS) and not any(_many(word) or word.folded in PLURAL for word in clause.words)


IS, WHICH = listed("is s whats what_s what_is ist was_ist"), listed("cual que lo quien")
DEEDS = listed("remove move copy pack unpack rename organize")


def _many(item: Word) -> bool:
    return _kind(item) and item.folded not in SINGULAR


def _first(clause: Clause, at: int) -> bool:
    """Does it stand where the verb of a request stands?"""
    before = [item for item in clause.items[:at] if not (isinstance(item, Word) and item.filler)]
    return not before


def _before_files(clause: Clause, at: int) -> bool:
    after = clause.items[at + 1] if at + 1 < len(clause.items) else None
    if after is None or isinstance(after, Named | Measure):
        return False
    return _kind(after) or bool({"file", "folder"} & {*after.concepts})
