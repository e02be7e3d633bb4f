"""Where files shall go: into a folder that is there, or one that is to be made, within another or at the top."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from libs.models.offline.clauses import KINDS
from libs.models.offline.gist import called
from libs.models.offline.gist.called import FOLDER, Called
from libs.models.offline.gist.choosing import Named, stays_out
from libs.models.offline.gist.story import Span, Story
from libs.retrieval.lexicon import FAMILIES
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold

_THE = r"(?:(?:the|my|our|his|her|their|that|this|den|dem|der|die|das|mein\w*|la|el|mis?|su|esta?|esa?)\s+)*"
_INSIDE = r"(?:inside|within|in|under|dentro\s+de|adentro\s+de|en|im|unter|innerhalb(?:\s+von)?)"
INSIDE_AFTER = regex(
    rf"[\s,:]*(?:(?:right|just|ah[ií]|all[ií]|ac[aá]|da|there|over|so|and|y|und|be|to|sein|soll|direkt)\s+)*"
    rf"{_INSIDE}\s+{_THE}(?:{FOLDER}\s+)?[\"“„«']?$",
    re.IGNORECASE,
)
THEREIN = regex(
    r"\b(?:da\s*drin(?:nen)?|darin|there\s+inside|inside\s+there|in\s+there|inside\s+it|ah[ií]\s+(?:a?dentro|mismo)|(?:unter|sub)ordner|sub-?folder|subcarpeta)\b",
    re.IGNORECASE,
)
OUT_OF = regex(r"\b(?:out\s+of|raus\s+aus|aus|fuera\s+de|desde|from)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
INTO = regex(
    rf"\b(?:into|in|to|inside|under|nach|zu[mr]?|ins?|im|rein\s+in|hacia|dentro\s+de|al?|en|with)\s+{_THE}(?:{FOLDER}\s+)?[\"“„«']?$",
    re.IGNORECASE,
)
CLEARLY = regex(
    r"\b(?:into|to|nach|zu[mr]?|ins|rein\s+in|in\s+(?:den|die|das)|hacia|al?"
    r"|(?:be|go(?:es)?|belongs?|kept|live|sit|stick|put|tuck|pop|bung|geh[öo]r\w*|kommt|kommen|van?|vayan|met[eao]\w*|p[oó]n\w*)\s+"
    rf"(?:(?:them|it|em|all|those|these|everything|todo|todas|todos)\s+)?(?:in|inside|en))\s+{_THE}(?:{FOLDER}\s+)?[\"“„«']?$",
    re.IGNORECASE,
)
THEM = regex(r"(?:them|em|these|those|sie|las|los|names)\s*$", re.IGNORECASE)
ITS_OWN = regex(
    rf"\b(?:(?:in(?:to)?|inside|to)\s+(?:his|her|its|their|that)\s+(?:own\s+)?{FOLDER}"
    rf"|in\s+(?:seinen?|ihren?|dessen|deren)\s+{FOLDER}|(?:a|en)\s+su\s+{FOLDER})\b",
    re.IGNORECASE,
)
FOLDER_BEFORE = regex(rf"(?:\b(?:{FOLDER}|in|into|from|aus|im|en|de)\s+|/)$", re.IGNORECASE)
FOLDER_AFTER = regex(rf"\s+{FOLDER}\b", re.IGNORECASE)
APART = regex(
    rf"\b(?:own|separate|eigene[nmrs]?|extra|propi[ao]|aparte)\s+(?:\w+\s+)?{FOLDER}|{FOLDER}\s+(?:of\s+(?:their|its|his|her)\s+own"
    rf"|propi[ao]|aparte|para\s+ell[ao]s|for\s+(?:them|those|these|it)|dafür|für\s+(?:sie|die|das))\b",
    re.IGNORECASE,
)
PATH = regex(r"(?<![\w/])(?P<above>[^\s/,;:.!?\"][^/,;:.!?\n\"]{0,60})/(?P<name>[^\s/,;:.!?\"]+)")
NO_NAMES = frozenset((*KINDS, *FAMILIES, "age"))
"""Words that are rarely meant for a folder that has them for its name: "the old ones", "my pictures"."""
INTO_NAME = regex(
    r"\b(?:in|into|to|nach|a|en)\s+(?:(?:the|den|die|la|el|una?|einen|nen)\s+)?(?=(?-i:[A-ZÄÖÜÁÉÍÓÚ]))", re.IGNORECASE
)
TOP = regex(
    r"\b(?:ganz\s+oben|oberste\w*\s+ebene|at\s+the\s+(?:very\s+)?top|top\s+level|main\s+folder|arriba\s+del\s+todo|en\s+la\s+ra[ií]z)\b",
    re.IGNORECASE,
)
THE_FOLDER = regex(rf"\b(?:the|this|that|my|la|esta|esa|mi|der|dieser|mein)\s+(?P<noun>{FOLDER})\s+$", re.IGNORECASE)
LEAVING, OTHERWISE = ("except", "untouched", "keep", "not"), ("duplicate", "copy")
ALL_BUT = regex(r"\b(?:all\s+but|without|sin)\b", re.IGNORECASE)
SUFFIX = regex(r"\.\w{1,5}$")
YEAR = regex(r"(?:19|20)\d\d(?:-(?:0[1-9]|1[0-2]))?")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that files go to: what takes up the text, where it is told, and what it is called."""

    name: str
    start: int
    spans: tuple[Span, ...]
    folder: str | None = None
    """Its path, where that is told outright."""

    @property
    def told(self) -> Span:
        return self.spans[0]


def there(story: Story, beside: Sequence[Span] = ()) -> tuple[Named, ...]:
    """The folders that are spoken of, the innermost of those that stand within one another; of a folder of several
    words these may stand apart: "de la lonja … esas facturas".
    """
    story = replace(story, text=_without(story.text, beside))
    told = list(story.places)
    for folder in story.folders:
        naming = [story.naming(part) for part in re.findall(r"\w{3,}", folder.rpartition("/")[2])]
        if len(naming) > 1 and all(naming) and folder not in [one for one, _ in told]:
            told.append((folder, tuple(dict.fromkeys(word for words_ in naming for word in words_))))
    names = {folder: {word.start for word in by} for folder, by in told}
    held = [
        (folder, by)
        for folder, by in told
        if story.ground.below(folder)
        and (_surely(story.text, by) or _follows(story.text, by, names.get(folder.rpartition("/")[0], set())))
    ]
    inner = [one for one in held if any(one[0].startswith(f"{other}/") for other, _ in held)]
    above = tuple(word for folder, by in held if any(one.startswith(f"{folder}/") for one, _ in inner) for word in by)
    outer = [one for one in held if one not in inner and not any(i.startswith(f"{one[0]}/") for i, _ in inner)]
    return (*((folder, (*by, *above)) for folder, by in inner), *outer)


def _surely(text: str, by: Sequence[Word]) -> bool:
    """ "The old ones" are no folder `old`, and "not the ones in old" keeps out of it."""
    if stays_out(text, by[0]):
        return False
    if not all({*word.concepts} & NO_NAMES for word in by) or by[0].text[0].isupper():
        return True
    return FOLDER_BEFORE.search(text[: by[0].start]) is not None or FOLDER_AFTER.match(text[by[-1].end :]) is not None


def _follows(text: str, by: Sequence[Word], above: set[int]) -> bool:
    """ "Los flyers viejos": the folder within the folder."""
    before = text[: by[0].start].rstrip(" /")
    return any(start == len(before) - len(re.split(r"[\s/]", before)[-1]) for start in above)


def new(story: Story) -> Iterator[Place]:
    """The folders that get a name, but for those that are named as where something is."""
    tops = {fold(folder.rpartition("/")[2]): folder for folder in story.folders}
    yield from _by_path(story, tops)
    made = re.search(rf"\b{FOLDER}\b", story.text, re.IGNORECASE)
    for one in called.folders(story.text):
        beside = called.is_beside(story.text, one)
        if not beside and (made is None or THEM.search(story.text[one.lead : one.start])):
            continue
        if beside and one.name.islower() and _only_there(story.text, one):
            continue
        if fold(one.name) not in tops or _is_target(story.text, one):
            yield Place(one.name, one.start, (one.span,), tops.get(fold(one.name)))


def each(story: Story) -> list[Place]:
    """The folders of "the images in Images and the videos in Videos", in the order of the text."""
    told = {place.start: place for place in new(story)}
    tops = {fold(folder.rpartition("/")[2]): folder for folder in story.folders}
    for found in INTO_NAME.finditer(story.text):
        end = called.ended(story.text, found.end())
        name = story.text[found.end() : end]
        if name and found.end() not in told and fold(name) not in tops:
            told[found.end()] = Place(name, found.end(), ((found.start(), end),))
    return [told[start] for start in sorted(told)]


def capital(story: Story) -> list[Place]:
    """ "Put the invoices in Bills, but leave the one of the cake": a new folder that only its capital tells, where not
    every noun has one. Where nothing is left out it is understood by the word.
    """
    leaves = story.says(*LEAVING) or ALL_BUT.search(story.text) is not None
    told = each(story) if leaves and story.language != "de" and not story.says(*OTHERWISE) else []
    return [place for place in told if place.name not in story.folders][-1:]


def _by_path(story: Story, tops: dict[str, str]) -> Iterator[Place]:
    """ "Put them in Invoices/2026"."""
    for found in PATH.finditer(story.text):
        said = found["above"].split()
        above = next((n for n in range(len(said)) if fold(" ".join(said[n:])) in tops), None)
        if above is not None:
            start = found.end("above") - len(" ".join(said[above:]))
            end = called.ended(story.text, found.start("name"))
            name = story.text[found.start("name") : end]
            path = f"{tops[fold(' '.join(said[above:]))]}/{name}"
            if name and not SUFFIX.search(name) and path not in story.folders:
                yield Place(name, start, ((start, end),), path)


def _only_there(text: str, one: Called) -> bool:
    """ "La carpeta llena", "the folder is full": a folder that is there, and no name after it."""
    found = THE_FOLDER.search(text[: one.start])
    return found is not None and INTO.search(text[: found.start("noun")]) is None


def _is_target(text: str, one: Called) -> bool:
    """Is what is there already spoken of as where things go?"""
    lead = text[one.lead : one.start]
    return re.search(r"call|name|nenn|llam", lead, re.IGNORECASE) is not None


def goal(story: Story, named: Sequence[Named]) -> Iterator[Named]:
    """The folders that are there, and into which something may go."""
    if ITS_OWN.search(story.text):
        yield from named
    for folder, by in named:
        for word in _again(story, by[0]):
            if INTO.search(story.text[: word.start]):
                yield folder, (word, *by)
                break


def _again(story: Story, said: Word) -> list[Word]:
    """Every place where it is said."""
    return [word for word in story.words if word.folded == said.folded]


def clearly(story: Story, by: Sequence[Word]) -> bool:
    """Does something go there, and is not only in there?"""
    into = any(CLEARLY.search(story.text[: word.start]) for word in _again(story, by[0]))
    return into or ITS_OWN.search(story.text) is not None


def above(story: Story, place: Place, named: Sequence[Named], files: Sequence[str]) -> str:
    """Within which folder a new one is made: the one that is said, that of its like, or that of all its files."""
    if (said := said_above(story, place, named)) is not None:
        return said
    if TOP.search(story.text):
        return "."
    if (like := _beside_its_like(story, place, named)) is not None:
        return like
    homes = {path.rpartition("/")[0] or "." for path in files}
    home = homes.pop() if len(homes) == 1 else "."
    spoken = [by for folder, by in named if folder == home]
    left = any(all(OUT_OF.search(story.text[: one.start]) for one in _again(story, by[0])) for by in spoken)
    return home if not left else "."


def said_above(story: Story, place: Place, named: Sequence[Named]) -> str | None:
    end = max(end for _, end in place.spans)
    for folder, by in named:
        if end <= by[0].start and INSIDE_AFTER.match(story.text[end : by[0].start]):
            return folder
    therein = THEREIN.search(story.text)
    return named[0][0] if therein and named else None


def _beside_its_like(story: Story, place: Place, named: Sequence[Named]) -> str | None:
    """ "There is a folder 2025 already, can they get a 2026 too": where its like is."""
    likes = [folder.rpartition("/")[0] or "." for folder in story.folders if is_year(folder.rpartition("/")[2])]
    return next((folder for folder, _ in named if folder in likes), None) if is_year(place.name) else None


def is_year(name: str) -> bool:
    """A year, or a month of one."""
    return YEAR.fullmatch(name) is not None


def _without(text: str, spans: Sequence[Span]) -> str:
    """The text with its names for new things blotted out."""
    for start, end in spans:
        text = f"{text[:start]}{',' * (end - start)}{text[end:]}"
    return text
