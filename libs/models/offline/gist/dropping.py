"""A part of names that goes, while the files stay: "we know they are receipts, lose that word".

Names have to be spoken of, or something of them that stays: a word that files are chosen by goes with none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.gist.aiming import chosen, examples, scope, within
from libs.models.offline.gist.deeds import Deed, restyle
from libs.models.offline.gist.rewriting import drop, one_by_one
from libs.models.offline.gist.spelling import Files, Run, alike, parts, runs, stem, very
from libs.models.offline.gist.story import Some, Story
from libs.retrieval.regexes import regex
from libs.skills import date_in

DROPS = regex(
    r"\b(?:remove|take|drop|lose|strip|delete|cut|get\s+(?:rid|shot)|without|leave\s+out|not\s+necessary"
    r"|no\s+need|don['’]?t\s+need|needn['’]?t|just\s+be\s+called|chop|off"
    r"|entfern\w*|lösch\w*|streich\w*|raus\w*|weg\w*|ohne|nimm|nehm\w*|lass\s+weg|brauch\w*\s+(?:nicht"
    r"|kein\w*|da\s+nicht)"
    r"|quit\w+|quít\w+|sac\w+|sác\w+|borr\w+|elimin\w+|sin|no\s+hace\s+falta|sobra\w*|fuera)\b",
    re.IGNORECASE,
)
OF_NAMES = regex(
    r"\b(?:from|off|out\s+of|in)\s+(?:\w+\s+){0,3}?(?:file\s?)?names?\b|\b(?:the|that|this|those)\s+(?:words?"
    r"|bit|part|prefix)\b|\bat\s+the\s+(?:end|front|start|beginning)\b|\bam\s+(?:ende|anfang)\b"
    r"|\bal\s+(?:final|principio)\b|\bnimm\b[^.;!?\n]{0,60}\braus\b|\b(?:off|from)\s+(?:the\s+)?(?:front"
    r"|beginning|start|end|head)\b|\bnames?\s+without\b|\bin\s+(?:every|each|all)\s+(?:\w+\s+)?names?\b"
    r"|\btake\s+(?:it|that|them)\s+(?:out|off)\b|\b(?:aus|von|bei|in|im)\s+(?:den|allen|dem|der"
    r"|jedem)?\s*(?:\w+\s+)?(?:datei)?namen\b|\bdas\s+wort\b|\bvorne?\s+(?:weg|raus)|\bnamen?\s+ohne\b"
    r"|\b(?:del?|de\s+los|a\s+los|al|en\s+el|en\s+los|en\s+cada)\s+(?:\w+\s+)?nombres?\b|\b(?:la|esa|esta"
    r"|dicha)\s+palabra\b|\b(?:qu[ií]ta|s[aá]ca|b[oó]rra)(?:se|le)l?[oae]?s?\b|\bjust\s+be\s+called\b",
    re.IGNORECASE,
)
WITH = regex(
    r"\b(?:with|having|have|has|mit|con|llevan?|tienen?|tengan?|contain\w*|enthalten)\s+[^.;!?\n]{0,30}?(?:in"
    r"|im|en)\s+(?:the\s+|el\s+|their\s+|its\s+)?(?:name|namen|nombre)\b",
    re.IGNORECASE,
)
NEARBY = regex(
    r"(?:\b(?:kein\w*|no\s+longer|isn['’]?t|ya\s+no\s+(?:es|son)|words?|wort|palabras?|texto?|lo\s+de|have|has|haben|hat|tienen|llevan|got|bit|part|that|this"
    r"|ese|esa|los?|remove|take|drop|lose|strip|delete|cut|of|without|entfern\w*|lösch\w*|nimm|ohne"
    r"|streich\w*|quit\w+|quít\w+|sac\w+|sác\w+|borr\w+|elimin\w+|sin)\s+(?:(?:the|that|das|den|die|el|la|al"
    r"|le)\s+)?[\"“„«'‘]?)$",
    re.IGNORECASE,
)
BEHIND = regex(
    r"^[\"”“»'’]?\s*,?\s*(?:-\s*)?(?:(?:and|und|y)\s+the\s+dash\s+)?(?:(?:bit|part)\s+)?(?:(?:on"
    r"|at)\s+the\s+(?:end|front|start|beginning)|am\s+(?:ende|anfang)|al\s+(?:final|principio)|is\s+in|from"
    r"|off|out|raus|weg|aus|von|de\s+los\s+nombres|del?\s+nombre|al\s+nombre|de\s+todos|en\s+el\s+nombre"
    r"|in\s+every)\b",
    re.IGNORECASE,
)
STAYS = regex(
    r"\b(?:just|only|so(?:\s+that)?|stays?|keep|leav\w+|bleib\w*|nur|damit|also|que\s+(?:se\s+)?quede\w*"
    r"|quede\w*|deja\w*|solo|sólo|para\s+que|such\s+as|like|por\s+ejemplo|zb|with|mit|con|in|im"
    r"|en)\s+(?:\w+\s+){0,3}?$",
    re.IGNORECASE,
)


_THE = (
    r"(?:(?:the|that|this|all|every|my|our|das|den|dem|der|die|dieses?|allen|meinen|unseren"
    r"|el|la|los|las|ese|esa|mis|tod[oa]s)\s+)"
)
_OUT = r"(?:off|out\s+of|aus|bei|von|a)"
TAKEN = regex(
    r"(?<!\w)(?:take|get|strip|chop|knock|cut|drop|lose|remove|delete|clear|want|nimm|nehm\w*|mach\w*|streich\w*|lösch\w*|entfern\w*|tu"
    r"|qu[ií]t\w*|s[aá]c\w*|b[oó]rr\w*|elimin\w*|s[aá]cal\w*)\s+(?:(?:rid|shot)\s+of\s+|bitte\s+|mal\s+|please\s+)*"
    rf"{_THE}?(?:(?!\d)\w+\s+){{0,2}}?(?:(?:words?|bit|w[oö]rt|palabra)\s+)?[\"“„«'‘]?$",
    re.IGNORECASE,
)
OFF_FILES = regex(
    rf"[\"”“»'’]?\s+(?:(?:word|bit|part|thing|ding|zeugs|cosa|parte)\s+)?(?:(?:gone|away|weg|raus|fuera)\s+)?(?:{_OUT}|(?P<of>from|in|on|de|en|del|al))\s+{_THE}*(?P<files>\w+)"
    r"(?!\s+(?:folder|ordner|directory|carpeta))",
    re.IGNORECASE,
)


def off_files(story: Story) -> tuple[Run, Files] | None:
    """ "Take that silly FINAL off the invoices": what all of these have in their names is no file."""
    for run in runs(story, story.ground.paths or (), very):
        led = OFF_FILES.match(story.text, run.end)
        if led is None or run.whole or TAKEN.search(story.text[: run.start]) is None:
            continue
        named = next((word for word in story.words if word.start == led.start("files")), None)
        there = story.having(named, story.ground.paths or ()) if named is not None else []
        held = [path for path in there if path in run.held]
        if len(held) >= MANY and (led["of"] is None or len(held) == len(there)):
            return run, held
    return None


MANY = 2
""" "The contract" of several is a file; what two of them have is a part of their names."""


def heard(story: Story) -> Iterator[Deed]:
    """A part of names goes."""
    yield from only_dates(story)
    if (told := off_files(story)) is not None and (deed := drop(*told)) is not None:
        yield deed
    text = story.text
    chooses = WITH.search(text) or SOME.search(text) or FORBIDDEN.search(text)
    if not (DROPS.search(text) and OF_NAMES.search(text)) or (chooses and not STRONG.search(text)):
        return
    if DATES.search(text):
        yield from _undated(story)
    out = examples(story)
    found = [run for run in runs(story, story.ground.paths or (), alike) if not within((run.start, run.end), out)]
    most = max((len(run.held) for run in found), default=0)
    weights = {run.start: _weight(text, run) + (len(run.held) == most) for run in found}
    for run in sorted((run for run in found if weights[run.start] > 1), key=lambda run: -weights[run.start]):
        if (deed := drop(run, scope(story, run.files, beside=[(run.start, run.end)]))) is not None:
            yield deed


ONLY_DATE = regex(
    r"(?<!\w)(?:(?:only|just|nothing\s+but)\s+(?:keep\s+|leave\s+)?the\s+date|(?:keep|leave)\s+(?:only|just)\s+the\s+date"
    r"|nur\s+(?:noch\s+)?(?:das|mit\s+dem)\s+datum|s[oó]lo\s+(?:con\s+)?la\s+fecha)(?!\w)",
    re.IGNORECASE,
)
DAY = regex(r"(?<!\d)(?:19|20)\d\d[-_. ]?(?:0[1-9]|1[0-2])[-_. ]?(?:0[1-9]|[12]\d|3[01])(?!\d)")


def only_dates(story: Story) -> Iterator[Deed]:
    """ "The WhatsApp photos should only keep the date": of each name the day that is in it, where no two are alike."""
    found = ONLY_DATE.search(story.text)
    some = chosen(story, beside=[found.span()]) if found is not None else None
    days = {path: day.group() for path in (some.files if some else ()) if (day := DAY.search(stem(path))) is not None}
    if days and len({*days.values()}) == len(days):
        told = one_by_one([*days], lambda name: next(iter(DAY.findall(name)), name))
        yield from (told,) if told is not None else ()


SOME = regex(
    r"\b(?:ones|files|photos|pictures|those|everything|dateien|bilder|fotos|alles|los|las|todo)\s*,?\s+"
    r"(?:that|which|with|ending|mit|die|was|que|con|terminad[oa]s)\b",
    re.IGNORECASE,
)
DATES = regex(
    r"\b(?:remove|take|drop|lose|strip|cut|get\s+rid\s+of|without|entfern\w*|nimm|ohne|quit\w+|quít\w+|sac\w+|sin)\s+"
    r"(?:(?:the|all|that|das|die|den|el|la|los|las)\s+)*(?:years?|dates?|jahr(?:eszahl)?(?:en)?|datum|año|fechas?)\b",
    re.IGNORECASE,
)


def _undated(story: Story) -> Iterator[Deed]:
    some = chosen(story)
    files = tuple(path for path in some.files if date_in(stem(path))) if some else ()
    if files:
        yield restyle(Some(files), written="out")


FORBIDDEN = regex(
    r"(?<!\w)(?:do\s?n['’]?t|do\s+not|never|nicht|no)\s+(?:\w+\s+)?(?:delete|remove|drop|lösch\w*|entfern\w*|borr\w+|quit\w+|elimin\w+)\b",
    re.IGNORECASE,
)
STRONG = regex(
    r"\b(?:qu[ií]ta|s[aá]ca|b[oó]rra)(?:se|le)l?[oae]?s?\b|\btake\s+(?:it|that|the)(?:\s+(?:word|bit|part))?\s+(?:out|off)\b|\bnimm\s+das",
    re.IGNORECASE,
)


THAT_WORD = regex(
    r"\b(?:that|this|the\s+same)\s+(?:word|bit|part)\b|\bdieses?\s+(?:wort|teil)\b|\b(?:esa|esta"
    r"|dicha)\s+(?:palabra|parte)\b",
    re.IGNORECASE,
)


def _weight(text: str, run: Run) -> int:
    """How surely it is this that goes."""
    head, tail = text[: run.start], text[run.end :]
    weight = (
        2 * bool(NEARBY.search(head)) + 2 * bool(BEHIND.match(tail)) + (len(parts(run.text)) > 1) + run.text.isupper()
    )
    often = len(re.findall(re.escape(run.text), text, re.IGNORECASE)) > 1
    weight += often + (THAT_WORD.search(text) is not None)
    return weight - 2 * bool(STAYS.search(head)) if not NEARBY.search(head) else weight
