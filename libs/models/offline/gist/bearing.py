"""What the folder bears out of a story: each word, kind, folder or mark of a copy in it that some files have.

"NORM clips off the dashcam" are three such atoms: a word that is in names, a kind, and a folder. Those that stand
together narrow each other, those that are listed add up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from libs.models.offline.clauses import AND, OR
from libs.models.offline.gist import cues, litter
from libs.models.offline.gist.bounds import YEAR, Bound, dated, listed_years, numbered
from libs.models.offline.gist.stances import Part
from libs.models.offline.gist.story import PART, Span, Story, named_by
from libs.models.offline.selection import patterns_of
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, fold, words
from libs.skills import selected

JOINT = regex(
    rf"[,;/&](?=\s|$)|(?<!\w)(?:{'|'.join(sorted(map(re.escape, AND | OR)))}|n|u|&)(?!\w)",
)
WITHIN = regex(
    r"(?:in|inside|from|off|within|among|amongst|im|vom|von|aus|unter|en|de|dentro de|del|entre)"
    r"\s+(?:(?:the|my|der|dem|den|die|la|el|mi|our"
    r"|de)\s+)*(?:(?:folder|ordner|verzeichnis|carpeta)\s+)?(?:[\"'“„«]\s*)?$"
)
FOLDER = regex(r"[\"'”“»]?\s*[-]?(?:folder|ordner|verzeichnis|carpeta)\b")
MARK = regex(
    r"\((?P<number>\d{1,3})\)|\b(?:lleva|llevan|pone|ponen|dice|with|mit|con|says?|has|hat|tiene)\s+(?:(?:el|un|una|a|an|the|der|"
    r"einer?|ein|number|numero)\s+)*(?P<bare>\d{1,2})\b(?=\s*(?:$|[,.;:!?)]|(?:y|and|und|or|oder|o|u|e)\b))"
)
SECOND = regex(r" ?\(\d{1,3}\)(?=\.[^./]+$|$)")
LEAST = 3
"""Letters of a folder's name that is known without the word "folder"."""
NOUNS = listed("foreign report summary list")
COPIES = listed("copy copies kopie kopien copia copias copie")
OLD, NEW = listed("old alt alte alten viejo vieja antiguo antigua"), listed("new neu neue neuer nuevo nueva")
AGES = {
    **dict.fromkeys(
        listed("old alt alte alten altes alter alter viejo vieja viejos viejas antiguo antigua older"), OLD
    ),
    **dict.fromkeys(listed("new neu neue neuen neues neuer nuevo nueva nuevos nuevas newer"), NEW),
}
"""How old files are, or what they are called."""
A_NEW_ONE = regex(
    r"(?<!\w)(?:es gibt|there'?s|there is|we have|we've|i've|i have|hay|ya tengo|ich hab\w*|hab\w* ich|wir haben)\s+"
    r"(?:(?:got|ja|schon|bereits|already|now|jetzt|ya|an?|the|una?|uno|einen?|eine|el|la)\s+)*"
    r"(?:neue\w*|new(?:er)?(?: one| version)?|nuev[oa]s?)(?= *(?:$|[.,;:!?]))"
)
"""Why the old one may go."""
AGE = regex(rf"(?<!\w)(?P<age>{'|'.join(sorted(AGES, key=len, reverse=True))}) $")
MANY = regex(r"\s+(?:[\w']+\s+)?[\w']+s(?!\w)")
NAMING = regex(
    r"(?<!\w)(?:says?|saying|called|named|names?|titled|hei(?:ß|ss)\w*|namens|genannt|steht|llama\w*|pone|dice|nombre|word|wort"
    r"|palabra|marked|starts?|begins?)(?!\w)"
)
LED = regex(
    r"(?<!\w)(?:says?|saying|called|named|titled|hei(?:ß|ss)\w*|namens|genannt|steht|llama\w*|pone|dice|word|wort|palabra"
    r"|marked|(?:starts?|begins?|starting|beginning) with|beginn\w* mit|anfang\w* mit|empiez\w* (?:por|con))\s+"
    r"(?:the |el |la |das |dem |die |der |nur |just |only |as )?[\"'“„«]?$"
)
COUNTED = regex(
    r"\s*(?:%|euros?|€|\$|dollars?|pounds?|quid|jahre?n?|years?|yrs?|anos?|tagen?|days?|dias?|weeks?|wochen?|months?|monaten?"
    r"|meses|times|mal|veces|files?|dateien|archivos|gb|mb|kb|am|pm|uhr|o'clock|minutes?|hours?)(?!\w)"
)


class Sort(StrEnum):
    NAME = "name"
    KIND = "kind"
    PLACE = "place"
    LITTER = "litter"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Atom:
    """One thing that is said of files, with its place in the text and the files that it is true of."""

    start: int
    end: int
    sort: Sort
    files: tuple[str, ...]
    folder: str = "."


@dataclass(frozen=True, slots=True)
class Item:
    """Atoms that stand together, and what is true of all of them, as far as anything is."""

    atoms: tuple[Atom, ...]
    files: tuple[str, ...]
    listed: bool = False
    """Does an "and" lead it, rather than a comma?"""

    def of(self, before: Item) -> Item:
        """These, as far as they are called like those before."""
        named = [atom for atom in before.atoms if atom.sort is not Sort.MARK]
        files = tuple(path for path in self.files if all(path in atom.files for atom in named))
        looser = tuple(path for path in self.files if any(path in atom.files for atom in named))
        return replace(self, files=files or looser or self.files)

    def among(self, head: Item) -> Item:
        """ "Two bills, the one of March and that of May"."""
        return replace(self, files=tuple(path for path in self.files if path in head.files) or self.files)

    def only(self, *sorts: Sort) -> bool:
        return all(atom.sort in sorts for atom in self.atoms)


@dataclass(frozen=True)
class Bearing:
    """All that the folder bears out of one story."""

    story: Story

    @cached_property
    def plain(self) -> str:
        return cues.plain(self.story.text)

    @cached_property
    def held(self) -> tuple[str, ...]:
        return tuple(self.story.ground.paths or ())

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        told: list[Atom] = []
        within, named = self._places()
        for heard in (self._litter(), within, self._wholes(), named, self._marks()):
            told += [atom for atom in heard if not _over(atom, told) and not _in(atom, [*self._measured()])]
        reasons = [found.span() for found in A_NEW_ONE.finditer(self.plain)]
        taken = [*((atom.start, atom.end) for atom in told), *self._measured(), *reasons]
        told += [atom for word in words(self.story.text) if not _in(word, taken) for atom in self._said(word)]
        return tuple(sorted(told, key=lambda atom: atom.start))

    def items(self, parts: Iterable[Part]) -> list[Item]:
        """What these clauses list. A number alone is one more of what was named before it: "wk 38 and 39"."""
        told: list[Item] = []
        for item in (one for part in parts for one in self._of(part)):
            before = next((one for one in reversed(told) if not one.only(Sort.PLACE)), None)
            if before is not None:
                item = item.of(before) if self._numbers_only(item) else self._shares(item, told)
            told.append(item)
        return told

    def _shares(self, item: Item, told: Sequence[Item]) -> Item:
        """ "The drafts for Finch and Maddox": what is said of the first holds for all that are listed behind it."""
        first = told[0]
        if not item.listed and JOINT.search(self.plain, first.atoms[0].end, item.atoms[0].start) is None:
            return item
        for atom in (one for one in first.atoms if one.sort is Sort.NAME and not self._extension(one)):
            item = replace(item, files=tuple(path for path in item.files if path in atom.files) or item.files)
        return item

    def _extension(self, atom: Atom) -> bool:
        return extension_of(self.plain[atom.start : atom.end]) is not None

    def _numbers_only(self, item: Item) -> bool:
        return all(atom.sort is Sort.MARK or self.story.text[atom.start : atom.end].isdigit() for atom in item.atoms)

    def _of(self, part: Part) -> Iterator[Item]:
        atoms = [atom for atom in self.atoms if part.start <= atom.start < part.end]
        listed = bool(cues.spans(cues.EXTENDS, self.plain[part.start : part.end]))
        if listed:
            atoms = [atom for atom in atoms if atom.sort is not Sort.PLACE]
        run: list[Atom] = []
        for atom in atoms:
            joint = JOINT.search(self.plain, run[-1].end, atom.start) if run else None
            if joint:
                yield self._by_age(_item(run, listed=listed))
                run, listed = [], joint.group() not in (",", ";")
            run.append(atom)
        if run:
            yield self._by_age(_item(run, listed=listed))

    def _by_age(self, item: Item) -> Item:
        """ "The old price list", where none is called old: of several by their years, the first or last one."""
        nouns = [atom for atom in item.atoms if atom.sort in (Sort.NAME, Sort.KIND) and not self._an_age(atom)]
        said = AGE.search(self.plain[: nouns[0].start]) if nouns else None
        if said is None:
            return item
        age, older = said["age"], AGES[said["age"]] == OLD
        files = [path for path in nouns[0].files if all(path in atom.files for atom in nouns)]
        named = [path for path in files if not AGES[age].isdisjoint(PART.findall(fold(_stem(path))))]
        others = [path for path in files if not (NEW if older else OLD).isdisjoint(PART.findall(fold(_stem(path))))]
        if not files or named:
            return item
        if others and len(others) < len(files):
            return replace(item, files=tuple(path for path in files if path not in others))
        held = next((atom.files for atom in item.atoms if self._an_age(atom)), ())
        if not held:
            return item
        if called := named_by(self.plain[nouns[0].start : nouns[-1].end], held):
            return replace(item, files=tuple(called))
        years = {path: YEAR.findall(path.rpartition("/")[2]) for path in files}
        told = sorted((found[0], path) for path, found in years.items() if len(found) == 1)
        apart = len({year for year, _ in told}) == len(told) == len(files) > 1
        return replace(item, files=((told[0] if older else told[-1])[1],) if apart else ())

    def _an_age(self, atom: Atom) -> bool:
        return self.plain[atom.start : atom.end] in AGES

    @cached_property
    def numbers(self) -> tuple[Bound, ...]:
        heard = (numbered, dated, listed_years)
        return tuple(bound for each in heard for bound in each(self.plain, self.held))

    def _measured(self) -> Iterator[Span]:
        yield from ((one.start, one.end) for one in self.story.times)
        yield from ((one.start, one.end) for one in self.numbers)

    def _litter(self) -> Iterator[Atom]:
        for start, end, patterns in litter.mentioned(self.plain, self.story.categories):
            files = tuple(path for path in self.held if selected(path, include=patterns))
            sort = Sort.KIND if litter.installs(patterns) else Sort.LITTER
            if files:
                yield Atom(start, end, sort, files)

    def _marks(self) -> Iterator[Atom]:
        for found in MARK.finditer(self.plain):
            number = found["number"] or found["bare"]
            files = tuple(path for path in self.held if f"({number})" in path.rpartition("/")[2])
            if files:
                yield Atom(*found.span(), Sort.MARK, files)
        for word in words(self.story.text):
            files = tuple(path for path in self.held if self.second(path)) if word.folded in COPIES else ()
            if files:
                yield Atom(word.start, word.end, Sort.MARK, files)

    def second(self, path: str) -> bool:
        """`demo (1).mp3` beside `demo.mp3` is one, as is whatever is called so."""
        first = SECOND.sub("", path)
        return bool(COPIES & {*PART.findall(fold(path.rpartition("/")[2]))}) or (first != path and first in self.held)

    def _places(self) -> tuple[list[Atom], list[Atom]]:
        """The folders that something is in, and those that are spoken of by their names alone."""
        within: list[Atom] = []
        named: list[Atom] = []
        spoken = {folder for folder, _ in self.story.places}
        for folder, naming in self.story.places:
            files = tuple(self.story.ground.below(folder))
            led = [(start, end) for start, end in self._said_so(folder, naming) if files and self._led(start, end)]
            within += [Atom(start, end, Sort.PLACE, files, folder) for start, end in led]
            if files and not led and (not _weak(naming) or folder.rpartition("/")[0] in spoken):
                told = tuple(dict.fromkeys((*files, *self._called(folder))))
                known = folder if len(told) == len(files) else "."
                named.append(Atom(naming[0].start, naming[-1].end, Sort.NAME, told, known))
        return within, named

    def _said_so(self, folder: str, naming: Sequence[Word]) -> Iterator[Span]:
        """Each place in the text that has a folder's name."""
        yield naming[0].start, naming[-1].end
        name = re.escape(fold(folder.rpartition("/")[2]))
        yield from (found.span() for found in re.finditer(rf"(?<!\w){name}(?!\w)", self.plain))

    def _led(self, start: int, end: int) -> bool:
        """Is it what something is in?"""
        return bool(WITHIN.search(self.plain[:start]) or FOLDER.match(self.plain, end))

    def _called(self, folder: str) -> list[str]:
        """The files that have a folder's name in theirs."""
        name = {*PART.findall(fold(folder.rpartition("/")[2]))}
        return [path for path in self.held if name <= {*PART.findall(fold(_stem(path)))}]

    def _wholes(self) -> Iterator[Atom]:
        """Names that are said whole, and the copies that are called so."""
        told = [(found.group(), found.start(), found.end()) for found in PART.finditer(self.plain)]
        by_first, at = _by_first(self.held), 0
        while at < len(told):
            lines = by_first.get(told[at][0], {})
            runs = [line for line in lines if self._runs(told[at : at + len(line)], line)]
            line = max(runs, key=len, default=())
            if line:
                copies = [path for other, paths in lines.items() if _copy_of(other, line) for path in paths]
                files = tuple(dict.fromkeys((*lines[line], *copies)))
                yield Atom(told[at][1], told[at + len(line) - 1][2], Sort.NAME, files)
            at += max(1, len(line))

    def _runs(self, told: Sequence[tuple[str, int, int]], line: Sequence[str]) -> bool:
        """Is this the name? A word alone has to be led by "called", as it may be any word."""
        if tuple(part for part, _, _ in told) != tuple(line):
            return False
        gaps = [self.plain[one[2] : two[1]] for one, two in pairwise(told)]
        led = NAMING.search(self.plain, max(0, told[0][1] - 30), told[0][1]) is not None
        return all(re.fullmatch(r"[\s_()\[\].-]{0,4}", gap) for gap in gaps) and (len(line) > 1 or led)

    def _literally(self, word: Word) -> tuple[str, ...]:
        """What is called so is, whatever else the word may mean."""
        parts = {*PART.findall(word.folded)}
        return tuple(path for path in self.held if parts and parts <= {*PART.findall(fold(_stem(path)))})

    def _in_a_row(self, word: Word, files: tuple[str, ...]) -> tuple[str, ...]:
        """Of `final_final` those that have it twice, where some have."""
        line = " ".join(PART.findall(word.folded))
        rows = tuple(path for path in files if f" {line} " in f" {' '.join(PART.findall(fold(_stem(path))))} ")
        return rows or files

    def _aged(self, word: Word) -> tuple[str, ...]:
        """ "The old list" is the one that is called so, where there is one; "the old lists" may be any of them."""
        roots = AGES[word.folded]
        files = tuple(path for path in self.held if not roots.isdisjoint(PART.findall(fold(_stem(path)))))
        several = MANY.match(self.plain, word.end) or word.folded.endswith(("os", "as"))
        return () if len(files) == 1 and several else files

    def _said(self, word: Word) -> Iterator[Atom]:
        if word.text.isdigit() and COUNTED.match(self.plain, word.end):
            return
        if LED.search(self.plain[: word.start]):
            files = self._literally(word) or tuple(self.story.having(word, self.held))
        else:
            files = self._aged(word) if word.folded in AGES else tuple(self.story.having(_as_noun(word), self.held))
            files = self._in_a_row(word, files)
        kind = bool(patterns_of(word, self.story.categories)) and not extension_of(word.folded)
        if files:
            yield Atom(word.start, word.end, Sort.KIND if kind else Sort.NAME, files)


def borne_out(story: Story, said: str, files: Sequence[str]) -> bool:
    """Is each word of this part of the story one that has chosen some of these files?"""
    start = story.text.find(said)
    atoms = [atom for atom in Bearing(story).atoms if {*atom.files} <= {*files}]
    meant = [word for word in story.words if start <= word.start < start + len(said) and not word.filler]
    return start >= 0 and bool(meant) and all(any(a.start < w.end and w.start < a.end for a in atoms) for w in meant)


def together(items: Sequence[Item]) -> tuple[str, ...]:
    """What a list comes to: each adds its files, but for what tells more closely what was said before it, and for a
    folder, which narrows the others.
    """
    told: list[Item] = []
    head: Item | None = None
    for item in (one for one in items if not one.only(Sort.PLACE)):
        if any(item.only(Sort.KIND) and {*other.files} < {*item.files} for other in told):
            continue
        head = head if item.listed else next((one for one in told if _tells_closer(item, one)), None)
        told = [one for one in told if one is not head]
        told.append(item.among(head) if head is not None else item)
    union = tuple(dict.fromkeys(path for item in told for path in item.files))
    for place in (one for one in items if one.only(Sort.PLACE)):
        union = tuple(path for path in union if path in place.files) or union
    return union


def _tells_closer(item: Item, other: Item) -> bool:
    """Is it some of the other?"""
    return 0 < len({*item.files} & {*other.files}) < len(other.files)


def shared(items: Sequence[Item]) -> tuple[str, ...]:
    """What is true of all of them; where nothing is, what they come to."""
    if not items:
        return ()
    common = tuple(path for path in items[0].files if all(path in item.files for item in items))
    return common or together(items)


def _item(run: Sequence[Atom], *, listed: bool) -> Item:
    """Narrowed by each atom that leaves some, the rarest first."""
    chosen: tuple[str, ...] = ()
    for atom in sorted(run, key=lambda atom: len(atom.files)):
        rest = tuple(path for path in chosen if path in atom.files) if chosen else atom.files
        chosen = rest or chosen
    return Item(tuple(run), chosen, listed)


def _as_noun(word: Word) -> Word:
    """ "The WhatsApp ones", "the reports": what may be a deed as well is a thing where files are spoken of."""
    return replace(word, concepts=()) if word.concepts and {*word.concepts} <= NOUNS else word


def _weak(naming: Sequence[Word]) -> bool:
    """A word that may mean many other things."""
    return len(naming) == 1 and (naming[0].filler or bool(naming[0].concepts) or len(naming[0].folded) < LEAST)


def _over(atom: Atom, told: Iterable[Atom]) -> bool:
    return any(other.start < atom.end and atom.start < other.end for other in told)


def _by_first(held: Iterable[str]) -> dict[str, dict[tuple[str, ...], list[str]]]:
    """Files by all the parts of their names, and those by the first; of "Take 7" it may be said without its number."""
    told: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for path in held:
        line = tuple(PART.findall(fold(_stem(path))))
        short = line[:-1] if len(line) > 2 and line[-1].isdigit() and len(line[-1]) < LEAST else line
        for one in {line, short} if line else ():
            told.setdefault(line[0], {}).setdefault(one, []).append(path)
    return told


def _copy_of(line: Sequence[str], whole: Sequence[str]) -> bool:
    """`report 1` and `report copy 2` of `report`."""
    rest = line[len(whole) :]
    return (
        tuple(line[: len(whole)]) == tuple(whole)
        and 0 < len(rest) <= 2
        and all(part in COPIES or (part.isdigit() and len(part) == 1) for part in rest)
    )


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _in(word: Word | Atom, spans: Sequence[Span]) -> bool:
    return any(start < word.end and word.start < end for start, end in spans)
