"""Reading a request: names are set apart from words, and the words are cut into clauses that each ask, forbid or
spare something.

What stands in quotes or looks like a path is a name and never an instruction: a file called "delete everything" can
be moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from libs.retrieval.lexicon import Language
from libs.retrieval.words import Word, extension_of, fold, language_of, words

ACTIONS = frozenset(
    (
        "remove",
        "organize",
        "report",
        "list",
        "find",
        "move",
        "rename",
        "create",
        "change",
        "clean",
        "foreign",
        "greeting",
        "capability",
    )
)
KINDS = ("images", "documents", "audio", "video", "archives", "code", "fonts", "programs")
QUOTED = re.compile(r"""["“”„«]([^"“”„«»\n]+)["“”»]|`([^`\n]+)`|(?<!\w)['‘]([^'‘’\n]+)['’](?!\w)""")
FILE_NAME = re.compile(r"^[\w\-+()@~]+(\.[\w\-]+)*\.(?=\w{0,7}[^\W\d_])\w{1,8}$")
BARE_EXTENSION = re.compile(r"^\.[A-Za-z]\w{0,7}$")
ABBREVIATIONS = frozenset(("e.g", "i.e", "z.b", "u.a", "p.ej", "a.m", "p.m", "d.h", "etc", "vs"))
AND = frozenset(("and", "und", "y", "e", "plus", "also", "sowie", "ademas"))
BUT = frozenset(("but", "aber", "pero", "sondern", "sino"))
OR = frozenset(("or", "oder", "o", "nor", "noch", "ni"))
SPLITTING_NOT = frozenset(("not", "don_t", "dont", "do_not", "never", "without", "ohne", "sin", "neither"))


class Name(StrEnum):
    """What a name set apart looks like."""

    PATH = "path"
    GLOB = "glob"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Named:
    """A name in the text, with its place there."""

    kind: Name
    text: str
    start: int
    end: int


Item = Word | Named


class Mood(StrEnum):
    """What a clause wants."""

    DO = "do"
    NEVER = "never"
    SPARE = "spare"
    """Leave this alone, whatever else is done."""
    ONLY = "only"
    """Do all of it to nothing but this."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of the request with one wish. `joined` is what stood before it: a comma, `and`, `or`, or nothing."""

    items: tuple[Item, ...]
    mood: Mood = Mood.DO
    joined: str = ""

    @property
    def words(self) -> tuple[Word, ...]:
        return tuple(item for item in self.items if isinstance(item, Word))

    @property
    def names(self) -> tuple[Named, ...]:
        return tuple(item for item in self.items if isinstance(item, Named))

    @property
    def concepts(self) -> frozenset[str]:
        return frozenset(concept for word in self.words for concept in word.concepts)

    def says(self, *concepts: str) -> bool:
        return not self.concepts.isdisjoint(concepts)

    @property
    def acts(self) -> bool:
        return not self.concepts.isdisjoint(ACTIONS)

    def joins(self, other: Clause) -> Clause:
        return replace(self, items=tuple(sorted((*self.items, *other.items), key=lambda item: item.start)))


@dataclass(frozen=True, slots=True)
class Reading:
    """A request, read. Clauses come in the order of the text."""

    text: str
    language: Language
    clauses: tuple[Clause, ...]

    def wishes(self, mood: Mood) -> tuple[Clause, ...]:
        return tuple(clause for clause in self.clauses if clause.mood is mood)


def read(text: str, known: Sequence[str] = ()) -> Reading:
    """Read a request. `known` are names that exist in the workspace; said exactly so, they are names here too."""
    names = _names(text, known)
    masked = _masked(text, names)
    language = language_of(masked)
    # The English article would else pass for the Spanish preposition.
    said = [_known(word, known) for word in words(masked) if word.folded != "a" or language == "es"]
    items: list[Item] = sorted((*said, *names), key=lambda item: item.start)
    parts = _negated([_mooded(part) for part in _parts(items, masked)])
    return Reading(text, language, tuple(_gathered(parts)))


def _known(word: Word, known: Sequence[str]) -> Item:
    """A word that means nothing else is the file or folder of that name."""
    real = next((name.rstrip("/") for name in known if fold(name.rstrip("/")) == word.folded), None)
    return Named(Name.PATH, real, word.start, word.end) if real and word.unknown else word


def _names(text: str, known: Sequence[str]) -> list[Named]:
    found = [_quoted(match) for match in QUOTED.finditer(text)]
    rest = _masked(text, found)
    found += list(_said_exactly(rest, known))
    rest = _masked(text, found)
    return found + [name for token in re.finditer(r"[^\s,;\0]+", rest) if (name := _pathlike(token))]


def _quoted(match: re.Match[str]) -> Named:
    inner = next(group for group in match.groups() if group).strip()
    looks = _kind_of(inner) if " " not in inner else (Name.PATH if FILE_NAME.match(inner.replace(" ", "_")) else None)
    return Named(looks or Name.QUOTE, inner, match.start(), match.end())


def _said_exactly(text: str, known: Sequence[str]) -> Iterator[Named]:
    """A known name of several words, or with a capital inside the sentence, is meant as one: `Tax 2024`, `Photos`."""
    for name in sorted((name.rstrip("/") for name in known), key=len, reverse=True):
        if not name or (name == name.lower() and " " not in name):
            continue
        for match in re.finditer(rf"(?<![\w/.]){re.escape(name)}(?![\w/]|\.\w)", text):
            if match.start() == 0:
                continue
            yield Named(Name.PATH, name, match.start(), match.end())
            text = text[: match.start()] + "\0" * len(name) + text[match.end() :]


def _pathlike(token: re.Match[str]) -> Named | None:
    raw = token.group()
    said = raw.lstrip("([{").rstrip("!?:)]}")
    said = said.rstrip(".") if said.strip("./") else said
    start = token.start() + raw.find(said)
    kind = _kind_of(said)
    text = f"*{said}" if kind is Name.GLOB and BARE_EXTENSION.match(said) else said
    return Named(kind, text, start, start + len(said)) if kind else None


def _kind_of(said: str) -> Name | None:
    if not said or said.casefold() in ABBREVIATIONS:
        return None
    if "://" in said:
        return None
    if "*" in said or BARE_EXTENSION.match(said):
        return Name.GLOB if said.strip("*") else None
    if said.startswith(("~", "../", "./", "/")) or said in ("..", ".") or re.match(r"^[A-Za-z]:\\", said):
        return Name.PATH
    if "/" in said:
        parts = [part for part in said.split("/") if part]
        return None if parts and all(_ordinary(part) for part in parts) else Name.PATH
    return Name.PATH if FILE_NAME.match(said) else None


def _ordinary(part: str) -> bool:
    """`and/or` and `images/videos` are not paths; `Photos/2024` is."""
    read = words(part)
    return part == part.lower() and all(word.filler or word.concepts or extension_of(word.folded) for word in read)


def _masked(text: str, names: Sequence[Named]) -> str:
    for name in names:
        text = text[: name.start] + "\0" * (name.end - name.start) + text[name.end :]
    return text


def _parts(items: Sequence[Item], text: str) -> Iterator[Clause]:
    """Cut at punctuation, at `and`, `or`, `then`, and before `except` and `without`."""
    held: list[Item] = []
    joined, end = "", 0
    for item in items:
        stop = _stop(text[end : item.start]) if held else ""
        said = item.folded if isinstance(item, Word) else ""
        link = _link(said)
        cuts = stop or link or _cuts(item)
        if cuts and held:
            yield Clause(tuple(held), joined=joined)
            held = []
        if cuts:
            joined = link or stop or "and"
        if not link:
            held.append(item)
        end = item.end
    if held:
        yield Clause(tuple(held), joined=joined)


def _link(said: str) -> str:
    joints = (("and", AND), ("or", OR), ("but", BUT))
    return next((link for link, spoken in joints if said in spoken), "")


def _stop(between: str) -> str:
    if re.search(r"[.;:!?\n]|\s[-–—]+\s", between):
        return "."
    return "," if "," in between else "and" if "&" in between or "+" in between else ""


def _cuts(item: Item) -> bool:
    if not isinstance(item, Word):
        return False
    return "except" in item.concepts or "then" in item.concepts or item.folded in SPLITTING_NOT


def _mooded(part: Clause) -> Clause:
    if part.says("except") or (part.says("untouched") and not part.says("only")):
        return replace(part, mood=Mood.SPARE)
    if part.says("keep") and not part.acts and not part.says("only") and _selects(part):
        return replace(part, mood=Mood.SPARE)
    if part.says("only") and not part.acts and not part.says("keep", "duplicate") and _selects(part):
        return replace(part, mood=Mood.ONLY)
    if part.joined == "but" and _selects(part) and not (part.acts or part.says("only", "keep", "duplicate")):
        return replace(part, mood=Mood.SPARE)  # "all images but report.pdf"
    if not part.says("not"):
        return part
    return replace(part, mood=Mood.NEVER if part.acts and not _selects(part) else Mood.SPARE)


def _selects(part: Clause) -> bool:
    return bool(part.names or part.says(*KINDS) or any(extension_of(word.folded) for word in part.words))


def _negated(parts: Sequence[Clause]) -> list[Clause]:
    """Carry a "don't" along its list: in "don't delete, move or rename anything" all three are forbidden."""
    read: list[Clause] = []
    for at, part in enumerate(parts):
        before = read[-1] if read else None
        if before and before.mood is not Mood.DO and part.mood is Mood.DO and part.acts and _continues(parts, at):
            part = replace(part, mood=before.mood if _selects(part) else Mood.NEVER)
        read.append(part)
    return read


def _continues(parts: Sequence[Clause], at: int) -> bool:
    part = parts[at]
    if part.joined == "or" or any(word.folded in ("anything", "any") for word in part.words):
        return True
    return part.joined == "," and at + 1 < len(parts) and parts[at + 1].joined == "or"


def _gathered(parts: Sequence[Clause]) -> Iterator[Clause]:
    """Put parts that ask nothing by themselves to the one before: "from Photos, and Music". The first goes to the
    next.
    """
    held: Clause | None = None
    for part in parts:
        if held is None:
            held = part
        elif part.mood is held.mood and not _stands(part) and part.joined != ".":
            held = held.joins(part)
        elif part.mood is held.mood and not _stands(held):
            held = replace(held.joins(part), joined=held.joined)
        elif part.mood is Mood.DO and not _stands(part) and held.mood is Mood.SPARE:
            held = held.joins(part)
        else:
            yield held
            held = part
    if held is not None:
        yield held


def _stands(part: Clause) -> bool:
    return part.acts or part.says("duplicate") or part.mood is not Mood.DO


def folded(text: str) -> str:
    """The text as its words are compared."""
    return fold(text)
