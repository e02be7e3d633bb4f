"""A folder for each of several, in a story: "una carpeta x cliente (Lopez, Garmendia y Bar Txoko)".

That there are to be several folders is said by a few words of each language; what they are called is a list of which
every member stands in names: "Bar Txoko" is one, since names have it so. Where no list is told, the names that remain
of the files that are spoken of are one: of `Maße Huber` and `Maße Mayr`, the customers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from libs.models.offline.gist import whereto
from libs.models.offline.gist.called import FOLDER
from libs.models.offline.gist.choosing import Choosing, Named
from libs.models.offline.gist.story import PART, Some, Span, Story, named_by
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold

_N = r"(?:two|three|four|five|zwei|drei|vier|fünf|dos|tres|cuatro|cinco|\d)"
_OWN = r"(?:an?|one|its|their|his|her|own|separate|eine[nrm]?|ein|nen|an|ihre[nm]?|seine[nm]?|una|su)"
APART = regex(
    rf"\b(?:each|every(?:\s+one)?|jede[nrms]?|cada(?:\s+un[oa])?)\b[^.;!?\n]{{0,25}}?\b{_OWN}\s+(?:(?:own|eigene[nrms]?|propia)\s+)?{FOLDER}\b"
    rf"|\b(?:je|jeweils)\s+(?:in\s+)?(?:{_OWN}\s+)?(?:eigene[nrms]?\s+)?{FOLDER}\b"
    rf"|\b(?:own|separate|respective|different|eigene|getrennte|propias|distintas)\s+{FOLDER}\b"
    r"|\bcarpetas\s+(?:separad|distint|diferent)[ae]s\b"
    rf"|\b{_N}\s+(?:new\s+|neue\s+)?(?:(?:sub)?(?:folders|directories|carpetas)|(?:unter)?ordner)\b"
    r"|\b(?:folders|carpetas)(?:\s+(?:for|called|named|para|llamadas)\b|\s*[:(,])"
    rf"|\b{FOLDER}\s+(?:each|je)\b|\ba\s+la\s+suya\b",
    re.IGNORECASE,
)
PER = regex(
    rf"\b{FOLDER}\s+(?:per|for\s+(?:each|every)|pro|je|f(?:ü|ue)r\s+jede[nrms]?|(?:por|x|para|pa)(?:\s+cada)?|x\s+cada)\s+(?P<what>[^\W\d_]+)"
    rf"|\b(?:per|for\s+(?:each|every)|pro|je|f(?:ü|ue)r\s+jede[nrms]?|(?:por|para)\s+cada)\s+(?P<of>[^\W\d_]+)\s+(?:je\s+)?{_OWN}\s+{FOLDER}\b"
    rf"|\b(?:each|every|jede[nrms]?|cada)\s+(?P<each>[^\W\d_]+)\s+(?:in(?:to)?|en|should\s+(?:go\s+(?:in(?:to)?\s+)?|have\s+|get\s+)|soll\w*\s+(?:in\s+)?|kommt\s+in|gets|has|bekommt)"
    rf"\s*{_OWN}\s+(?:(?:own|separate|eigene[nrms]?|propia)\s+)?{FOLDER}\b"
    r"|\b(?:sort|organi[sz]e|group|arrange|split|sortier\w*|ordne|gruppier\w*|ordena\w*|organ[ií]za\w*|agrupa\w*|separa\w*)"
    r"\b[^.;!?\n]{0,40}?\s(?:by|nach|por|seg[uú]n)\s+(?:(?:the|their|its|dem|der|ihre[mr]|el|la|su)\s+)?(?P<by>[^\W\d_]+)",
    re.IGNORECASE,
)
"""The noun stands for what each is: a customer, a pupil, a site."""
UNITS = listed(
    "year years month months day days week weeks type types kind kinds jahr monat tag woche typ art ano mes dia semana"
    " tipo name names size date extension ending age alphabet namen grosse datum endung alter nombre nombres tamano"
    " fecha extension edad folder folders ordner carpeta carpetas orden order"
)
"""What files are sorted by otherwise."""
SENTENCE = regex(r"[^.!?\n]+(?:\.(?=\S)[^.!?\n]+)*")
JOINT = regex(r"\s*[,;:()]\s*|\s+(?:and|und|y|e|or|oder|sowie|plus|&|\+)\s+", re.IGNORECASE)
ARTICLES = listed("the my all a an any der die das den dem des alle meine von vom el la los las de del un una lo")
BARE = regex(r"\((?P<list>\w+(?:\s+\w+){2,})\)")
GAP = regex(r"\s+(?=\w)")
EACH_OF = regex(r"(?<!\w)(?:each|every|jede\w*|cada)(?!\w)", re.IGNORECASE)
HEAD = regex(r"(?P<head>[^\s].*?)\s+[-–—]\s+\S")
WORDS_MOST, NEAR, FOLDERS_MOST = 3, 30, 25
"""Words of a member, letters between a list and what says that there are several, and folders."""


@dataclass(frozen=True, slots=True)
class Member:
    """One of the list, and the files that have it in their names."""

    name: str
    start: int
    end: int
    files: frozenset[str]


@dataclass(frozen=True)
class Each:
    """The folders that are wanted, as a story tells them."""

    story: Story

    def told(self) -> list[tuple[str, list[str]]]:
        """Names of folders, and the files of each; nothing where none is borne out, or fewer than two, nor where
        archives are unpacked each into its own.
        """
        if self.story.says("unpack"):
            return []
        members = self._listed()
        told = self._of_members(members) if members else self._of_the_rest()
        every = [path for _, files in told for path in files]
        own = [(name, [path for path in files if every.count(path) == 1]) for name, files in told]
        return own if 1 < len(own) <= FOLDERS_MOST and all(files for _, files in own) else []

    @cached_property
    def cues(self) -> list[Span]:
        return [found.span() for cue in (APART, PER) for found in cue.finditer(self.story.text)]

    def _listed(self) -> list[Member]:
        """The list that stands nearest to what says that there are several."""
        runs = [run for run in self._runs() if len(run) > 1]
        near = [(min((_far(run, cue) for cue in self.cues), default=NEAR + 1), -len(run)) for run in runs]
        far, nearest = min(zip(near, runs, strict=True), key=lambda one: one[0], default=((NEAR + 1, 0), []))
        return nearest if far[0] <= NEAR else []

    def _runs(self) -> Iterator[list[Member]]:
        for sentence in SENTENCE.finditer(self.story.text):
            run: list[Member] = []
            for start, end in _between(self.story.text, *sentence.span()):
                whole, first = self._whole(start, end), self._edge(start, end, last=False)
                if whole is None and run and first is not None:
                    yield [*run, first]
                    run = []
                last = whole or self._edge(start, end, last=True)
                run = [*run, whole] if whole is not None else [last] if last is not None else []
                yield run

    def _whole(self, start: int, end: int) -> Member | None:
        words = self._words(start, end)
        return self._member(words) if words and len(words) <= WORDS_MOST else None

    def _edge(self, start: int, end: int, *, last: bool) -> Member | None:
        """Its first words, or its last ones: as many as names have side by side."""
        words = self._words(start, end)
        tried = (words[-n:] if last else words[:n] for n in range(min(WORDS_MOST, len(words)), 0, -1))
        return next((found for some in tried if (found := self._member(some)) is not None), None)

    def _words(self, start: int, end: int) -> list[Word]:
        words = [word for word in self.story.words if start <= word.start < end]
        while words and words[0].folded in ARTICLES:
            words = words[1:]
        return words

    def _member(self, words: Sequence[Word]) -> Member | None:
        text = self.story.text[words[0].start : words[-1].end]
        held = self.story.ground.paths or ()
        files = self.story.having(words[0], held) if len(words) == 1 else named_by(text, held)
        files = files if words[0].folded not in UNITS else []
        return Member(text, words[0].start, words[-1].end, frozenset(files)) if files else None

    def _of_members(self, members: Sequence[Member]) -> list[tuple[str, list[str]]]:
        """Those that lie here, where each has some here; of these, what else is spoken of, where each has some."""
        ground = self.story.ground
        beside = [(member.start, member.end) for member in members]
        scopes = [*(ground.within(folder) for folder, _ in self._named(beside)), ground.files, ground.paths or ()]
        held = next((one for one in scopes if all(not member.files.isdisjoint(one) for member in members)), ())
        spoken = self._spoken(members, held)
        narrow = bool(spoken) and all(not member.files.isdisjoint(spoken) for member in members)
        among = spoken if narrow else held
        return [(member.name, [path for path in among if path in member.files]) for member in members]

    def _named(self, beside: Sequence[Span]) -> tuple[Named, ...]:
        return whereto.there(self.story, beside)

    def _spoken(self, members: Sequence[Member], held: Sequence[str]) -> list[str]:
        """All that the other words choose."""
        taken = (*((member.start, member.end) for member in members), *self.cues)
        free = [word for word in self.story.words if not any(start <= word.start < end for start, end in taken)]
        chosen = {path for word in free for path in self.story.having(word, held)}
        return [path for path in held if path in chosen]

    def _of_the_rest(self) -> list[tuple[str, list[str]]]:
        """What is left of the names of the files that are spoken of, where that is what the folders are for."""
        per = [
            found for found in PER.finditer(self.story.text) if fold(next(filter(None, found.groups()))) not in UNITS
        ]
        beside = tuple(found.span() for found in per)
        some = Choosing(self.story, beside, named=self._named(beside)).files(wide=False) if per else None
        if some is not None and (told := self._heads_of(some.files)):
            return told
        keys = {path: _rest(path, some) for path in some.files} if some is not None else {}
        heads = [key for key in dict.fromkeys(keys.values()) if key and not any(_begins(key, o) for o in keys.values())]
        whole = bool(heads) and all(keys.values())
        if per and some is None:
            return self._of_heads()
        return [(key, [path for path in keys if _begins_or_is(keys[path], key)]) for key in heads] if whole else []

    def _of_heads(self) -> list[tuple[str, list[str]]]:
        """ "Each song in its own folder", where nothing says what a song is: what stands before a dash."""
        return self._heads_of(self.story.ground.files)

    def _heads_of(self, files: Sequence[str]) -> list[tuple[str, list[str]]]:
        """The files by what stands before a dash, where some share it: `Feid - Luna.mp3`."""
        told: dict[str, list[str]] = {}
        for path in files:
            if (found := HEAD.match(path.rpartition("/")[2])) is not None:
                told.setdefault(found["head"], []).append(path)
        return [*told.items()] if sum(map(len, told.values())) > len(told) else []


def _far(run: Sequence[Member], cue: Span) -> int:
    """Letters between a list and a cue; a list in which one stands is none."""
    start, end = run[0].start, run[-1].end
    if start < cue[1] and cue[0] < end:
        return NEAR + 1
    return max(cue[0] - end, start - cue[1])


def _between(text: str, start: int, end: int) -> Iterator[Span]:
    """The parts of a list; where one in brackets has no commas, its words."""
    joints = [joint.span() for joint in JOINT.finditer(text, start, end)]
    bare = (found for found in BARE.finditer(text, start, end) if JOINT.search(found["list"]) is None)
    for found in bare:
        joints += [gap.span() for gap in GAP.finditer(text, *found.span("list"))]
    at = start
    for left, right in sorted(joints):
        yield at, left
        at = right
    yield at, end


def _rest(path: str, some: Some) -> str:
    """Of `Maße Huber.txt` that was chosen by "Maße", Huber."""
    name = path.rpartition("/")[2]
    parts = PART.findall(name.rpartition(".")[0] or name)
    said = [word for word in some.words if not word.text.isdigit()]
    kept = [part for part in parts if not (part.isdigit() or any(named_by(word.text, [part]) for word in said))]
    return " ".join(kept)


def _begins(key: str, other: str) -> bool:
    return fold(key).startswith(f"{fold(other)} ") if other else False


def _begins_or_is(key: str, other: str) -> bool:
    return fold(key) == fold(other) or _begins(key, other)
