"""Which files go somewhere: those that are spoken of nearest to where it is said, in the folder that is named.

A story speaks of much that happens to stand in names. So the sentence of the deed is asked first, then the one before
it; a folder that is named is looked into before all others; and a number that is said of the files has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from libs.models.offline.clauses import KINDS
from libs.models.offline.gist.periods import in_period
from libs.models.offline.gist.story import Some, Span, Story
from libs.models.offline.measures import Measured, number_of
from libs.models.offline.numerals import ARTICLES
from libs.retrieval.lexicon import FAMILIES
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of, fold, words

Named = tuple[str, tuple[Word, ...]]
"""A folder, and the words that say it."""
Told = tuple[list[str], list[Word]]
"""Files, and the words that chose them."""
ENDS = regex(r"[.!?;:\n]+(?=\s|$)|,?\s(?:but|aber|pero|sondern|sino)(?=\s)")
EVERYWHERE = regex(
    r"\b(?:everywhere|all over|wherever|any\s?where|here and there|(?:different|three) (?:places|spots)|no matter which"
    r"|whichever folder|every folder|all folders|überall|ueberall|verstreut|verteilt|mal hier|hier und da|egal wo"
    r"|(?:in|aus) allen (?:unter)?ordnern|por tod[oa]s (?:lados|partes)|est[eé]n donde est[eé]n|desparramad\w+"
    r"|en todas partes|regad[oa]s|por un lado|en la carpeta que est[eé]|de todas las carpetas|las subcarpetas)\b",
    re.IGNORECASE,
)
NOT_THESE = regex(
    r"(?:\b(?:not|except|without|skip|exclude|but\s+not|all\s+but|leave(?:\s+out)?|lass|deja|no|sin|menos|salvo|excepto|ohne|außer|ausser|nicht|keine?)\s+"
    r"(?:(?:for|the|any|of|my|in|from|to|about|with|bei|beim|aus|an|vom|mit|über|die|der|den|dem|das|von|mein\w*|las?|los|el|al?|del?|con|sobre|mis?|ones?|which|what|touch"
    r"|folder|carpeta|ordner|files?|dateien|archivos|whats|is|hay|que)\s+)*)$",
    re.IGNORECASE,
)
NOT_GOING = regex(
    r"^[^.!?;,\n]{0,40}?\s(?:no\s+(?:va|van|entran?|hacen?\s+falta)|stays?\s+(?:out|there|here|where|put)|not\s+needed"
    r"|(?:do|does)(?:\s+not|n['’]?t)\s+(?:need|belong|want|go)|can\s+stay"
    r"|bleib(?:t|en)\s+(?:drau(?:ß|ss)en|hier|da|so|wo|liegen)"
    r"|(?:kommt|kommen|geh[öo]r\w+|brauch\w+)\s+(?:\w+\s+)?nicht)\b",
    re.IGNORECASE,
)
BY_CHANGE = regex(
    r"\b(?:datei-?datum|(?:file|last)[ -](?:date|changed?)|date of (?:the )?file|modified|zuletzt|ge[äa]ndert"
    r"|fecha del? (?:archivo|modificaci\w+)|modificad[oa]s?)\b",
    re.IGNORECASE,
)
""" "Go by when I last changed them": names do not tell that."""
ALL_OF_IT = regex(
    r"\b(?:everything|all|alles|todo)\s+(?:[^\W\d_]+\s+){0,3}(?:in|from|inside|aus|im|de|en)\s+(?:(?:the|my|dem|la|el|mi)\s+)*"
    r"(?:(?:folder|ordner|carpeta)\s+)?$",
    re.IGNORECASE,
)
THEIRS = regex(r"\b(?:their|his|her|ihre[rnm]?|seine[rnm]?|deren|dessen|sus?)\b", re.IGNORECASE)
OF_FILES = regex(r"\b(?:from|of|vom|von|aus|del?|desde|since|seit|over|über|más\s+de)\s+", re.IGNORECASE)
YEAR = regex(r"(?:19|20)\d\d(?:er)?")
BESIDE = regex(r"\s*(?:,\s*)?(?:(?:and|y|e|und|&|or|oder|o|u)\s+)?", re.IGNORECASE)
MANY = 50
LEAST = 4
"""Letters of a little word that names may have, and more."""
CLOSE = 7
"""Words between two that stand in one list."""


@dataclass(frozen=True, slots=True)
class Choosing:
    """One deed of a story: what its own names take up, where it stands, and the folders that are spoken of."""

    story: Story
    beside: tuple[Span, ...] = ()
    at: int = 0
    """Where in the text the deed is."""
    named: tuple[Named, ...] = ()
    but: str | None = None
    """The folder whose files are where they belong already."""

    def files(self, *, title: str = "", whole: bool = True, wide: bool = True) -> Some | None:
        """What goes. `title`: what it will be called, where that is a part of what they are called. `whole`: a folder
        of whose files nothing more is said goes with all that lies in it. `wide`: else they may be anywhere, and all
        that is told counts, not what is said in this sentence alone.
        """
        if whole and any(ALL_OF_IT.search(self.story.text[: by[0].start]) for _, by in self.named):
            return self._lying(title)
        for held in self._scopes(self.named):
            if found := self._nearest(kept := self._kept(held), alone=not wide):
                return self._some(found, kept, title)
        elsewhere = self._elsewhere(title) if wide or not self.named else None
        lying = self._lying(title) if whole else None
        if elsewhere is None or (lying is not None and self._before(lying, elsewhere)):
            return lying or elsewhere
        return elsewhere

    def _some(self, told: Told, held: Sequence[str], title: str) -> Some:
        files, by = self._counted(self._titled(*told, title), held)
        return Some(tuple(files), words=tuple(by), times=self._times(files, by))

    def _elsewhere(self, title: str) -> Some | None:
        """What the words choose outside of the folders that are spoken of: right here, or where more of them do."""
        ground = self.story.ground
        here, anywhere = self._kept(ground.files), self._kept(ground.paths or ())
        near, far = self._nearest(here), self._nearest(anywhere)
        if near is not None and (far is None or self._rank(near) <= self._rank(far)):
            return self._some(near, here, title)
        return self._some(far, anywhere, title) if far is not None else None

    def _rank(self, told: Told) -> tuple[int, int]:
        """The nearer the sentence the better, and the more of its words."""
        here = self._sentence(self.at)
        return min(abs(self._sentence(word.start) - here) for word in told[1]), -len(_words(told))

    def _lying(self, title: str) -> Some | None:
        """All that lies in the folder that is spoken of."""
        for folder, by in self.named:
            held = self._kept(self.story.ground.within(folder)) or self._kept(self.story.ground.below(folder))
            if held:
                return self._some((self._in_time(list(held), by), list(by)), held, title)
        return None

    def _before(self, left: Some, right: Some) -> bool:
        """Is the left one said nearer to the deed, best before it?"""
        return self._far(left.words) <= self._far(right.words)

    def _far(self, said: Sequence[Word]) -> int:
        ends = [self.at - word.end if word.end <= self.at else 2 * (word.start - self.at) for word in said]
        return min(ends, default=len(self.story.text))

    def said_in(self, start: int, end: int) -> list[str]:
        """The files that are spoken of between these places of the text."""
        ground = self.story.ground
        return self._told_in(start, end, (*self._scopes(self.named), ground.files, ground.paths or ()))[0]

    def between(self, start: int, end: int) -> Told:
        """The same with the words that choose them, in the folder that is named there; where these are its name alone,
        all that lies in it.
        """
        named = tuple(one for one in self.named if start <= one[1][0].start < end)
        scopes = (self.story.ground.files, self.story.ground.paths or ())
        far = max((replace(self, named=())._told_in(start, end, [held]) for held in scopes), key=_rich)
        if not named:
            return far
        near = self._told_in(start, end, tuple(self._scopes(named)))
        further = far if {*far[1]} > {*named[0][1]} else None
        return near if near[0] else further or (list(self.story.ground.within(named[0][0])), list(named[0][1]))

    def _told_in(self, start: int, end: int, scopes: Iterable[Sequence[str]]) -> Told:
        said = [word for word in self.story.words if start <= word.start < end and not self._taken(word)]
        return next((found for held in scopes if (found := self._in_sentence(said, held))), ([], []))

    def said_of(self, name: str, held: Sequence[str]) -> list[str]:
        """The files that have all words of a name in theirs."""
        for word in words(name):
            held = self.story.having(_plainly(word), held)
        return list(held)

    def _scopes(self, named: Sequence[Named]) -> Iterator[Sequence[str]]:
        """Where files are looked for, the likeliest place first."""
        ground = self.story.ground
        apart = {folder.partition("/")[0] for folder, _ in named}
        if EVERYWHERE.search(self.story.text) or len(apart) > 1:
            yield ground.paths or ()
        for folder, _ in named:
            yield ground.within(folder)
            yield ground.below(folder)

    def _kept(self, held: Sequence[str]) -> Sequence[str]:
        """Less what is where it belongs, and what is said to stay out."""
        but = f"{self.but}/" if self.but not in (None, ".") else None
        held = [path for path in held if but is None or not path.startswith(but)]
        spared = {path for path in held if self._spared(path, held)}
        return [path for path in held if path not in spared] or held

    def _spared(self, path: str, held: Sequence[str]) -> bool:
        out = self._stays_out()
        plain = (_plainly(word) if word.filler else word for word in out)
        return any(path in self.story.having(word, held) or _within(path, word) for word in plain)

    def _stays_out(self) -> list[Word]:
        """ "Not the old ones", "las de pruebas no van", "but leave before and after where they are"."""
        text, out = self.story.text, list[Word]()
        for word in self.story.words:
            if self._taken(word) or (word.filler and not self._literally(word)):
                continue
            listed_ = bool(out) and re.fullmatch(r"\s+(?:and|or|und|y|o|n?or)\s+", text[out[-1].end : word.start])
            if listed_ or stays_out(text, word):
                out.append(word)
        return out

    def _literally(self, word: Word) -> bool:
        """Is it a part of names, and none of the least words?"""
        names = (fold(path.rpartition("/")[2]) for path in self.story.ground.paths or ())
        return len(word.folded) > LEAST and any(word.folded in re.findall(r"[^\W\d_]+", name) for name in names)

    def _taken(self, word: Word) -> bool:
        by_name = {one.folded for _, said in self.named for one in said}
        return word.folded in by_name or any(start <= word.start < end for start, end in self.beside)

    def _nearest(self, held: Sequence[str], *, alone: bool = False) -> Told | None:
        """What the sentence says that is nearest to the deed; where that is only a kind, the others say which."""
        here = self._sentence(self.at)
        said = [one for one in self._sentences() if not alone or self._sentence(one[0].start) == here]
        told = [self._in_sentence(words_, held) for words_ in said]
        found = [one for one in told if one is not None]
        if not found:
            return None
        files, by = found[0]
        loose = not self._all_of_them() and all(_kind(word) for word in by)
        for others, more in found[1:]:
            both = [path for path in files if path in others]
            if both and (loose or self._theirs()):
                files, by = both, [*by, *more]
        return self._in_time(files, by), by

    def _all_of_them(self) -> bool:
        here = self._sentence(self.at)
        return any("all" in word.concepts and self._sentence(word.start) == here for word in self.story.words)

    def _theirs(self) -> bool:
        """ "Their progress files": of those that were told of before."""
        here = self._sentence(self.at)
        return any(self._sentence(found.start()) == here for found in THEIRS.finditer(self.story.text))

    def _sentences(self) -> list[list[Word]]:
        """The words that may choose, by sentence; those nearest to the deed first, the one before it before the one
        after.
        """
        out = self._stays_out()
        here = self._sentence(self.at)
        told: dict[int, list[Word]] = {}
        for word in self.story.words:
            timed = any(one.start <= word.start < one.end for one in self.story.times)
            if not (timed or self._taken(word) or word in out):
                told.setdefault(self._sentence(word.start), []).append(word)
        return [told[n] for n in sorted(told, key=lambda n: (abs(n - here), n))]

    def _sentence(self, at: int) -> int:
        return sum(found.start() < at for found in ENDS.finditer(self.story.text))

    def _in_sentence(self, said: Sequence[Word], held: Sequence[str]) -> Told | None:
        """Parts that choose together do; those that choose different files are a list, where they stand together."""
        parts = [found for group in self.story.groups(said) if (found := self._best(group, held))[1]]
        if not parts:
            return None
        listed_ = len(parts) > 1 and all(self._side_by_side(*pair) for pair in pairwise(parts))
        parts = [self._of_its_kind(part, parts[0]) for part in parts] if listed_ else parts
        together = [path for path in held if all(path in files for files, _ in parts) and not listed_]
        if not together:
            parts = min(self._lists(parts), key=lambda one: self._far([word for _, by in one for word in by]))
        by = [word for _, words_ in parts for word in words_]
        named = [files for files, words_ in parts if not all(map(_kind, words_))]
        union = [path for path in held if any(path in files for files in named or [files for files, _ in parts])]
        return together or union, by

    def _side_by_side(self, left: Told, right: Told) -> bool:
        """ "Sofía and Mateo": each chooses some, though one file may be of both."""
        named = all(any(not _kind(word) for word in by) for _, by in (left, right))
        between = self.story.text[left[1][-1].end : right[1][0].start]
        return named and not left[1][-1].concepts and not right[1][0].concepts and BESIDE.fullmatch(between) is not None

    def _of_its_kind(self, part: Told, first: Told) -> Told:
        """ "The photos of Sofía and Mateo": photos of both."""
        kinds = [word for word in first[1] if _kind(word)]
        alike = [path for path in part[0] if all(path in self._having(word, part[0]) for word in kinds)]
        return (alike, part[1]) if alike and not any(map(_kind, part[1])) else part

    def _lists(self, parts: Sequence[Told]) -> list[list[Told]]:
        """ "The pods, the bookings", and far from them "… from the ferry"."""
        told: list[list[Told]] = []
        for part in parts:
            last = told[-1][-1][1][-1].end if told else 0
            near = len(self.story.text[last : part[1][0].start].split()) <= CLOSE
            told = [*told[:-1], [*told[-1], part]] if told and near else [*told, [part]]
        return told

    def _best(self, group: Sequence[Word], held: Sequence[str]) -> Told:
        """The files that most of the words choose."""
        sets = [(word, set(files)) for word in group if (files := self._having(word, held))]
        counts = {path: sum(path in files for _, files in sets) for path in held}
        most = max(counts.values(), default=0)
        files = [path for path in held if most and counts[path] == most]
        return files, [word for word, chosen in sets if not chosen.isdisjoint(files)]

    def _having(self, word: Word, held: Sequence[str]) -> list[str]:
        """What is known for something else may be a name as well: `WhatsApp Image …`."""
        return self.story.having(_plainly(word) if {*word.concepts} == {"foreign"} else word, held)

    def _in_time(self, files: list[str], by: Sequence[Word]) -> list[str]:
        """Where names tell dates, those of the time that is spoken of; in a list, of what it stands beside."""
        groups = self.story.groups(by)
        for one in self._periods() if BY_CHANGE.search(self.story.text) is None else ():
            near = min(groups, key=lambda group, one=one: _gap(group, one)) if groups else by  # type: ignore[misc]
            theirs = {path for word in near for path in self._having(word, files)} or {*files}
            narrow = [path for path in files if path not in theirs or in_period(path, one)]
            files = narrow if any(in_period(path, one) for path in theirs) else files
        return files

    def _times(self, files: Sequence[str], by: Sequence[Word]) -> tuple[Measured, ...]:
        """What the names do not tell: sizes, and times of files without dates in their names."""
        text = self.story.text
        named = BY_CHANGE.search(text) is None
        by_name = [one for one in self._periods() if named and any(in_period(path, one) for path in files)]
        rest = (one for one in self._periods() if one not in by_name)
        return tuple(one for one in rest if _of_files(text, one) or _beside(text, one, by))

    def _periods(self) -> list[Measured]:
        named = ((word.start, word.end) for _, by in self.named for word in by)
        taken = (*self.beside, *named)
        told = sorted((*self.story.times, *self._years()), key=lambda one: one.start)
        return [one for one in told if not any(one.start < end and start < one.end for start, end in taken)]

    def _years(self) -> Iterator[Measured]:
        """ "The 2024 pdf": years beside what they are of."""
        timed = [(one.start, one.end) for one in self.story.times]
        for word in self.story.words:
            beside = any(start <= word.start < end for start, end in timed)
            if (
                YEAR.fullmatch(word.folded)
                and not beside
                and not self.story.having(word, self.story.ground.paths or ())
            ):
                year = int(word.text[:4])
                bounds = {"modified_after": f"{year}-01-01", "modified_before": f"{year + 1}-01-01"}
                yield Measured(word.start, word.end, bounds)

    def _titled(self, files: list[str], by: list[Word], title: str) -> Told:
        """Those that have the title's number, or a word of it that is said besides."""
        said = {word.folded for word in self.story.words if not self._taken(word)}
        for word in words(title):
            if word.text.isdigit() or word.folded in said:
                narrow = self.story.having(_plainly(word), files)
                files = narrow or files
        return files, by

    def _counted(self, told: Told, held: Sequence[str]) -> Told:
        """What comes to the number that is said."""
        files, by = told
        numbers = self._numbers()
        if not numbers or len(files) in numbers:
            return told
        direct = [path for path in files if path.rpartition("/")[0] == files[0].rpartition("/")[0]]
        each = [(self._in_time(list(self._having(word, held)), [word]), [word]) for word in by]
        return next((one for one in [(direct, by), *each] if len(one[0]) in numbers), told)

    def _numbers(self) -> list[int]:
        """How many files are spoken of: "all three", "las cuatro etiquetas"."""
        free = (word for word in self.story.words if not self._taken(word) and word.folded not in ARTICLES)
        told = (number_of(word.folded) for word in free if not (word.text.isdigit() and len(word.text) > 2))
        return [int(number) for number in told if number is not None and 1 < number < MANY]


def _rich(told: Told) -> int:
    return len(_words(told))


def stays_out(text: str, word: Word) -> bool:
    """Is what this word chooses said to stay where it is?"""
    if NOT_THESE.search(text[: word.start]):
        return True
    return _leads(text, word) and NOT_GOING.match(text[word.end :]) is not None


def _of_files(text: str, one: Measured) -> bool:
    """ "From last year", whether or not that little word is of the time."""
    last = list(OF_FILES.finditer(text, 0, one.start))
    return OF_FILES.match(text, one.start) is not None or bool(last and last[-1].end() == one.start)


def _beside(text: str, one: Measured, by: Sequence[Word]) -> bool:
    """ "Last year's payslips", "the 2024 pdf"."""
    return any(0 <= word.start - one.end < 4 and not text[one.end : word.start].strip("'’s ") for word in by)


def _within(path: str, word: Word) -> bool:
    """Is it below a folder with this word in its name?"""
    return any(word.folded in re.findall(r"\w+", fold(folder)) for folder in path.split("/")[:-1])


def _words(told: Told) -> set[str]:
    return {word.folded for word in told[1]}


def _leads(text: str, word: Word) -> bool:
    """Does it stand at the beginning of what is said: "las de pruebas no van"?"""
    return len(re.split(r"[.!?;,:\n]\s", text[: word.start])[-1].split()) < 3


def _plainly(word: Word) -> Word:
    """A word of a name, whatever it means elsewhere."""
    return Word(word.text, word.folded, word.start, word.end)


def _kind(word: Word) -> bool:
    return not {*word.concepts}.isdisjoint({*KINDS, *FAMILIES}) or extension_of(word.folded) is not None


def _gap(group: Sequence[Word], one: Measured) -> int:
    """Letters between some words and a time."""
    return min(abs(one.end - group[0].start), abs(one.start - group[-1].end))
