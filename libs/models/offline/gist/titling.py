"""A name that is said whole: "call it Harker war record", "make it Luna before and Luna after".

A name that is there already but for its capitals or its signs needs no more than to be said; else a word leads to it,
and the story has to tell of one file only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from libs.models.offline.gist.aiming import chosen, examples, within
from libs.models.offline.gist.deeds import Deed, rename
from libs.models.offline.gist.rewriting import together
from libs.models.offline.gist.spelling import (
    AFTER,
    BEFORE,
    LITTLE,
    Run,
    alike,
    backwards,
    ending,
    onwards,
    parts,
    runs,
    stem,
)
from libs.models.offline.gist.story import Span, Story
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold

_PLEASE = r"(?:\s+(?:please|just|simply|then|entonces|bitte|einfach|dann|mal|doch|jetzt|now|por\s+favor))*"
LED = regex(
    r"\b(?:(?:call|name|title|label)\s+(?:it|this|that|that\s+one|him|her)|(?:be|is|was|get|properly"
    r"|them)\s+(?:re)?(?:called|named|titled)"
    r"|rename\s+(?:it|this|that|that\s+one)(?:\s+(?:to|as|into))?|(?:make|change)\s+(?:it|this"
    r"|that)(?:\s+one)?(?:\s+(?:to|into|be))?"
    r"|(?:the|a)\s+(?:new\s+)?(?:file\s?)?name(?:\s+(?:of|is|should\s+be|shall\s+be|be))?|(?:needs|has|have"
    r"|ought|is)\s+to\s+(?:be\s+called|be|read|say)"
    r"|should\s+(?:\w+\s+)?(?:be|read|say)(?:\s+called)?"
    r"|(?:be)?nenn\w*\s+(?:Sie\s+)?(?:es|sie|ihn|das|die|den)(?:\s+um\s+in)?|hei(?:ß|ss)t\s+(?:richtig|eigentlich|jetzt"
    r"|nun)|(?:soll|muss|sollte)(?:\s+das)?|den\s+namen|umbenennen\s+in"
    r"|(?:ponle|pónle|ponele|ponme|poner(?:le)?|póngale|pongale)(?:\s+(?:de\s+nombre|el\s+nombre(?:\s+de)?"
    r"|como\s+nombre))?|ll[aá]m[ae]l[oa]|se\s+llame|llamarse|que\s+se\s+llame"
    r"|(?:el\s+)?(?:nuevo\s+)?nombre(?:\s+(?:de|nuevo|es|sea))?|renómbral[oa]\s+(?:a|como)|ponl[oa]\s+\w+)"
    rf"{_PLEASE}\s*:?\s+",
    re.IGNORECASE,
)
VERB_LAST = regex(r"\s+(?:hei(?:ß|ss)en|nennen|umbenennen|genannt\s+werden)\b", re.IGNORECASE)
NAMING = regex(
    r"\bnam(?:e|es|ed|ing)\b|\brenam|\bcall|\btitle|\blabel|\bletters|\bspel|\bmake\s+(?:it|that|them)"
    r"|\bwr(?:ite|ote|itten)|namen?\b|benenn|\bnenn"
    r"|\bhei(?:ß|ss)|schreib|nombr|\bllam|\bponl|\bponel|escrit|escrib|may[uú]scul|min[uú]scul",
    re.IGNORECASE,
)
NEAR = 0.45
LEAST = 2


def heard(story: Story) -> Iterator[Deed]:
    """One file gets a name, or several get one each."""
    if NAMING.search(story.text) is None:
        return
    yield from (deed for span in _led(story) if (deed := _one(story, span)) is not None)


def spelled_anew(story: Story) -> Deed | None:
    """Names that are there but for capitals and signs, in the way they shall be written."""
    told: dict[str, str] = {}
    for run in runs(story, story.ground.paths or (), alike):
        for path in run.whole:
            if len(run.whole) == 1 and run.text != stem(path) and _rewritten(run.text, stem(path)):
                told[path] = run.text
    meant = any(form.search(story.text) for form in (WRITTEN, CALLED)) or all(stem(path) in story.text for path in told)
    return together([rename(path, f"{new}{ending(path)}") for path, new in told.items()]) if meant else None


CALLED = regex(r"\b(?:they|that|it|both)\s+(?:are|is|be)\s+called\b|\bhei(?:ß|ss)en\b|\bse\s+llamen?\b", re.IGNORECASE)
WRITTEN = regex(
    r"\b(?:letters?|capitals?|caps|scream\w*|shout\w*|properly|nice\w*|pretty|lines?|underscores?|dashes"
    r"|spaces?|spel\w*|typed|buchstaben|klein\w*|gro(?:ß|ss)\w*|schön|ordentlich|hübsch"
    r"|unterstrich\w*|striche?|leerzeichen|min[uú]scul\w*|may[uú]scul\w*|bonito|bien|rayitas?|guion\w*"
    r"|espacios?|gritos?)\b",
    re.IGNORECASE,
)


def _rewritten(said: str, real: str) -> bool:
    """Is it carefully written, and not just typed in small letters?"""
    many = len(parts(said)) >= LEAST
    return (many and any(letter.isupper() for letter in said) and fold(said) != fold(real)) or (
        many and said[:1].isupper()
    )


def _led(story: Story) -> Iterator[Span]:
    """Where new names may stand, the last first: who comes to the point does so at the end."""
    text = story.text
    found = [span for led in LED.finditer(text) for span in (onwards(text, led.end()), *_longer(story, led.end()))]
    found += [backwards(text, led.start()) for led in VERB_LAST.finditer(text)]
    yield from (span for span in sorted(found, reverse=True) if _a_name(text[slice(*span)]))
    yield from _said_twice(story)


def _longer(story: Story, start: int) -> Iterator[Span]:
    """ "Oso en la colmena": to the end of the sentence, where no folder is named in it."""
    first, last = onwards(story.text, start, stops=AFTER - WITHIN)
    closes = re.compile(r"\s*(?:[.,;:!?)]|$)").match(story.text, last)
    named = any(first <= word.start < last for _, naming in story.places for word in naming)
    if closes and not named and len(story.text[first:last].split()) <= MOST_WORDS:
        yield first, last


WITHIN = listed("in im en on at and und y from por para")
MOST_WORDS = 6


def _a_name(said: str) -> bool:
    told = parts(said)
    return bool(told) and not all(fold(part.text) in LITTLE | BEFORE for part in told) and len(said) > 1


def _said_twice(story: Story) -> Iterator[Span]:
    """ "That is my D4 medical, call it that, D4 medical": words that are told and then said again."""
    found = re.search(
        r"\b(?P<name>[^\W_]\w*(?: [^\W_]\w*)+)\b(?=.*\b(?P<again>(?P=name))(?=\W*$))", story.text, re.DOTALL
    )
    if found is not None and _a_name(found["name"]):
        yield found.span("again")


def _one(story: Story, span: Span) -> Deed | None:
    """The one file that the story tells of gets this name."""
    new = re.sub(r"\.\w{2,4}$", "", story.text[slice(*span)])
    path = _only(story, span, new)
    return rename(path, f"{new}{ending(path)}") if path and stem(path) != new else None


def _only(story: Story, span: Span, new: str) -> str | None:
    """The file that is named whole, or the only one that the words choose, or of those the nearest in name."""
    found = runs(story, story.ground.paths or (), alike)
    out = [span, *examples(story)]
    apart = [run for run in found if not within((run.start, run.end), out)]
    whole = list(dict.fromkeys(path for run in apart for path in run.whole if _told(run, path)))
    if len(whole) == 1:
        return whole[0]
    some = chosen(story, beside=[span])
    if some is None:
        return None
    near = [path for path in some.files if _near(stem(path), new) >= NEAR]
    several = SEVERAL.search(story.text) is not None
    if len(some.files) == 1:
        return some.files[0]
    return near[0] if len(near) == 1 and not several else None


SEVERAL = regex(
    r"\b(?:ones|them|those|these|all|alle|die\s+dateien|los|las|tod[oa]s|sie\s+sollen)\b",
    re.IGNORECASE,
)


def _told(run: Run, path: str) -> bool:
    """A name of one short word may be any word of the story."""
    return len(parts(stem(path))) >= LEAST or any(letter.isdigit() for letter in run.text)


def _near(old: str, new: str) -> float:
    return SequenceMatcher(None, fold(old), fold(new)).ratio()
