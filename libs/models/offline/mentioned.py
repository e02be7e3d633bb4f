"""What Suma itself has named: "those 4 files", "delete them", "the other 8".

A list that was shown, or a change that was proposed, is what a person points at next. They get exactly these files, by
name, however they were chosen; a count that is not theirs is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from libs.events.committee import Exchange
from libs.models.offline.clauses import KINDS, Clause, Item, Measure, Mood, Named, Reading
from libs.models.offline.measures import number_of
from libs.models.offline.numerals import ARTICLES as COUNTLESS
from libs.models.offline.places import INTO
from libs.models.offline.pronouns import PRONOUNS
from libs.retrieval.lexicon import listed
from libs.retrieval.likeness import alike, terms
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, extension_of

Span = tuple[int, int]
POINTING = listed("those these them diese diesen dieselben esos esas estos estas ellos ellas")
ARTICLES = listed("the all die alle los las todos todas")
"""These point only with the number of what was shown: "the 4 files", "las 3"."""
SINGLE = listed("it es eso sie")
NOUNS = listed("file folder duplicate copy")
ONES = listed("ones one items things hits")
MOST = 60
"""Files that a request can name; of more it must say by words which are meant."""
_SHOW = (
    r"(?:(?:please|pls|and|now|ok|okay|yes|can\s+you|could\s+you|bitte|und|jetzt|mal|ja|por\s+favor|y|ahora|s[ií])\W+)*"
    r"(?:(?:show|list|give|tell|name|see|print|zeige?|liste?|nenne?|gib|sag|sehen|mu[eé]str\w*|ense[ñn]a\w*|dame|dime|lista\w*|ver)\W+)?"
    r"(?:(?:me|us|mir|uns)\s+)?"
)
_REST = (
    r"(?:the\s+|die\s+|den\s+|los\s+|las\s+|el\s+)?(?:rest|others?|more|other|remaining|missing|anderen?|übrigen?|restlichen?|weiteren?|mehr"
    r"|dem[aá]s|otr[oa]s|resto|m[aá]s|que\s+faltan)(?:\s+\d+)?"
)
_ALL = (
    r"(?:(?:all|alle|todos|todas)(?:\s+(?:of\s+them|los|las))?(?:\s+(?P<all>\d+))?"
    r"|(?:the|die|los|las)\s+(?P<these>\d+))"
)
_TAIL = (
    r"(?:\W+(?:please|too|bitte|auch|noch|por\s+favor|tambi[eé]n|with|by|mit|con|the|their|names?|namen|(?:sus\s+)?nombres|of|the|them|it|list|liste"
    r"|lista|davon|de|la|files?|ones?|dateien|archivos|ficheros|an))*\W*"
)
REST = regex(rf"\W*{_SHOW}{_REST}{_TAIL}", re.IGNORECASE)
ALL = regex(rf"\W*{_SHOW}{_ALL}{_TAIL}", re.IGNORECASE)


AGREED = regex(
    r"^\W*(?:(?:yes|yeah|ja|s[ií]|ok|okay|vale)\W+)?(?:(?:exactly|precisely|genau|exactamente|justo)\s+)?"
    r"(?:(?:those|these|them)(?:\s+are\s+the\s+(?:right\s+)?ones)?|diese|die|das\s+sind\s+(?:sie|die)|(?:son\s+)?(?:esos|esas|estos|estas))\s*[.!,;:–-]+\s*(?=\w+\s+\w)",
    re.IGNORECASE,
)
""" "Yes, exactly those. Please delete them": what comes after it says what shall be done."""


def last(history: Sequence[Exchange]) -> Exchange | None:
    """The turn that has named files last."""
    return next((each for each in reversed(history) if each.shown), None)


def continued(text: str, history: Sequence[Exchange]) -> tuple[str, ...]:
    """What a person wants to see of the last list: the rest, or all of it; nothing where that is no such wish."""
    named = last(history)
    if named is None:
        return ()
    if REST.fullmatch(text) is not None:
        return named.shown[_told(named) :] or named.shown
    found = ALL.fullmatch(text)
    count = (found["all"] or found["these"]) if found else None
    return named.shown if found and (count is None or int(count) == len(named.shown)) else ()


def _told(named: Exchange) -> int:
    """How many of the first stand in the answer."""
    said = (re.search(rf"(?<![\w/.]){re.escape(path)}(?![\w/])", named.answer) for path in named.shown)
    return next((n for n, found in enumerate(said) if found is None), len(named.shown))


def by_name(reading: Reading, shown: Sequence[str]) -> str | None:
    """The request with the names of these files in the place of what points at them."""
    clause = next((one for one in reading.clauses if one.mood is Mood.DO and one.acts), None)
    span = pointing(clause, shown) if clause is not None and 0 < len(shown) <= MOST else None
    if span is None or any('"' in path for path in shown):
        return None
    text, (start, end) = reading.text, span
    joined = start > 0 and not text[start - 1].isspace()  # "muévelas", which only Spanish says
    names = f"{quoted(shown[:-1])} y {quoted(shown[-1:])}" if joined and len(shown) > 1 else quoted(shown)
    return f"{text[:start]}{' ' if joined else ''}{names}{text[end:]}"


_ONES = r"(?:ones?|files?|cop(?:y|ies)|photos?|pictures?|images?)"
SURPLUS = regex(
    rf"\b(?:the\s+)?(?:extra|surplus|spare|redundant|superfluous)\s+(?P<en>{_ONES})\b|\bthe\s+(?P<copy>cop(?:y|ies)|duplicates?|dupes?|doubles?)(?:\s+{_ONES})?\b"
    r"|\b(?:die|das|den)\s+(?P<de>(?:überflüssige|überzählige|doppelte)[ns]?|Kopien?|Duplikate?|Dubletten?)(?:\s+(?:Kopien?|Datei(?:en)?|Fotos?|Bild(?:er)?))?\b"
    r"|\b(?:la|las|el|los)\s+(?P<es>copias?|duplicad[oa]s?|repetid[oa]s?|sobrantes?|que\s+sobran?)\b",
    re.IGNORECASE,
)
""" "The copies", "die doppelten", "las que sobran": of files that are there more than once, those that could go."""
SEVERAL = regex(r"(?:ies|s|n)$", re.IGNORECASE)


def surplus(text: str, shown: Sequence[str]) -> str | None:
    """The request with the names of the copies that were found in the place of what means them; one is one."""
    found = SURPLUS.search(text)
    if found is None or not 0 < len(shown) <= MOST or any('"' in path for path in shown):
        return None
    said = next(filter(None, found.groups()))
    one = len(shown) == 1
    return f"{text[: found.start()]}{quoted(shown)}{text[found.end() :]}" if one or SEVERAL.search(said) else None


def pointing(clause: Clause, shown: Sequence[str]) -> Span | None:
    """Where the clause points at these files."""
    for at, item in enumerate(clause.items):
        if not isinstance(item, Word) or (at and _leads_into(clause.items[at - 1])):
            continue
        after = list(clause.items[at + 1 : at + 3])
        first = after[0] if after and isinstance(after[0], Word) else None
        number = number_of(first.folded) if first and first.folded not in COUNTLESS else None  # "a Docs"
        told = after[:1] if number is not None and not isinstance(after[0], Measure) else []
        noun = after[len(told) : len(told) + 1]
        named = [one for one in noun if (isinstance(one, Word) and _noun(one)) or (told and in_each(one, shown))]
        others = any(isinstance(one, Named) for one in noun) if told else any(map(_chooses, noun))
        joined = at > 0 and clause.items[at - 1].end == item.start  # "bórralos"
        if _points(item, number, len(shown), joined=joined) and (named or not others):
            return item.start, (named or told or [item])[-1].end
    return None


def in_each(noun: Item, shown: Sequence[str]) -> bool:
    """ "Invoices", of files that are all called so, or lie in a folder that is."""
    said = terms(noun.text)
    return bool(said) and all(alike(term, dict.fromkeys(terms(path))) for term in said for path in shown)


def quoted(paths: Sequence[str]) -> str:
    return " ".join(f'"{path}"' for path in paths)


def _points(item: Word, number: float | None, count: int, *, joined: bool) -> bool:
    if number is not None:
        return number == count and item.folded in POINTING | ARTICLES
    alone = item.folded in SINGLE if count == 1 else item.text == "sie"  # the polite "Sie" is who is asked
    return item.folded in POINTING or alone or (joined and item.folded in PRONOUNS)


def _leads_into(item: Item) -> bool:
    return isinstance(item, Word) and item.folded in INTO


def _noun(word: Word) -> bool:
    return word.folded in ONES or (bool(word.concepts) and {*word.concepts} <= NOUNS)


def _chooses(item: Item) -> bool:
    if isinstance(item, Named | Measure):
        return True
    said = not item.filler  # "a" leads to an end, and is an ending as well
    return item.unknown or (said and bool({*KINDS} & {*item.concepts} or extension_of(item.folded)))
