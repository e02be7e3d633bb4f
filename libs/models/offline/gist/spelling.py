"""Which words of a story stand in names, letter for letter, and where in them.

"Bee Club" of "we aren't the Bee Club any more" is the head of `Bee Club minutes.doc`: whoever would change a part of
names says the part, and the folder has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from libs.models.offline.clauses import AND, OR
from libs.models.offline.gist.story import Span, Story
from libs.models.offline.ground import singulars
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold, words
from libs.skills.categories import split_suffix

PART = regex(r"[^\W\d_]+|\d+")
TIGHT = regex(r"[ _'’&+/-]*|[ ]?[-–+&][ ]?|\.(?=\S)|")
"""What may stand between two parts of one name."""
LITTLE = (
    AND
    | OR
    | listed(
        "the a an of in on at to for from with it is so my our der die das den dem des ein eine von im in am und mit"
    )
    | listed("zu auf el la los las un una de del en con al y a lo le mi su que se es por para as or no not nicht i me")
)
Files = Sequence[str]
APART = " _-–."
"""What stands between the parts of a name."""


@dataclass(frozen=True, slots=True)
class Part:
    """A word or a number, and where it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Run:
    """Words of the story, side by side, that stand just so in the names of some files."""

    text: str
    start: int
    end: int
    held: Mapping[str, Span]
    """Where in its stem each of those files has them."""

    @property
    def files(self) -> Files:
        return tuple(self.held)

    @property
    def whole(self) -> Files:
        """The files that are called nothing else."""
        return tuple(path for path, (start, end) in self.held.items() if not _rest(stem(path), start, end))

    def literal(self, path: str) -> str:
        start, end = self.held[path]
        return stem(path)[start:end]


def stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name if " " in split_suffix(name)[1] else split_suffix(name)[0]


def ending(path: str) -> str:
    return path.rpartition("/")[2][len(stem(path)) :]


def parts(text: str) -> list[Part]:
    return [Part(found.group(), *found.span()) for found in PART.finditer(text)]


def tight(text: str, left: Part, right: Part) -> bool:
    """May both be of one name?"""
    return TIGHT.fullmatch(text, left.end, right.start) is not None


def runs(story: Story, files: Files, same: Callable[[str, str], bool] | None = None) -> list[Run]:
    """The longest runs of words that stand in names, in the order of the story."""
    told, found, at = parts(story.text), list[Run](), 0
    names = {path: parts(stem(path)) for path in files}
    while at < len(told):
        length, held = _longest(story.text, told, at, names, same or alike)
        run = told[at : at + length]
        at += max(length, 1)
        if held and not all(_little(part) for part in run):
            found.append(Run(story.text[run[0].start : run[-1].end], run[0].start, run[-1].end, held))
    return found


def standing(text: str, files: Files, same: Callable[[str, str], bool] | None = None) -> Run | None:
    """Where this text stands in names, as words of their own; the `same` but for capitals, unless told otherwise."""
    told = parts(text)
    if not told:
        return None
    length, held = _longest(text, told, 0, {path: parts(stem(path)) for path in files}, same or very)
    return Run(text, 0, len(text), held) if length == len(told) and held else None


def _longest(
    text: str, told: Sequence[Part], at: int, names: Mapping[str, Sequence[Part]], same: Callable[[str, str], bool]
) -> tuple[int, dict[str, Span]]:
    """How many parts from here stand in some names, and in which."""
    held = {path: (own[n].start, n) for path, own in names.items() for n in _first(told[at].text, own, same)}
    length, last = (1, {path: (start, names[path][n].end) for path, (start, n) in held.items()}) if held else (0, {})
    while held and at + length < len(told) and tight(text, told[at + length - 1], told[at + length]):
        more = {
            path: (start, n + 1)
            for path, (start, n) in held.items()
            if n + 1 < len(names[path]) and same(told[at + length].text, names[path][n + 1].text)
        }
        if not more:
            break
        held, length = more, length + 1
        last = {path: (start, names[path][n].end) for path, (start, n) in held.items()}
    return length, last


def _first(said: str, own: Sequence[Part], same: Callable[[str, str], bool]) -> Iterator[int]:
    found = next((n for n, part in enumerate(own) if same(said, part.text)), None)
    if found is not None:
        yield found


def alike(said: str, real: str) -> bool:
    """One word but for capitals, accents and its number; a number but for its leading noughts."""
    left, right = fold(said), fold(real)
    if left.isdigit() or right.isdigit():
        return left.isdigit() and right.isdigit() and left.lstrip("0") == right.lstrip("0")
    return left == right or (min(len(left), len(right)) > 2 and not singulars(left).isdisjoint(singulars(right)))


def very(said: str, real: str) -> bool:
    """One word but for capitals."""
    return said.casefold() == real.casefold()


def _little(part: Part) -> bool:
    if part.text.isdigit():
        return len(part.text) < 2
    read = words(part.text)
    return len(part.text) < 2 or fold(part.text) in LITTLE or all(word.filler for word in read)


def _rest(name: str, start: int, end: int) -> str:
    return re.sub(r"[\W_]+", "", name[:start] + name[end:])


CLOSES = regex(r"[,;:!?\n()\"“”„«»]|\.(?=\s|$)|\.{2,}|…|(?<=\s)[-–]+(?=\s)|->|→")
"""A name ends before one of these."""
AFTER = listed(
    "in on at from but and or so please for when where instead everywhere also too as because if will would "
    "wherever now"
    " could can you your yours them em cause thanks that which on every each like then like everytime always "
    "rather not"
    " bitte uberall im bei und oder aber damit wenn weil stehen steht heissen heisst nennen genannt usw etc "
    "umbenennen um"
    " sollen soll statt anstatt jetzt danach machen dran davor hinten vorne weiter immer drin sein wird "
    "werden weil denn"
    " y o pero en por para porque que si como asi ahora siempre cuando donde gracias porfa adelante delante "
    "atras detras"
    " ya e ni sino nomas ersetzen tauschen andern draus daraus there everyone do does is are was hin rein "
    "rest resto demas keep stays stay written spelt spelled bleibt bleiben same umzubenennen"
    " anhangen anfugen setzen schreiben stellen haben bekommen kriegen"
)
"""And before one of these words, where it stands in no quotes."""
BEFORE = AFTER | listed(
    "put write make use say says want wants need needs with call called name named be must should have has to into"
    " schreib schreibe setz setze nimm mach mache will mochte brauche mit ich wir du sie es zu daraus namen "
    "name names"
    " pon ponga pongas ponle poner quiero quiere usa escribe haz con nombre nombres llamen llame llama "
    "llamarse sea sean it they"
    " the das der die den dem el la los las a ihnen ponme ponles gib dass change replace swap it's its"
    " ejemplo example tipo ej zb add append prepend rename agrega agregar agregale agregales anade anadir "
    "anadele anadeles"
    " queda quede queden quedan beispiel carpeta ordner folder archivos dateien files vorne hinten haben hat "
    "werden quiero got get brauchen braucht kriegen bekommen muss mussen soll sollen front all every each "
    "alle todos todas"
)
OPENS = listed(
    "the a an word words text das der die den wort el la los las palabra un una ein eine einen just simply"
    " called named genannt llamado llamada be one then entonces dann"
    " only nur noch bloss bloß lieber rather solo mejor quiero"
)
"""What leads to a new text and is no part of it."""


def onwards(text: str, start: int, *, stops: frozenset[str] = AFTER) -> Span:
    """From where to where a new name stands that begins at this place or soon after it."""
    quoted = re.compile(r"\s*[\"“„«‘']([^\"”“»’'\n]+)[\"”“»’']").match(text, start)
    if quoted:
        return quoted.span(1)
    closing = CLOSES.search(text, start)
    told = list(_tokens(text, start, closing.start() if closing else len(text)))
    while told and fold(told[0].text) in OPENS and not (len(told) > 1 and told[0].text[:1].isupper()):
        told = told[1:]
    end = next((n for n, part in enumerate(told) if fold(part.text) in stops), len(told))
    while end > 1 and fold(told[end - 1].text) in LITTLE:
        end -= 1
    return (told[0].start, told[end - 1].end) if end else (start, start)


def backwards(text: str, end: int) -> Span:
    """The same of one that ends before this place."""
    quoted = re.compile(r".*[\"“„«‘']([^\"”“»’'\n]+)[\"”“»’']\s*$", re.DOTALL).match(text[:end])
    if quoted:
        return quoted.span(1)
    closings = [found.end() for found in CLOSES.finditer(text, 0, end)]
    told = _tokens(text, closings[-1] if closings else 0, end)
    while told and fold(told[-1].text) in AFTER:
        told = told[:-1]
    first = next((n + 1 for n in range(len(told) - 1, -1, -1) if fold(told[n].text) in BEFORE), 0)
    return (told[first].start, told[-1].end) if told[first:] else (end, end)


def _tokens(text: str, start: int, end: int) -> list[Part]:
    found = re.compile(r"[^\s,;:!?\"“”„«»()]+").finditer(text, start, end)
    return [Part(one.group().rstrip("."), one.start(), one.start() + len(one.group().rstrip("."))) for one in found]


def without_common(old: str, new: str) -> tuple[str, str]:
    """ "Plot 07" and "Garden 07" are Plot and Garden: what both begin or end with stays. Of "rent Main street 07" and
    "rent 07" the street goes.
    """
    old, new = old.strip(APART), new.strip(APART)
    left, right = parts(old), parts(new)
    behind = _shared(left[::-1], right[::-1])
    before = _shared(left, right)
    if before + behind >= len(right) < len(left):
        before = len(right) - behind
        return old[left[before].start : left[len(left) - behind - 1].end], ""
    if behind and behind < min(len(left), len(right)):
        old, new = old[: left[-1 - behind].end], new[: right[-1 - behind].end]
    if before and before + behind < min(len(left), len(right)):
        old, new = old[left[before].start :], new[right[before].start :]
    return old, new


def _shared(left: Sequence[Part], right: Sequence[Part]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((n for n, (one, other) in pairs if not very(one.text, other.text)), min(len(left), len(right)))
