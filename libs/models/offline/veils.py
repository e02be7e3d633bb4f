"""Names of several words that are there: what stands in the folder wins over grammar.

"Hale and Moreno" holds a conjunction, "Letter to Dr Patel" a preposition, "Klasse 6" a number. Before any rule reads
the words, the longest names that stand in them are veiled: each is a run of one letter that nobody types, as long as
the name, so that all else keeps its place, and to every rule the name is one word. So is a name that something new is
given outright: "a folder called For the Hales".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from libs.models.offline import newnames
from libs.models.offline.clauses import Name, Named
from libs.models.offline.paths import FILE_NAME, QUOTED, SEVERAL
from libs.models.offline.titles import SERIES
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold, words

FIRST = 0x20000
"""The letters of the veils: Chinese ones so rare that no name has them, whose form no folding changes."""
RUN = regex(r"([\U00020000-\U000203ff])\1*")


@dataclass(frozen=True, slots=True)
class Veils:
    """What is under each letter: the name as it was said, and what is meant by it."""

    said: Mapping[str, str] = field(default_factory=dict)
    meant: Mapping[str, Named] = field(default_factory=dict)

    def off(self, text: str) -> str:
        """The text as it was said."""
        return RUN.sub(lambda found: self.said.get(found[1], found[0]), text)

    def names(self, text: str) -> Iterator[Named]:
        """All that stand alone; one that goes on, `Hale and Moreno/Tom`, is a part of another."""
        for found in RUN.finditer(text):
            if found[1] in self.meant and text[found.end() : found.end() + 1] != "/":
                yield Named(self.meant[found[1]].kind, found[0], *found.span())

    def lifted(self, name: Named) -> Named:
        """With what is under the veil; a path that goes on below a folder begins with where that really is."""
        found = RUN.match(name.text)
        if found is None or found[1] not in self.meant or name.text[found.end() : found.end() + 1] not in ("", "/"):
            return replace(name, text=self.off(name.text))
        return replace(name, text=self.meant[found[1]].text + self.off(name.text[found.end() :]))


UNVEILED = Veils()


def veiled(text: str, known: Sequence[str]) -> tuple[str, Veils]:
    """The text with these names veiled where they stand outside of quotes."""
    said: dict[str, str] = {}
    meant: dict[str, Named] = {}
    quoted = [found.span() for found in QUOTED.finditer(text)]
    for find in (_packed, _renamed, _there, _given):
        for name in find(text, known):
            whole = text[name.start : name.end]
            if RUN.search(whole) or any(start < name.end and name.start < end for start, end in quoted):
                continue
            letter = chr(FIRST + len(said))
            said[letter], meant[letter] = whole, name
            text = text[: name.start] + letter * len(whole) + text[name.end :]
    return text, Veils(said, meant)


def _there(text: str, known: Sequence[str]) -> Iterator[Named]:
    """Names of what is there, the longest first."""
    flat, at = _flat(text)
    for name, path in _spellings(tuple(known)):
        for found in _standing(name, flat) if name in flat else ():
            start, end = at[found.start()], at[found.end() - 1] + 1
            if not _nothing_else(text[start:end]) or _numbered(text, start, end):
                continue
            goes_on = text[end : end + 1] == " " and TO.search(text[:start]) and not SERIES.match(text, start)
            new = newnames.ended(text, start, frozenset()) if goes_on else None
            more = text[end:new] if new is not None else ""
            if new is not None and more and not RUN.search(more) and not _names_one(more, known):
                yield Named(Name.QUOTE, text[start:new], start, new)  # "as Klasse 6 alt", where a Klasse 6 is there
            else:
                yield Named(Name.PATH, path or text[start:end], start, end)


def _numbered(text: str, start: int, end: int) -> bool:
    """ "Llopis 2024 - doc 1, Llopis 2024 - doc 2 etc.", where a Llopis 2024 is there: a part of the new names."""
    around = (found for found in SERIES.finditer(text) if found.start() <= start and end <= found.end())
    return any(found["base"] is not None and text[start:end] in found["base"] for found in around)


def _packed(text: str, known: Sequence[str]) -> Iterator[Named]:
    """ "… into Hale and Moreno.zip": an archive that is called as what goes into it."""
    flat, at = _flat(text)
    for name, _ in _spellings(tuple(known)):
        for found in re.finditer(rf"(?<![\w/]){re.escape(name)}{ARCHIVE}", flat) if name in flat else ():
            start, end = at[found.start()], at[found.end() - 1] + 1
            yield Named(Name.PATH, text[start:end], start, end)


ARCHIVE = r"\.(?:zip|tar(?:\.gz)?|tgz)(?!\w)"
TO = regex(
    r"\b(?:to|as|nach|als|(?<!nombre )a|como|called|named|namens|llamad[ao]"
    r"|(?:call|name)\s+(?:it|them|that)|nenn\w*\s+(?:es|sie|ihn|die|das)|ll[aá]mal[ao]s?)\s+$",
    re.IGNORECASE,
)


def _names_one(text: str, known: Sequence[str]) -> bool:
    flat, _ = _flat(text)
    return any(name in flat for name, _ in _spellings(tuple(known)))


def _renamed(text: str, known: Sequence[str]) -> Iterator[Named]:
    """A new name, before those that are there: it may hold one."""
    plain = text
    for name in _there(text, known):
        if not RUN.search(plain, name.start, name.end):
            plain = plain[: name.start] + chr(FIRST) * (name.end - name.start) + plain[name.end :]
    return (name for name in newnames.renamed(text, plain) if SEVERAL.search(name.text))


def _given(text: str, known: Sequence[str]) -> Iterator[Named]:
    return (name for name in newnames.called(text) if SEVERAL.search(name.text))


def _standing(name: str, flat: str) -> Iterator[re.Match[str]]:
    ends = "/" if _has_ending(name.rpartition("/")[2]) else ""
    return re.finditer(rf"(?<![\w/.*?-]){re.escape(name)}(?![\w{ends}-]|\.\w|\.?\*|\?\w)", flat)


def _nothing_else(said: str) -> bool:
    """ "new folder" may be any: words that all mean something are a name only where a capital or a sign says so."""
    if said != said.lower() or re.search(r"[./\d]", said):
        return True
    return any(word.unknown for word in words(said))


def _flat(text: str) -> tuple[str, list[int]]:
    """The text folded, and the place of each of its letters in the text."""
    letters = [(folded, at) for at, letter in enumerate(text) for folded in fold(letter)]
    return "".join(letter for letter, _ in letters), [at for _, at in letters]


@lru_cache(maxsize=16)
def _spellings(known: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
    """How the names of several words may be said, the longest first, each with its path where that is one: a path from
    any of its folders on, and of files the same without the ending.
    """
    whole: dict[str, set[str]] = {}
    stems: dict[str, set[str]] = {}
    for path in (name.rstrip("/") for name in known):
        parts = path.split("/")
        for said in ("/".join(parts[n:]) for n in range(len(parts))):
            if SEVERAL.search(said):
                whole.setdefault(fold(said), set()).add(path)
            if _has_ending(parts[-1]) and SEVERAL.search(stem := said.rpartition(".")[0]):
                stems.setdefault(fold(stem), set()).add(path)
    tops = {fold(name.rstrip("/")): name.rstrip("/") for name in known}
    told: dict[str, str | None] = {stem: next(iter(paths)) for stem, paths in stems.items() if len(paths) == 1}
    told |= {said: tops.get(said) or (next(iter(paths)) if len(paths) == 1 else None) for said, paths in whole.items()}
    return tuple(sorted(told.items(), key=lambda pair: (-len(pair[0]), pair[0])))


def _has_ending(name: str) -> bool:
    return FILE_NAME.match(re.sub(r"[^\w.]", "_", name)) is not None
