"""Into folders by what: "sort them by year", "nach Monat", "una carpeta por año", and what nothing here sorts by.

A year or a month is that of a file's last change, or that its name says. "By date" leaves open which, and is asked; a
colour or an author is declined plainly, since a new folder of that name is nobody's wish.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import pairwise

from libs.models.offline.clauses import KINDS, Clause
from libs.models.offline.quantities import BY, told_by
from libs.models.offline.selection import REST
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word

UNITS: Mapping[str, frozenset[str]] = {
    "month": listed("month months monat monate monaten mes meses"),
    "year": listed("year years jahr jahre jahren ano anos"),
}
BY_DATE = frozenset((*UNITS, *(f"name_{unit}" for unit in UNITS)))
"""As the tool calls them: by the date of the last change, or by the one that the name says."""
DATES = listed(
    "date dates modification_date time age datum anderungsdatum aufnahmedatum erstellungsdatum zeit alter fecha fechas"
    " edad antiguedad"
)
NEVER = listed(
    "name names alphabet size sizes day days week weeks namen grosse groesse farbe farben autor autoren"
    " verfasser absender kunde kunden person personen thema themen projekt projekten ort orten tag tagen woche wochen"
    " wichtigkeit kamera sprache nombre nombres alfabeto tamano tamanos color colores autores cliente clientes persona"
    " personas tema temas proyecto proyectos lugar lugares dia dias semana semanas idioma importancia"
)
"""What files are not sorted into folders by, though people ask for it."""
CHRONOLOGICALLY = listed("chronologically chronologisch cronologicamente")
ALPHABETICALLY = listed("alphabetically alphabetisch alfabeticamente")
NO_PLACE = listed("by per por")
SORTS = ("sort", "ordn", "grupp", "klassif", "glieder")
"""Behind the first stands no place, nor behind a German "nach" beside one of these verbs: so whatever nobody knows
there is something to sort by."""


def grouping(clause: Clause) -> str | None:
    """The unit by which a clause puts files into folders; "date" where it leaves open which."""
    said = [word.folded for word in told_by(clause)]
    unit = next((unit for unit, forms in UNITS.items() if not forms.isdisjoint(said)), None)
    return unit or (None if DATES.isdisjoint(said) and not _in_time(clause) else "date")


def in_names(clause: Clause) -> bool:
    """ "By the year in the file name", "nach dem Jahr im Namen", and not "into a folder called Bills"."""
    words = [word for word in clause.words if not word.filler or word.folded in WITH]
    led = zip(words, (None, *words), strict=False)
    return any(word.folded in NAMES and (before is None or before.folded not in WITH) for word, before in led)


NAMES = listed(
    "name names filename filenames file_name file_names namen dateiname dateinamen nombre nombres nombre_de_archivo"
)
WITH = listed("with mit con")


def dated(clause: Clause) -> list[Word]:
    """The words by which a clause says that dates count."""
    return [word for word in told_by(clause) if {"date", "age"} & {*word.concepts}] or _in_time(clause)


def _in_time(clause: Clause) -> list[Word]:
    return [word for word in clause.words if word.folded in CHRONOLOGICALLY]


def makes_groups(clause: Clause) -> bool:
    """Are folders by year or month what it comes to? A folder that has a name is one place."""
    put = clause.says("folder") and clause.says("move", "create", "clean")
    put |= clause.says("move") and grouping(clause) in UNITS
    bare = clause.says("folder", "file", *KINDS) and not clause.acts  # "photos by month"
    return (clause.says("organize") or put or bare) and grouping(clause) is not None


def grouped(clause: Clause, before: Clause) -> Clause | None:
    """ "Folders by year, and put the photos in", "the photos into Album, and sort them by month": one wish."""
    if before.says("move") and _only_how(clause):
        said = (*told_by(clause), *_in_time(clause))
        how = (one for one in clause.words if one.folded in BY | NAMES or one in said or "organize" in one.concepts)
        return replace(before.joins(replace(clause, items=tuple(how))), joined=before.joined, links=before.links)
    if not (before.says("create") and before.says("folder") and grouping(before) in UNITS):
        return None
    if not clause.says("move", "organize") or clause.names or told_by(clause):
        return None
    ends = (item for item in before.items if not (isinstance(item, Word) and "create" in item.concepts))
    return replace(clause, items=(*clause.items, *ends))


def _only_how(clause: Clause) -> bool:
    """Does it say by what to sort, and of what and where nothing new?"""
    anew = clause.names or clause.filters or clause.says("file", "folder", "all", *KINDS)
    strange = any(word.unknown or word.folded in REST for word in clause.words)
    return clause.says("organize") and bool(told_by(clause) or _in_time(clause)) and not (anew or strange)


def unsortable(clause: Clause, places: Collection[str]) -> list[Word]:
    """What a clause would sort by and nothing can: all that was said, where that is more than one thing."""
    if not clause.says("organize"):
        return []
    plain = [word for word in clause.words if word.folded in BY or not word.filler]
    led = [(before, word) for before, word in pairwise(plain) if before.folded in BY and word.text not in places]
    sorts = any(word.folded.removeprefix("ein").startswith(SORTS) for word in clause.words)
    places_none = NO_PLACE | ({"nach"} if sorts and not clause.says("folder", "move") else set())
    odd = [word for before, word in led if word.folded in NEVER or (before.folded in places_none and word.unknown)]
    odd += [word for word in clause.words if word.folded in ALPHABETICALLY]
    said = told_by(clause)
    several = any("type" in word.concepts for word in said) and grouping(clause) is not None
    return odd or (said if several else [])
