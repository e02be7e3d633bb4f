"""As many names as there are files: "rename the lab reports to osmosis and enzymes", "die Scans in Pass und Visum".

Each file gets the name that has a word of its own; where none has, they are given in the order of the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from libs.models.offline.gist.aiming import chosen
from libs.models.offline.gist.deeds import Deed, rename
from libs.models.offline.gist.rewriting import together
from libs.models.offline.gist.spelling import ending, stem
from libs.models.offline.gist.story import Story, named_by
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold

TOLD = regex(
    r"\b(?:rename|call|name|change|umbenenn\w*|(?:be)?nenn\w*|cambia\w*|renombra\w*|l[ae]s?\s+pon\w*)\b[^.;:!?\n]{2,80}?"
    r"\s(?:to|as|into|in|zu|a|como)\s+(?:(?:just|simply|only|be|nur|einfach|s[oó]lo|simplemente)\s+)*"
    r"(?P<names>[^.;:!?\n]+?)(?:\s+um|\s+umbenennen)?(?:\s*,?\s*(?:please|pls|bitte|por\s+favor|porfa|thanks|thx|danke|gracias))*"
    r"\s*[.!]*$",
    re.IGNORECASE,
)
SHOULD = regex(
    r"^\W*(?:(?:the|my|die|der|das|el|la)\s+)?(?P<what>[^,.;:!?\n]{2,80}?)\s+(?:"
    r"(?:should|shall|must|needs?\s+to|ought\s+to)\s+(?:(?:just|only|simply|really)\s+)*be\s+(?P<en>called\s+|named\s+|titled\s+)?"
    r"|(?:soll|sollte|muss)\s+(?:(?:nur|einfach|bitte|eigentlich)\s+)*(?P<de>(?=\S.*\shei(?:ß|ss)en\b))"
    r"|(?:se\s+)?(?:deber?[ií]a|tiene\s+que|debe)\s+(?:s[oó]lo\s+)?(?P<es>llamarse\s+|llamar\s+|ser\s+)"
    r")(?P<name>[^,.;:!?\n]+?)(?:\s+hei(?:ß|ss)en)?\s*[.!]*$",
    re.IGNORECASE,
)
""" "Guest list FINAL final should just be Guest list"."""
AND = regex(r"\s*,\s*(?:(?:and|und|y|e)\s+)?|\s+(?:and|und|y|e)\s+", re.IGNORECASE)
SO_ON = regex(r"\b(?:etc|so\s+(?:on|forth|weiter)|usw|as[ií](?:\s+sucesivamente)?)\b|\.\.|…", re.IGNORECASE)
EDGES = " \"'“”„«»‘’"
LEAST, MOST = 2, 12
WORDS = 6
"""That a name may have at most."""


def heard(story: Story) -> Iterator[Deed]:
    """A name for each, or for the one file that is said to be called otherwise."""
    yield from _for_one(story)
    told = TOLD.search(story.text)
    names = [name.strip(EDGES) for name in AND.split(told["names"])] if told else []
    if told is None or not LEAST <= len(names) <= MOST or any(not 0 < len(name.split()) <= WORDS for name in names):
        return
    some = chosen(story, beside=[told.span("names")])
    if some is None or some.times or len(some.files) != len(names) or _a_series(names):
        return
    given = _given(names, some.files)
    deed = together([rename(path, f"{name}{ending(path)}") for path, name in given.items() if name != stem(path)])
    if deed is not None:
        yield deed


def _for_one(story: Story) -> Iterator[Deed]:
    told = SHOULD.match(story.text)
    files = _called(told["what"], story.ground.paths or ()) if told else []
    if told is None or len(files) != 1:
        return
    name = told["name"].strip(EDGES)
    called = any(told[form] is not None for form in ("en", "de", "es")) and not told["name"].casefold().startswith(
        ("in ", "en ")
    )
    if (called or _called(name, files)) and name != stem(files[0]) and len(name.split()) <= WORDS:
        yield rename(files[0], f"{name}{ending(files[0])}")


def _called(said: str, files: Sequence[str]) -> list[str]:
    """The file that is called so, else those that have these words in a row in their names, else all of them."""
    if same := [path for path in files if fold(stem(path)) == fold(said)]:
        return same
    parts = [set(named_by(word, files)) for word in re.findall(r"\w+", said)]
    row = named_by(said, files)
    return row or [path for path in files if parts and all(path in held for held in parts)]


def _a_series(names: Sequence[str]) -> bool:
    """ "Barn 1, barn 2" and "barn-001, 002 etc" are one name with numbers."""
    bare = {re.sub(r"\d+$", "", fold(name)).strip(" -_") for name in names}
    return len(bare) == 1 or any(name[0].isdigit() or SO_ON.search(name) for name in names)


def _given(names: Sequence[str], files: Sequence[str]) -> Mapping[str, str]:
    """Which file gets which name."""
    own = {name: _with_a_word_of(name, files) for name in names}
    sure = {held[0]: name for name, held in own.items() if len(held) == 1}
    rest = [path for path in sorted(files, key=_in_order) if path not in sure]
    left = [name for name in names if name not in sure.values()]
    given = {**sure, **dict(zip(rest, left, strict=True))}
    return {path: given[path] for path in files}


def _with_a_word_of(name: str, files: Sequence[str]) -> list[str]:
    """The files that have a word of the name, which the others lack."""
    held = [named_by(word, files) for word in re.findall(r"[^\W\d_]{3,}", name)]
    telling = [paths for paths in held if 0 < len(paths) < len(files)]
    return [path for path in files if telling and all(path in paths for paths in telling)]


def _in_order(path: str) -> list[tuple[int, str]]:
    """`scan 10` comes after `scan 9`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", fold(path))]
