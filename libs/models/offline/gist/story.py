"""A request heard loosely: which of its words the folder bears out, whatever else is told around them.

Nothing here has to understand a sentence. A word counts where files have it in their names, where a folder is called
so, where it is a kind of files, a size or a time; all else is talk. What comes of it is only ever offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import groupby

from libs.models.offline.clauses import ACTIONS, AND, KINDS, OR, both
from libs.models.offline.ground import Ground, singulars
from libs.models.offline.measures import Measured, measured
from libs.models.offline.selection import patterns_of
from libs.retrieval.lexicon import FAMILIES, Language, listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold, language_of, words
from libs.skills import Categories, selected

Span = tuple[int, int]
PART = regex(r"[^\W\d_]+|\d+")
SENTENCE = regex(r"(?:[!?;:\n]|(?<!\b(?i:[dmsfh]r))(?<!\b(?i:mrs|sra|doc))\.)+(?=\s|$)")
""" "Dr. Quappe" ends none."""
LIST = AND | OR
SPARING = listed("keep untouched except")
"""What a part of the sentence with one of these names stays out."""
HOLLOW = ACTIONS | listed(
    "folder file here all only recursive newest oldest largest smallest age size name date then first not same"
    " duplicate empty because junk archives content"
)
"""Concepts that are never taken for a part of a file's name, unless the word is written like one."""


@dataclass(frozen=True, slots=True)
class Some:
    """Some files that are there, and what chose them."""

    files: tuple[str, ...]
    folder: str = "."
    """The folder that was spoken of."""
    words: tuple[Word, ...] = ()
    """Those that are in the names, or tell the kind."""
    times: tuple[Measured, ...] = ()
    """Sizes and times, which no name can tell."""

    @property
    def told(self) -> bool:
        """Was anything said of them at all?"""
        return bool(self.words or self.times or self.folder != ".")

    @property
    def filters(self) -> dict[str, int | str | bool]:
        """The bounds of a listing that the sizes and times come to."""
        told: dict[str, int | str | bool] = {}
        for one in self.times:
            told = both(told, one.filters)
        return told


@dataclass(frozen=True)
class Story:
    """One request, or all that was said of one, with the folder that it is about."""

    text: str
    ground: Ground
    categories: Categories
    now: datetime

    @cached_property
    def language(self) -> Language:
        return language_of(self.text)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return words(self.text)

    @cached_property
    def times(self) -> tuple[Measured, ...]:
        return measured(self.text, self.now)

    def says(self, *concepts: str) -> bool:
        return any(not {*word.concepts}.isdisjoint(concepts) for word in self.words)

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """All that have files somewhere below them, and those at the top."""
        above = (path.rpartition("/")[0] for path in self.ground.paths or ())
        lines = (folder.split("/") for folder in above if folder)
        below = ("/".join(parts[:n]) for parts in lines for n in range(1, len(parts) + 1))
        return tuple(dict.fromkeys((*below, *sorted(self.ground.folders))))

    @cached_property
    def places(self) -> tuple[tuple[str, tuple[Word, ...]], ...]:
        """The folders that the text names, each with the words that do, in the order of the text."""
        found: list[tuple[str, tuple[Word, ...]]] = []
        for folder in self.folders:
            said = self.naming(folder.rpartition("/")[2])
            if said:
                found.append((folder, said))
        found.sort(key=lambda one: (one[1][0].start, -len(one[1])))
        return tuple(one for one in found if not any({*one[1]} < {*other} for _, other in found))

    @cached_property
    def _parted(self) -> tuple[tuple[str, Word], ...]:
        """Each part of each word that may be one of a folder's name."""
        return tuple((_folder_of(part), word) for word in self.words for part in PART.findall(fold(word.text)))

    def naming(self, name: str) -> tuple[Word, ...]:
        """The words that say just this name, side by side."""
        wanted, told = _parts(name), self._parted
        for at in range(len(told) - len(wanted) + 1):
            run = told[at : at + len(wanted)]
            if wanted and all(_one(part, real) for (part, _), real in zip(run, wanted, strict=True)):
                return tuple(dict.fromkeys(word for _, word in run))
        return ()

    def some(self, *, beside: Sequence[Span] = (), without: Iterable[str] = ()) -> Some:
        """The files that the words choose. What stands in the spans `beside` is no choice, nor are the words
        `without`: they belong to a new name.
        """
        skipped = {fold(word) for word in without}
        place, naming = self._place(beside)
        free = [
            word
            for word in self.words
            if word not in naming and not _within(word, beside) and word.folded not in skipped
        ]
        held: Sequence[str] = self.ground.below(place) if place != "." else self.ground.paths or ()
        times = tuple(one for one in self.times if not _touches(one, beside))
        free = [word for word in free if not any(one.start <= word.start < one.end for one in times)]
        chosen, by, held = self._chosen(free, held)
        return Some(tuple(chosen if by else held), place, tuple(by), times)

    def _place(self, beside: Sequence[Span]) -> tuple[str, tuple[Word, ...]]:
        """The first folder that is named and holds something."""
        for folder, naming in self.places:
            if self.ground.below(folder) and not any(_within(word, beside) for word in naming):
                return folder, naming
        return ".", ()

    def _chosen(self, free: Sequence[Word], held: Sequence[str]) -> tuple[list[str], list[Word], Sequence[str]]:
        """The files that all of these words choose together, or, of those that choose different ones, any."""
        spared = {path for group in self.groups(free) if _spares(group) for path in self.all_of(group, held)[0]}
        held = [path for path in held if path not in spared]
        kinds = [word for word in free if _kind(word)]
        groups = [self.all_of(group, held) for group in self.groups(free) if not _spares(group)]
        told = [(files, by) for files, by in groups if by]
        if not told:
            return [], [], held
        together = [path for path in held if all(path in files for files, _ in told)]
        union = [path for path in held if any(path in files for files, _ in told)]
        by = [word for _, words_ in told for word in words_]
        narrowed = self._of_kind(kinds, together or union)
        return narrowed, by, held

    def _of_kind(self, kinds: Sequence[Word], files: Sequence[str]) -> list[str]:
        wanted = [pattern for word in kinds for pattern in patterns_of(word, self.categories)]
        narrow = [path for path in files if selected(path, include=wanted)] if wanted else []
        return narrow or list(files)

    def groups(self, free: Sequence[Word]) -> list[list[Word]]:
        """Words apart where the sentence lists them, or ends."""

        def key(word: Word) -> int:
            before = self.text[: word.start]
            joints = sum(one.folded in LIST and one.end <= word.start for one in self.words)
            return joints + len(re.findall(r"[,.;:!?\n()](?=\s|$)", before))

        return [list(run) for _, run in groupby(free, key=key)]

    def all_of(self, group: Sequence[Word], held: Sequence[str]) -> tuple[list[str], list[Word]]:
        """The files that the words of one part choose: narrowed by each that leaves some, the rarest first."""
        sets = [(word, files) for word in group if (files := self.having(word, held))]
        sets.sort(key=lambda one: len(one[1]))
        chosen: list[str] = []
        by: list[Word] = []
        for word, files in sets:
            rest = [path for path in chosen if path in files] if by else files
            if rest:
                chosen, by = rest, [*by, word]
        return chosen, by

    def having(self, word: Word, held: Sequence[str]) -> list[str]:
        """The files that one word chooses: by their kind, or by a part of their names."""
        wanted = patterns_of(word, self.categories)
        if wanted and any(selected(path, include=wanted) for path in self.ground.paths or ()):
            return [path for path in held if selected(path, include=wanted)]
        if not _may_name(word):
            return [] if word.filler else self._beside(word, held)
        parts = PART.findall(fold(word.text))
        found = [path for path in held if all(any(_one(part, real) for real in _told(_stem(path))) for part in parts)]
        if found or len(parts) != 1:
            return found
        return self._of_compound(parts[0], held) if self.language == "de" else self._cut_short(parts[0], held)

    def _beside(self, word: Word, held: Sequence[str]) -> list[str]:
        """ "Flat 2", "CV new": what means something else chooses only together with the word before it."""
        before = next((one for one in self.words if one.end + 1 == word.start), None)
        plain = before is not None and not before.filler and {*before.concepts}.isdisjoint(HOLLOW)
        return named_by(f"{before.text} {word.text}", held) if before is not None and plain else []

    def _cut_short(self, said: str, held: Sequence[str]) -> list[str]:
        """ "Presupuestos" are those that are called `presup_…`."""
        short = {part for path in self.ground.paths or () for part in _told(_stem(path)) if _cuts(part, said)}
        files = [path for path in held if short & {*_told(_stem(path))}]
        return files if len(files) > 1 else []

    def _of_compound(self, said: str, held: Sequence[str]) -> list[str]:
        """ "Gehaltsabrechnungen" are `Abrechnung 07.pdf`, "Zählerfotos" photos, those with `Zähler` in their names."""
        everything = self.ground.paths or ()
        for head, tail in _halves(said):
            said_so = (word for word in words(tail) if not word.slip)
            kinds = [pattern for word in said_so for pattern in patterns_of(word, self.categories)]
            found = [path for path in everything if selected(path, include=kinds)] if kinds else _with(tail, everything)
            if found:
                here = [path for path in held if path in found]
                return _with(head, here) or _below(head, here) or here
        return []


def named_by(text: str, held: Sequence[str]) -> list[str]:
    """The files that have all words of a text side by side in their names."""
    wanted = PART.findall(fold(text))
    names = ((path, _told(_stem(path))) for path in held)
    return [path for path, real in names if wanted and any(_at(wanted, real, n) for n in range(len(real)))]


def _at(wanted: Sequence[str], real: Sequence[str], at: int) -> bool:
    run = real[at : at + len(wanted)]
    return len(run) == len(wanted) and all(map(_one, wanted, run))


FOLDERS = ("ordner", "mappe", "verzeichnis")


def _folder_of(part: str) -> str:
    """`fortbildungs` of "fortbildungsordner"."""
    end = next((one for one in FOLDERS if part.endswith(one) and len(part) > len(one) + 2), "")
    return part.removesuffix(end) if part not in ("unterordner", "hauptordner") else part


def _with(part: str, held: Sequence[str]) -> list[str]:
    return [path for path in held if any(_one(part, real) for real in _told(_stem(path)))]


def _below(part: str, held: Sequence[str]) -> list[str]:
    """Those in a folder that is called so."""
    return [path for path in held if any(_one(part, real) for name in path.split("/")[:-1] for real in _told(name))]


def _cuts(part: str, said: str) -> bool:
    """Is it the beginning of a word, as long names are cut short?"""
    return CUT_SHORT[0] <= len(part) <= len(said) - CUT_SHORT[1] and part.isalpha() and said.startswith(part)


CUT_SHORT = (5, 3)
"""Letters of it at least, and of what it leaves out."""
UMLAUT = regex(r"([aou])e")
SHORTEST = 4
"""Letters of a word within another."""


@lru_cache(maxsize=4096)
def _halves(said: str) -> tuple[tuple[str, str], ...]:
    """The ways to take a long word for two, the longest second one first."""
    if not said.isalpha():
        return ()
    return tuple((said[:at], said[at:]) for at in range(SHORTEST, len(said) - SHORTEST + 1))


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


@lru_cache(maxsize=4096)
def _parts(name: str) -> tuple[str, ...]:
    """The words and numbers of a name; `IMG20260714` and `GasBill` are two each."""
    apart = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", " ", name)
    return tuple(PART.findall(fold(apart)))


@lru_cache(maxsize=4096)
def _told(name: str) -> tuple[str, ...]:
    """The same, and those that a capital parts as one: `WhatsApp Image`."""
    return tuple(dict.fromkeys((*_parts(name), *PART.findall(fold(name)))))


@lru_cache(maxsize=16384)
def _one(said: str, real: str) -> bool:
    """Are these one word, but for its number, its leading noughts, or how its umlauts are typed?"""
    if said.isdigit() or real.isdigit():
        return said.lstrip("0") == real.lstrip("0") and said.isdigit() and real.isdigit()
    if said == real or (len(said) > 2 and len(real) > 2 and not singulars(said).isdisjoint(singulars(real))):
        return True
    typed = UMLAUT.sub(r"\1", said)
    return typed != said and len(real) > 2 and not singulars(typed).isdisjoint(singulars(UMLAUT.sub(r"\1", real)))


def _may_name(word: Word) -> bool:
    if word.text.isdigit():
        return len(word.text) > 1
    return len(word.folded) > 1 and not word.filler and {*word.concepts}.isdisjoint(HOLLOW) and word.folded not in LIST


def _kind(word: Word) -> bool:
    return not {*word.concepts}.isdisjoint({*KINDS, *FAMILIES})


def _spares(group: Sequence[Word]) -> bool:
    return any(not {*word.concepts}.isdisjoint(SPARING) for word in group)


def _within(word: Word, spans: Sequence[Span]) -> bool:
    return any(start <= word.start < end for start, end in spans)


def _touches(one: Measured, spans: Sequence[Span]) -> bool:
    return any(one.start < end and start < one.end for start, end in spans)
