"""Names that are told by the words around them: titles of several words, series, and parts of names.

"A folder called Last Year", "to Trip 001, Trip 002 and so on", "with birthday in the name".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.clauses import ACTIONS, Name, Named
from libs.models.offline.paths import kind_of
from libs.retrieval.lexicon import listed
from libs.retrieval.words import words

CALLED = re.compile(
    r"\b(?:called|named|titled|entitled|namens|genannt|mit (?:dem )?Namen|die .{1,20} hei(?:ss|ß)t|llamad[ao]s?"
    r"|que se llame|de nombre|con (?:el )?nombre|titulad[ao])\s+",
    re.IGNORECASE,
)
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
    r"(?P<name>(?:(?!(?:and|und|y|to|in|the|den|llamarse|be|called|named|one|namens"
    r"|llamad[ao])\b)[\w()-]+ ){1,4}[\w()-]+\.\w{2,5})\b",
    re.IGNORECASE,
)
SERIES = re.compile(
    r"\b(?:to|as|into|in|zu|als|a|en|como|nach|them)\s+(?P<base>[^\W\d_][^,;\n]{0,60}?)[\s_\-]*0*1\s*(?:,|and|und|y)\s*"
    r"(?P=base)[\s_\-]*0*2(?:\s*(?:,|and|und|y)\s*(?P=base)[\s_\-]*0*3)?"
    r"(?:\s*,?\s*(?:and so on|and so forth|etc\.?|usw\.?|und so weiter|etcétera|y así sucesivamente|\.\.\.|…))?",
    re.IGNORECASE,
)
""" "to Trip 001, Trip 002 and so on": names by number."""
_NAME_OF = r"(?:the\s+|their\s+|its\s+|his\s+|el\s+|su\s+|sus\s+)?(?:file\s?|datei)?(?:names?|namen?|nombres?)\b"
_WORD = r"(?:the\s+(?:word|text)\s+|das\s+wort\s+|la\s+palabra\s+)?(?P<part{n}>[\w-]+(?: [A-ZÄÖÜ][\w-]*){{0,3}})"
HOLDING = re.compile(
    rf"\b(?:with|having|containing|(?:that|which)\s+(?:have|has|contains?|includes?))\s+{_WORD.format(n=1)}\s+"
    rf"(?:somewhere\s+)?in\s+{_NAME_OF}"
    rf"|\b(?:whose|where\s+the)\s+(?:file\s?)?names?\s+(?:contains?|includes?|ha[sv]e?|mentions?)\s+{_WORD.format(n=2)}"
    rf"|\b(?:called|named)\s+(?:something|anything)\s+(?:with|like|containing)\s+{_WORD.format(n=3)}"
    rf"|\bmit\s+{_WORD.format(n=4)}\s+im\s+{_NAME_OF}"
    rf"|\bderen\s+(?:datei)?name\s+{_WORD.format(n=5)}\s+enthält"
    rf"|\b(?:die|welche)\s+{_WORD.format(n=6)}\s+im\s+{_NAME_OF}\s+(?:haben|hat|tragen|enthalten|führen)"
    rf"|\b(?:con|que\s+(?:tengan?|tienen?|contengan?|contienen?|lleven?|llevan?"
    rf"|incluyan?))\s+{_WORD.format(n=7)}\s+en\s+"
    rf"{_NAME_OF}"
    rf"|\bcuyo\s+nombre\s+(?:contenga|contiene|tenga|lleve|incluya)\s+{_WORD.format(n=8)}",
    re.IGNORECASE,
)
""" "With birthday in the name": files by a part of their names."""
REWRITES = re.compile(
    r"replac|swap|substit|chang|renam|ersetz|tausch|benenn|reempla|sustitu|cambi|renombr|\b(?:no|nicht|not|n't"
    r"|ohne)\s+$",
    re.IGNORECASE,
)
UNPARTS = listed("blank date number underscore hyphen upper lower not all same only except type size age")
"""What is said of names and is no part of one: "with blanks in the name"."""


def titles(text: str) -> Iterator[Named]:
    """What stands after "called" in capitals is a name of several words: "a folder called Last Year"."""
    for match in CALLED.finditer(text):
        said = _whole(text, match.end())
        if said and "\0" not in said.group() and (" " in said.group() or not kind_of(said.group())):
            yield _named(said)
    yield from _in_small_letters(text)
    for match in INTO_TITLE.finditer(text):
        said = TITLED.match(text, match.end())
        if said and "\0" not in said.group() and re.search(r"[ -]", said.group()) and not kind_of(said.group()):
            yield _named(said)


SMALL = re.compile(
    r"\b(?:folder|directory|subfolder|ordner|unterordner|carpeta|subcarpeta)\s+(?:called|named|titled|namens"
    r"|genannt|llamada|que se llame|de nombre)\s+"
    r"(?=[^\W\d_])",
    re.IGNORECASE,
)


def _in_small_letters(text: str) -> Iterator[Named]:
    """ "A folder called old stuff": of a folder's name, words that mean something else, or several."""
    for match in SMALL.finditer(text):
        first = re.compile(r"[^\W\d_][\w'-]*(?![\w./])").match(text, match.end())
        if first is None or not first.group()[0].islower() or words(first.group())[0].filler:
            continue
        end = _extended(text, first.end())
        said = re.compile(re.escape(text[match.end() : end])).match(text, match.end())
        if said and (words(first.group())[0].concepts or " " in said.group()):
            yield _named(said)


NEXT = re.compile(r"[ ](?P<word>[\w'-]+)(?=[ ,.;:!?)]|$)")
WITHIN = listed("of the de del la los las der des stuff things my")
"""Little words that stand within a name."""
STOPS = listed("dentro inside already junto please")


def _whole(text: str, at: int) -> re.Match[str] | None:
    """A name that begins with a capital, and the small words that belong to it."""
    said = TITLED.match(text, at)
    if said is None or "." in said.group():
        return said
    end = _extended(text, said.end())
    return re.compile(re.escape(text[at:end])).match(text, at) if end > said.end() else said


def _extended(text: str, end: int) -> int:
    """Where a name ends that may go on after this place."""
    held = end
    while (more := NEXT.match(text, held)) and _goes_on(more["word"]):
        held = more.end()
        end = end if more["word"].casefold() in WITHIN - {"stuff", "things"} else held
    return end


def _goes_on(word: str) -> bool:
    read = words(word)
    if not read or read[0].folded in STOPS or not ACTIONS.isdisjoint(read[0].concepts) or "not" in read[0].concepts:
        return False
    return not read[0].filler or read[0].folded in WITHIN


def _named(said: re.Match[str]) -> Named:
    return Named(kind_of(said.group()) or Name.QUOTE, said.group(), said.start(), said.end())


def series(text: str) -> Iterator[Named]:
    """What files shall be called by number."""
    for match in SERIES.finditer(text):
        yield Named(Name.QUOTE, match["base"], match.start("base"), match.end())


def spaced(text: str) -> Iterator[Named]:
    """The new name of a rename may have blanks: "to final v2.mp3"."""
    for match in SPACED.finditer(text) if RENAMES.search(text) else ():
        if "\0" not in match["name"] and ACTIONS.isdisjoint(words(match["name"])[0].concepts):
            yield Named(Name.PATH, match["name"], match.start("name"), match.end("name"))


def holding(text: str) -> Iterator[Named]:
    """Patterns for parts of names: "with birthday in the name"."""
    for match in HOLDING.finditer(text) if not REWRITES.search(text) else ():
        part = next(group for group in match.groups() if group)
        read = words(part)
        if not read or read[0].filler or {*read[0].concepts} & UNPARTS or REWRITES.search(text[: match.start()]):
            continue
        yield Named(Name.GLOB, f"*{part}*", match.start(), match.end())


APPOSED = re.compile(
    r"\b(?:[Ff]older|[Dd]irectory|[Oo]rdner|ORDNER|[Vv]erzeichnis|[Cc]arpeta|[Ss]ub(?:folder|carpeta)"
    r"|[Uu]nterordner)\s+(?P<name>[A-ZÄÖÜÁÉÍÓÚÑ][\w-]+)"
    r"(?![\w./])"
)


NO_NAMES = ACTIONS | listed("file folder name not except untouched only")


def apposed(text: str) -> Iterator[Named]:
    """ "Ordner Alt": what a capital tells to be the folder's name, though the word means something."""
    for match in APPOSED.finditer(text):
        read = words(match["name"])
        if len(read) == 1 and read[0].concepts and not {*read[0].concepts} & NO_NAMES:
            yield Named(Name.QUOTE, match["name"], match.start("name"), match.end("name"))
