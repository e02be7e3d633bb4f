"""Some of the files that Suma has just named: "without the last one", "only the first three", "not 01 and 02".

A list stands before them, so they tell its files by their place in it, or by words of their names. What is said of
them otherwise ("not the big ones") is left to the reader of whole requests.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from libs.models.offline import corrections
from libs.models.offline.clauses import ACTIONS, Clause, Mood, Reading
from libs.models.offline.ground import Ground, with_words
from libs.models.offline.measures import number_of
from libs.models.offline.places import INTO, places
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold

PART = regex(r"\s*(?:,|&|\b(?:and|or|nor|und|oder|y|ni)\b)\s*")
WORD = regex(r"\w+")
DIGITS = regex(r"\d+")
SMALL = listed(
    "the a one ones file files from of them those these with called named number no nr in is are that which on"
    " der die das den dem eine datei dateien von vom aus davon mit namens nummer denen im"
    " and or nor und oder y ni"
    " el la los las lo archivo archivos fichero ficheros de del con numero que"
)
OF_THEM = listed("them those davon denen ellos ellas")
FIRST = listed("first erste ersten erster erstes primer primero primera primeros primeras")
LAST = listed("last final letzte letzten letzter letztes ultimo ultima ultimos ultimas")
NTH = {
    **dict.fromkeys(listed("second 2nd zweite zweiten zweiter zweites segundo segunda"), 2),
    **dict.fromkeys(listed("third 3rd dritte dritten dritter drittes tercero tercera"), 3),
    **dict.fromkeys(listed("fourth 4th vierte vierten vierter viertes cuarto cuarta"), 4),
    **dict.fromkeys(listed("fifth 5th funfte funften funfter funftes quinto quinta"), 5),
}
ONLY_LAST = regex(r"^(?P<what>.+?)\s+(?:only|nur|s[oó]lo|nada\s+m[aá]s|solamente)$", re.IGNORECASE)
MEANT = regex(
    r"^(?:i\s+(?:only|just)\s+(?:want(?:ed)?|meant?)|ich\s+(?:meine?|meinte|will|wollte)\s+nur|quer[ií]a\s+s[oó]lo)\s+",
    re.I,
)


def left(text: str, named: Sequence[str], *, asked: bool = False) -> tuple[str, ...] | None:
    """Which of the files that were `named` are still meant; None where the text tells none of them from the others.
    Where it was `asked` which, their bare names are an answer.
    """
    said = MEANT.sub("only ", corrections.bare(text))
    spared = corrections.SPARES.match(said) or corrections.STAYS.match(said)
    if spared is not None:
        some = _told(spared["what"], named)
        return None if some is None else tuple(one for one in named if one not in some)
    only = ONLY_LAST.match(said)
    limits = corrections.LIMITS.match(said) is not None or only is not None
    some = _told(only["what"] if only else corrections.LIMITS.sub("", said), named)
    return some if asked or limits or (some is not None and _by_place(said)) else None


def written_out(reading: Reading, named: Sequence[str], ground: Ground) -> str | None:
    """ "Delete the first three", "zip them without the last": the request with the names of those that it tells."""
    acting = [clause for clause in reading.clauses if clause.mood is Mood.DO and clause.acts]
    beside = [clause for clause in reading.clauses if clause not in acting]
    if len(acting) != 1 or len(beside) > 1 or not 0 < len(named) <= MOST or any('"' in path for path in named):
        return None
    start, end = _object(acting[0], ground)
    said = reading.text[start:end].strip(" ,.;!")
    if beside:
        limit = beside[0].items[0].start
        some = left(reading.text[limit : beside[0].items[-1].end], named) if ALL_OF_THEM.match(fold(said)) else None
        text = reading.text[:limit].rstrip(" ,;")
        end = min(end, len(text))
    else:
        some, text = (
            left(said, named, asked=all(word.isdecimal() or word in SMALL for word in WORD.findall(fold(said)))),
            reading.text,
        )
    if not some:
        return None
    names = " ".join(f'"{path}"' for path in some)
    return f"{text[:start].rstrip()} {names} {text[end:].lstrip()}".strip()


ALL_OF_THEM = regex(
    r"^(?:all|everything|them|those|these|all of (?:them|those)|alle|alles|sie|die|diese|tod[oa]s|l[oa]s)?$"
)
MOST = 60


def _object(clause: Clause, ground: Ground) -> tuple[int, int]:
    """Where the clause says what its deed is about: beside the deed, and before the place where that goes."""
    ends = [place.item.start for place in places(clause, ground) if place.target]
    deed = next(item for item in clause.items if isinstance(item, Word) and ACTIONS & {*item.concepts})
    before = [item for item in clause.items if not ends or item.end <= ends[0]]
    led = before[:-1] if ends and before and isinstance(before[-1], Word) and before[-1].folded in INTO else before
    after = [item for item in led if item.start >= deed.end]
    first = [item for item in led if item.end <= deed.start and not (isinstance(item, Word) and item.folded in LEADING)]
    items = after or first
    return (items[0].start, items[-1].end) if items else (deed.end, deed.end)


LEADING = listed("please bitte now jetzt then ok okay and und y ahora can you could kannst du")


def _by_place(said: str) -> bool:
    return not {*WORD.findall(fold(said))}.isdisjoint(FIRST | LAST | NTH.keys())


def _told(what: str, named: Sequence[str]) -> tuple[str, ...] | None:
    """Some of them, and not all, in their order."""
    parts = [_part(WORD.findall(part), named) for part in PART.split(fold(what)) if part.strip()]
    some = {one for part in parts for one in part}
    whole = bool(parts) and all(parts) and len(some) < len(named)
    return tuple(one for one in named if one in some) if whole else None


def _part(words: Sequence[str], named: Sequence[str]) -> Sequence[str]:
    told = [word for word in words if word not in SMALL]
    if len(told) == 1 and number_of(told[0]) is not None and not {*words}.isdisjoint(OF_THEM):
        return ()  # "two of them": any
    if len(told) == 1 and told[0] in NTH:
        return named[NTH[told[0]] - 1 : NTH[told[0]]]
    placed = [word for word in told if word in FIRST | LAST]
    if not placed:
        return _by_words(told, named) if told else ()
    rest = [word for word in told if word not in placed]
    counts = [number_of(word) for word in rest]
    if len(placed) > 1 or len(rest) > 1 or None in counts or (not rest and _many(words)):
        return ()
    count = next((count for count in counts if count), 1)
    return named[:count] if placed[0] in FIRST else named[-count:]


def _by_words(told: Sequence[str], named: Sequence[str]) -> Sequence[str]:
    """Those with all these words in their names; a number is one with or without noughts before it."""
    numbers = {int(word) for word in told if word.isdecimal()}
    some = with_words(named, [word for word in told if not word.isdecimal()])
    return [path for path in some if numbers <= {*map(int, DIGITS.findall(path.rpartition("/")[2]))}]


def _many(words: Sequence[str]) -> bool:
    return any(word in ("ones", "files", "dateien", "archivos", "los", "las") for word in words)
