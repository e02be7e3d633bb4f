"""Reading a request: names are set apart from words, and the words are cut into clauses that each ask, forbid or
spare something.

What stands in quotes or looks like a path is a name and never an instruction: a file called "delete everything" can
be moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cache

from libs.models.offline import courtesy
from libs.models.offline.measures import Filters, measured
from libs.retrieval.lexicon import CATEGORIES, FAMILIES, SEPARABLE, Language, listed
from libs.retrieval.words import Word, extension_of, fold, language_of, words

ACTIONS = listed(
    "remove organize report list find move rename create change clean foreign greeting capability howmany summary parse"
    " explain whatis prefix suffix lower upper titlecase snake swap number pack unpack undo inside"
)
KINDS = (*CATEGORIES, *FAMILIES)
QUOTED = re.compile(r"""["“”„«]([^"“”„«»\n]+)["“”»]|`([^`\n]+)`|(?<!\w)['‘]([^'‘’\n]+)['’](?!\w)""")
FILE_NAME = re.compile(r"^[\w\-+()@~]+(\.[\w\-]+)*\.(?=\w{0,7}[^\W\d_])\w{1,8}$")
AMOUNT = re.compile(r"^\d+[.,]\d+[kmgtKMGT]?i?[bB]?$")
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


@dataclass(frozen=True, slots=True)
class Measure(Word):
    """Words that mean a size or a time: read already, and grammar to everything else."""

    filters: Filters = field(default_factory=dict, hash=False)


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
    def filters(self) -> dict[str, int | str | bool]:
        """The sizes and times that it names; where two speak of the same bound, the narrower holds."""
        told: dict[str, int | str | bool] = {}
        for measure in (item for item in self.items if isinstance(item, Measure)):
            told = _both(told, measure.filters)
        return told

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


def read(text: str, known: Sequence[str] = (), *, now: datetime | None = None) -> Reading:
    """Read a request. `known` are names that exist in the workspace; said exactly so, they are names here too.
    Without a `now`, sizes and times stay words.
    """
    text = ARROW.sub(
        lambda found: f" {'to':<{len(found.group()) - 1}}" if len(found.group()) > 2 else found.group(), text
    )
    names = _names(text, known)
    masked = _masked(text, names)
    language = language_of(masked)
    masked = courtesy.plain(masked, known)
    measures = [
        _measure(text, one.start, one.end, filters=one.filters) for one in (measured(masked, now) if now else ())
    ]
    masked = _masked(masked, measures)
    # The English article would else pass for the Spanish preposition.
    said = [_known(_article(word, language), known) for word in words(masked)]
    items: list[Item] = _reunited(sorted((*said, *names, *measures), key=lambda item: item.start), masked)
    said_for = [part for part in _parts(items, masked) if not _reason(part)]
    parts = _negated([_mooded(_verbal(part)) for part in said_for])
    return Reading(text, language, tuple(_returned(list(_gathered(parts)))))


def _article(word: Word, language: Language) -> Word:
    return replace(word, folded="an") if word.folded == "a" and language != "es" else word


def _measure(text: str, start: int, end: int, *, filters: Filters) -> Measure:
    return Measure(text[start:end], "<measure>", start, end, filler=True, filters=filters)


def _both(one: Mapping[str, int | str | bool], other: Filters) -> dict[str, int | str | bool]:
    narrower = {"larger_than": max, "modified_after": max, "smaller_than": min, "modified_before": min}
    told = dict(one)
    for name, value in other.items():
        told[name] = narrower[name](told[name], value) if name in told and name in narrower else value
    return told


def _reunited(items: Sequence[Item], text: str) -> list[Item]:
    """A separable verb takes its particle back: "räum … auf" tidies, "throw … away" removes."""
    told = list(items)
    for at, item in enumerate(told):
        if not isinstance(item, Word) or not item.folded.isalpha():
            continue
        for end in range(at + 1, len(told)):
            between = text[told[end - 1].end : told[end].start]
            if re.search(r"[.;:!?\n]", between):
                break
            particle = told[end]
            if not isinstance(particle, Word) or not _closes(told, end, text):
                continue
            concept = _separable(item.folded, particle.folded)
            if at == 0 and item.unknown and particle.folded in ("weg", "raus"):
                concept = "remove"  # whatever the verb: "hau … raus", "feuer … weg"
            if concept:
                told[at] = replace(item, concepts=(concept,), filler=False)
                told[end] = replace(particle, concepts=(), filler=True)
                break
    return told


def _closes(items: Sequence[Item], at: int, text: str) -> bool:
    """Does a part of the sentence end after this word?"""
    if at + 1 == len(items):
        return True
    after = items[at + 1]
    said = after.folded if isinstance(after, Word) else ""
    stops = re.search(r"[,.;:!?\n]|\s[-–—]\s", text[items[at].end : after.start]) is not None
    return stops or said in AND | OR | BUT | {"please", "bitte", "then", "dann", "mal"}


@cache
def _separable(verb: str, particle: str) -> str | None:
    for concept, forms in SEPARABLE.items():
        for form in forms.split():
            stem, _, apart = form.partition("+")
            if particle == apart and (verb.startswith(stem[:-1]) if stem.endswith("*") else verb == stem):
                return concept
    return None


def _known(word: Word, known: Sequence[str]) -> Item:
    """A word that means nothing else is the file or folder of that name, or the one file whose name begins so."""
    if not word.unknown:
        return word
    names = [name.rstrip("/") for name in known]
    real = next((name for name in names if fold(name) == word.folded), None) or _only_stem(word.folded, names)
    return Named(Name.PATH, real, word.start, word.end) if real else word


def _only_stem(said: str, names: Sequence[str]) -> str | None:
    holding = [name for name in names if said in fold(name)]
    return holding[0] if len(holding) == 1 and fold(holding[0]).rpartition(".")[0] == said else None


def _names(text: str, known: Sequence[str]) -> list[Named]:
    found = [_quoted(match) for match in QUOTED.finditer(text)]
    rest = _masked(text, found)
    found += [Named(Name.QUOTE, match["base"], match.start("base"), match.end()) for match in SERIES.finditer(rest)]
    rest = _masked(text, found)
    found += list(_holding(rest))
    rest = _masked(text, found)
    found += [Named(Name.PATH, said, start, start + len(said)) for start, said in _spaced(rest)]
    rest = _masked(text, found)
    found += [Named(_kind_of(said) or Name.QUOTE, said, start, start + len(said)) for start, said in _titles(rest)]
    rest = _masked(text, found)
    found += list(_said_exactly(rest, known))
    rest = _masked(text, found)
    return found + [name for token in re.finditer(r"[^\s,;\0]+", rest) if (name := _pathlike(token))]


ARROW = re.compile(r"\s(?:->|=>|→|-->)(?=\s)")
""" "PDFs -> Docs"."""
CALLED = re.compile(
    r"\b(?:called|named|titled|entitled|namens|genannt|mit (?:dem )?Namen|die .{1,20} hei(?:ss|ß)t|llamad[ao]s?"
    r"|que se llame|de nombre|con (?:el )?nombre|titulad[ao])\s+",
    re.IGNORECASE,
)
SERIES = re.compile(
    r"\b(?:to|as|into|in|zu|als|a|en|como|nach|them)\s+(?P<base>[^\W\d_][^,;\n]{0,60}?)[\s_\-]*0*1\s*(?:,|and|und|y)\s*"
    r"(?P=base)[\s_\-]*0*2(?:\s*(?:,|and|und|y)\s*(?P=base)[\s_\-]*0*3)?"
    r"(?:\s*,?\s*(?:and so on|and so forth|etc\.?|usw\.?|und so weiter|etcétera|y así sucesivamente|\.\.\.|…))?",
    re.IGNORECASE,
)
""" "to Trip 001, Trip 002 and so on": names by number."""
TITLED = re.compile(r"(?:[^\W\d_a-z][\w'-]*|\d[\w-]*)(?:[ ](?:[^\W\d_a-z][\w'-]*|\d[\w-]*))*(?:\.\w{1,7})?")


INTO_TITLE = re.compile(
    r"\b(?:(?:to|into|nach|al?)\s+(?:(?:the|den|la|el)\s+)?(?:(?:folder|directory|ordner|carpeta)\s+)?"
    r"|(?:in|en)\s+(?:(?:the|den|dem|la|el)\s+)?(?:folder|directory|ordner|carpeta)\s+|(?:in|en)\s+(?=\w+-\d))",
    re.IGNORECASE,
)
RENAMES = re.compile(
    r"\bnamed\b|\bcalled\b|llamar|renam|benenn|nenne|renombr|nombre|change the name|\bcall\b", re.IGNORECASE
)
SPACED = re.compile(
    r"\b(?:to|in|into|as|zu|als|a|en|como|named|called|llamarse)\s+"
    r"(?P<name>(?:(?!(?:and|und|y|to|in|the|den|llamarse|be)\b)[\w()-]+ ){1,4}[\w()-]+\.\w{2,5})\b",
    re.IGNORECASE,
)


_NAME_OF = r"(?:the\s+|their\s+|its\s+|his\s+|el\s+|su\s+|sus\s+)?(?:file\s?|datei)?(?:names?|namen?|nombres?)\b"
_WORD = r"(?:the\s+(?:word|text)\s+|das\s+wort\s+|la\s+palabra\s+)?(?P<part{n}>[\w-]+)"
HOLDING = re.compile(
    rf"\b(?:with|having|containing|(?:that|which)\s+(?:have|has|contains?|includes?))\s+{_WORD.format(n=1)}\s+"
    rf"(?:somewhere\s+)?in\s+{_NAME_OF}"
    rf"|\b(?:whose|where\s+the)\s+(?:file\s?)?names?\s+(?:contains?|includes?|ha[sv]e?|mentions?)\s+{_WORD.format(n=2)}"
    rf"|\b(?:called|named)\s+(?:something|anything)\s+(?:with|like|containing)\s+{_WORD.format(n=3)}"
    rf"|\bmit\s+{_WORD.format(n=4)}\s+im\s+{_NAME_OF}"
    rf"|\bderen\s+(?:datei)?name\s+{_WORD.format(n=5)}\s+enthält"
    rf"|\b(?:die|welche)\s+{_WORD.format(n=6)}\s+im\s+{_NAME_OF}\s+(?:haben|hat|tragen|enthalten|führen)"
    rf"|\b(?:con|que\s+(?:tengan?|tienen?|contengan?|contienen?|lleven?|llevan?|incluyan?))\s+{_WORD.format(n=7)}\s+en\s+"
    rf"{_NAME_OF}"
    rf"|\bcuyo\s+nombre\s+(?:contenga|contiene|tenga|lleve|incluya)\s+{_WORD.format(n=8)}",
    re.IGNORECASE,
)
""" "With birthday in the name": files by a part of their names."""
REWRITES = re.compile(
    r"replac|swap|substit|chang|renam|ersetz|tausch|benenn|reempla|sustitu|cambi|renombr|\b(?:no|nicht|not|n't|ohne)\s+$",
    re.IGNORECASE,
)


def _holding(text: str) -> Iterator[Named]:
    for match in HOLDING.finditer(text) if not REWRITES.search(text) else ():
        part = next(group for group in match.groups() if group)
        read = words(part)
        if not read or read[0].filler or {*read[0].concepts} & UNPARTS or REWRITES.search(text[: match.start()]):
            continue
        yield Named(Name.GLOB, f"*{part}*", match.start(), match.end())


UNPARTS = listed("blank date number underscore hyphen upper lower not all same only except type size age")
"""What is said of names and is no part of one: "with blanks in the name"."""


def _spaced(text: str) -> Iterator[tuple[int, str]]:
    """The new name of a rename may have blanks: "to final v2.mp3"."""
    for match in SPACED.finditer(text) if RENAMES.search(text) else ():
        if "\0" not in match["name"] and ACTIONS.isdisjoint(words(match["name"])[0].concepts):
            yield match.start("name"), match["name"]


def _titles(text: str) -> Iterator[tuple[int, str]]:
    """What stands after "called" in capitals is a name of several words: "a folder called Last Year"."""
    for match in CALLED.finditer(text):
        said = TITLED.match(text, match.end())
        if said and "\0" not in said.group() and (" " in said.group() or not _kind_of(said.group())):
            yield said.start(), said.group()
    for match in INTO_TITLE.finditer(text):
        said = TITLED.match(text, match.end())
        if said and "\0" not in said.group() and re.search(r"[ -]", said.group()) and not _kind_of(said.group()):
            yield said.start(), said.group()


def _quoted(match: re.Match[str]) -> Named:
    inner = next(group for group in match.groups() if group).strip()
    looks = _kind_of(inner) if " " not in inner else (Name.PATH if FILE_NAME.match(inner.replace(" ", "_")) else None)
    return Named(looks or Name.QUOTE, inner, match.start(), match.end())


def _said_exactly(text: str, known: Sequence[str]) -> Iterator[Named]:
    """A known name of several words, or with a capital inside the sentence, is meant as one: `Tax 2024`, `Photos`.
    What comes before the extension does too, where only one file is called so.
    """
    for name, real in sorted(_spoken(known).items(), key=lambda pair: (-len(pair[0]), pair[0])):
        plain = name == name.lower()
        if not name or (plain and not re.search(r"[^\w]|[_\d]", name)) or name.isdigit():
            continue
        flags = re.IGNORECASE if " " in name or "." in name else 0
        for match in re.finditer(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-]|\.\w)", text, flags):
            if match.start() == 0 and " " not in name and "." not in name:
                continue
            yield Named(Name.PATH, real, match.start(), match.end())
            text = text[: match.start()] + "\0" * len(name) + text[match.end() :]


def _spoken(known: Sequence[str]) -> dict[str, str]:
    """Names and, of files, their stems where these name just one."""
    names = [name.rstrip("/") for name in known]
    stems: dict[str, list[str]] = {}
    for name in names:
        stem, dot, _ = name.rpartition("/")[2].rpartition(".")
        if dot and stem:
            stems.setdefault(stem, []).append(name)
    told = {
        stem: found[0]
        for stem, found in stems.items()
        if (len(found) == 1 and " " in stem) or "-" in stem or "_" in stem
    }
    last = {name.rpartition("/")[2]: name for name in reversed(names)}
    return {stem: real for stem, real in told.items() if len(stems[stem]) == 1} | last | {name: name for name in names}


def _pathlike(token: re.Match[str]) -> Named | None:
    raw = token.group()
    if not raw.strip(".") and token.start() and not token.string[token.start() - 1].isspace():
        return None  # the end of a sentence that ends with a name
    said = raw.lstrip("([{").rstrip("!?:)]}")
    said = said.rstrip(".") if said.strip("./") else said
    start = token.start() + raw.find(said)
    kind = _kind_of(said)
    text = f"*{said}" if kind is Name.GLOB and BARE_EXTENSION.match(said) else said
    return Named(kind, text, start, start + len(said)) if kind else None


def _kind_of(said: str) -> Name | None:
    if not said or said.casefold() in ABBREVIATIONS or AMOUNT.match(said):
        return None
    if "://" in said:
        return None
    if "*" in said or BARE_EXTENSION.match(said):
        return Name.GLOB if said.strip("*") else None
    if said.startswith(("~", "../", "./", "/")) or said in ("..", ".") or re.match(r"^[A-Za-z]:\\", said):
        return Name.PATH
    if "/" in said:
        parts = [part for part in said.split("/") if part]
        if parts and FILE_NAME.match(parts[-1]):
            return Name.PATH
        return None if parts and all(_ordinary(part) for part in parts) else Name.PATH
    return Name.PATH if FILE_NAME.match(said) else None


def _ordinary(part: str) -> bool:
    """`and/or` and `images/videos` are not paths; `Photos/2024` is."""
    read = words(part)
    return part == part.lower() and all(word.filler or word.concepts or extension_of(word.folded) for word in read)


def _masked(text: str, names: Sequence[Item]) -> str:
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


def _reason(part: Clause) -> bool:
    """ "Because I'm still using it" asks for nothing."""
    return isinstance(part.items[0], Word) and "because" in part.items[0].concepts


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
    return (
        "because" in item.concepts
        or "except" in item.concepts
        or "then" in item.concepts
        or item.folded in SPLITTING_NOT
    )


VERBS = {"zip": "pack", "archive": "pack", "tar": "pack", "mov": "move", "number": "number", "numbers": ""}
THROWS = listed("drop toss chuck throw dump")
"""Verbs that remove, but move where they say into what."""
"""Nouns that are verbs where a request begins: "zip the PDFs", "number the photos"."""


def _verbal(part: Clause) -> Clause:
    """Words that are verbs only in a verb's place."""
    at = next((n for n, item in enumerate(part.items) if not (isinstance(item, Word) and item.filler)), None)
    told = list(part.items)
    for n, item in enumerate(told):
        if isinstance(item, Word) and item.folded in THROWS and any(_into(other) for other in told[n + 1 :]):
            told[n] = replace(item, concepts=("move",))
        verb = VERBS.get(item.folded) if isinstance(item, Word) else None
        if verb is None or not isinstance(item, Word):
            continue
        article = n > 0 and _determines(told[n - 1])
        others = any(
            isinstance(other, Word) and {"remove", "move", "rename", "find"} & {*other.concepts} for other in told
        )
        if (
            n == at
            and not article
            and not others
            and (verb != "pack" or part.joined in ("", ".") or _object_follows(told, n))
        ):
            told[n] = replace(item, concepts=(verb,))
        elif verb not in ("pack", "move"):
            told[n] = replace(item, concepts=(), filler=True)
    return replace(part, items=tuple(told))


ARTICLES = listed("the a an my this that der die das den dem ein eine el la los las un una mi mis")


def _into(item: Item) -> bool:
    return isinstance(item, Word) and item.folded in ("into", "onto", "in")


def _determines(item: Item) -> bool:
    return isinstance(item, Word) and item.folded in ARTICLES


def _object_follows(items: Sequence[Item], at: int) -> bool:
    after = items[at + 1] if at + 1 < len(items) else None
    return isinstance(after, Named) or (after is not None and (after.filler or "all" in after.concepts))


LETS = listed("leave lass lasse lassen deja dejar dejes deje")
"""Words that leave things alone only where nothing else is done with them."""


def _mooded(part: Clause) -> Clause:
    if part.says("only") and part.says("not") and _selects(part) and not part.acts:
        return replace(part, mood=Mood.SPARE)  # "only report.pdf not"
    if part.acts and all(word.folded in LETS for word in part.words if "untouched" in word.concepts):
        items = (
            replace(i, concepts=(), filler=True) if isinstance(i, Word) and i.folded in LETS else i for i in part.items
        )
        part = replace(part, items=tuple(items)) if part.says("untouched") else part
    if part.says("except") or (part.says("untouched") and not part.says("only")):
        return replace(part, mood=Mood.SPARE)
    chosen = _selects(part) or any(word.unknown for word in part.words)
    if part.says("keep") and not part.acts and not part.says("only", "duplicate") and chosen:
        return replace(part, mood=Mood.SPARE)
    chooses = _selects(part) or bool(part.filters) or (part.says("file", "folder") and not part.says("all", "name"))
    if part.says("only") and not part.acts and not part.says("keep", "duplicate") and chooses:
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
        elif part.joined == "," and _relative(part) and part.mood is held.mood:
            held = held.joins(part)
        elif part.mood is held.mood is Mood.DO and not _stands(part) and _goes_elsewhere(held, part):
            yield held
            held = replace(part, items=(*(item for item in held.items if _moves(item)), *part.items))
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


def _relative(part: Clause) -> bool:
    """ "…, was doppelt ist": the end of what came before."""
    first = part.items[0]
    return isinstance(first, Word) and first.folded in ("was", "that", "which", "que", "die") and not part.acts


def _moves(item: Item) -> bool:
    return isinstance(item, Word) and "move" in item.concepts


def _goes_elsewhere(held: Clause, part: Clause) -> bool:
    """ "Move zips to Packed and exes to Setups": the same done to others, with another end."""
    if not held.says("move") or not _selects(part):
        return False
    ends = [any(_end(clause.items, n) for n in range(1, len(clause.items))) for clause in (held, part)]
    return all(ends)


def _end(items: Sequence[Item], at: int) -> bool:
    item = items[at]
    return isinstance(item, Word) and item.folded in ("to", "into", "nach", "a") and at + 1 < len(items)


def _returned(clauses: list[Clause]) -> list[Clause]:
    """Where something goes belongs to what is moved: in "move all but a.png into Photos" the end is the beginning's."""
    for at in range(1, len(clauses)):
        main, spare = clauses[at - 1], clauses[at]
        if spare.mood is not Mood.SPARE or main.mood is not Mood.DO or not main.says("move", "pack", "organize"):
            continue
        cut = next((n for n in range(1, len(spare.items)) if _leads_somewhere(spare.items, n)), None)
        if cut is not None and not any(_leads_somewhere(main.items, n) for n in range(1, len(main.items))):
            clauses[at - 1] = main.joins(replace(spare, items=spare.items[cut:]))
            clauses[at] = replace(spare, items=spare.items[:cut])
    return clauses


TOWARDS = listed("to into onto nach in en a al im ins")


def _leads_somewhere(items: Sequence[Item], at: int) -> bool:
    item = items[at]
    return isinstance(item, Word) and item.folded in TOWARDS and at + 1 < len(items)


def _stands(part: Clause) -> bool:
    return part.acts or part.says("duplicate") or part.mood is not Mood.DO


def folded(text: str) -> str:
    """The text as its words are compared."""
    return fold(text)
