"""What is put in front of names or behind them: a word, a year, the date of the file.

"Ponele monotributo adelante, tipo monotributo pago agosto": an example of the new name says best what is put there;
else it is what stands beside the word for the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.gist.aiming import chosen
from libs.models.offline.gist.deeds import Deed, restyle
from libs.models.offline.gist.spelling import (
    BEFORE,
    LITTLE,
    Files,
    Run,
    alike,
    backwards,
    onwards,
    parts,
    runs,
    standing,
    stem,
)
from libs.models.offline.gist.story import Some, Span, Story
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold, words
from libs.skills import date_in

_NAMES = r"(?:the\s+|its\s+|their\s+|each\s+|every\s+|all\s+|of\s+|old\s+|file\s?)*names?"
FRONT = regex(
    rf"\b(?:in\s+front|(?:at|to)\s+the\s+(?:very\s+)?(?:front|start|beginning|head)|before\s+{_NAMES}"
    rf"|before\s+(?:it|them|each|every)\b(?!\s+\w+)|prefix\w*"
    r"|(?:schreib|setz|stell|h[aä]ng)\w*\s+(?:\w+\s+){0,3}?vor\s+(?:den|die|jede\w*|alle)\s+\w+"
    r"|vorne?\s?(?:dran|hin)?|davor|voran\w*|am\s+anfang|an\s+den\s+anfang|vor\s+(?:den|die|jede\w*"
    r"|alle)\s+(?:\w+\s+)?(?:datei)?namen?"
    r"|a?delante|al\s+(?:principio|inicio|comienzo)(?:\s+del?\b|\s+en\b|\s*(?:[,.;!?]|$))|antepon\w*"
    r"|(?:empiec|comienc)en?\s+(?:por|con))\b"
    r"|\b(?:so|should|shall|must|to|damit|sollen?|muss|müssen)\b[^.;!?\n]{0,40}?\s(?P<begin>(?:begin"
    r"|start)s?\s+with|anfangen|beginnen)\b",
    re.IGNORECASE,
)
BEHIND = regex(
    rf"\b(?:at\s+the\s+(?:very\s+)?(?:end|back)(?!\s+of\s+(?:the\s+)?(?:month|year|week|day|season|summer))"
    rf"|(?:to|on|onto)\s+the\s+(?:end|back)|after\s+{_NAMES}|behind\s+(?:it|them|{_NAMES})|hinter\s+(?:den"
    rf"|die|jede\w*|alle)\s+\w+|suffix\w*|append\w*"
    r"|hinten\s?(?:dran|ran|an)?|dahinter|hintendran|anhäng\w*|am\s+ende|ans\s+ende|hinter\s+(?:den|die"
    r"|jede\w*|alle)\s+(?:\w+\s+)?(?:datei)?namen?|nach\s+dem\s+(?:\w+\s+)?namen?"
    r"|atr[aá]s|detr[aá]s|al\s+final(?:\s+del?\s+(?:\w+\s+)?nombres?|\s+de\s+(?:los|cada)|\s*(?:[,.;!?]|$))"
    r"|terminen\s+(?:en|con))",
    re.IGNORECASE,
)
EXAMPLE = regex(
    r"(?:\b(?:like|such\s+as|e\.?g\.?|for\s+(?:example|instance)|as\s+in|so|i\.?e\.?|also|wie|etwa|zb"
    r"|z\.\s?b\.|zum\s+beispiel|beispielsweise|bspw\.?|tipo|ej\.?|p\.?\s?ej\.?|por\s+ejemplo|como"
    r"|o\s+sea|as[ií](?:\s+quede?n?)?|quede?n?|llamarse|becomes?|be|says?|hei(?:ß|ss)t|llamen?)[,:]?\s+)$",
    re.IGNORECASE,
)
DATE = regex(r"\b(?:dates?|day|days|datum|datums|tag|fechas?|d[ií]a)\b", re.IGNORECASE)
NO_TEXT = listed(
    "date day datum tag fecha dia name names namen nombre nombres leerzeichen space blank espacio number "
    "nummer numero"
    " something etwas algo front beginning end new old alten rest remaining each one"
    " zero zeros zeroes nought noughts null nullen cero ceros initialen initials iniciales year jahr ano month monat"
    " mes"
)
VERBS = regex(
    r"\b(?:put|add|write|stick|have|has|have\s+the\s+(?:word|name)|give\s+them|prepend|append|pon\w*|p[oó]n"
    r"|agreg\w*|añad\w*|anad\w*|met\w+|escrib\w*|h[aä]ng\w*|setz\w*|schreib\w*|stell\w*|mach\w*|pack\w*"
    r"|pap\w+|füg\w*)\s+(?:(?:the\s+words?|la\s+palabra|das\s+wort|bitte|please|me|les|mal|noch|a\s+tod[oa]s"
    r"|überall|da)\s+)*",
    re.IGNORECASE,
)
HINTS = regex(
    r"^(?:(?:\s+\S+){0,3}?\s+\S*(?:namen?|names?|nombres?))?(?:\s+(?:an|at|den|the|namen?|names?|of|ein|eine"
    r"|leerzeichen|und|and|a|space|noch|immer|überall|jeweils|each|it|del|nombre|un|espacio|y|el|la|palabra"
    r"|word))*\s+",
    re.IGNORECASE,
)


def spoken(story: Story) -> bool:
    """Is a place in names told, and nothing that is done to files beside?"""
    deeds = story.says("remove", "move", "copy", "pack", "find", "list", "clean")
    return not deeds and (FRONT.search(story.text) or BEHIND.search(story.text)) is not None


def heard(story: Story) -> Iterator[Deed]:
    """Something more stands before names, or after them."""
    front, behind = FRONT.search(story.text), BEHIND.search(story.text)
    if front and (by := _by_month(story.text)):
        yield from _of_change(story, by)
        return
    if DATE.search(story.text) and (front or behind):
        yield from _dated(story, last=front is None)
        return
    yield from _each_named(story)
    for run, span, role in sorted(_examples(story), key=lambda one: -len(one[0].text)):
        if (role == "prefix" and (front or not behind)) or (role == "suffix" and behind):
            yield from _put(story, role, story.text[slice(*span)], beside=[span, (run.start, run.end)], like=run)
    for found, role in ((front, "prefix"), (behind, "suffix")):
        for span in _beside(story.text, found) if found else ():
            yield from _put(story, role, story.text[slice(*span)], beside=[span])


MONTH = regex(
    r"\byear\s+and\s+(?:the\s+)?month|\bmonth\s+and\s+(?:the\s+)?year|\bjahr\s+und\s+(?:den\s+)?monat|\bmonat\s+und\s+(?:das\s+)?jahr"
    r"|\ba[nñ]o\s+y\s+(?:el\s+)?mes|\bmes\s+y\s+(?:el\s+)?a[nñ]o|\b(?:the|den|el)\s+(?:month|monat|mes)\b",
    re.IGNORECASE,
)


def _by_month(text: str) -> str | None:
    """Is it the month that stands there, "like 2026-03"?"""
    sample = re.search(r"(?<![\d-])(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?![\d-])", text)
    return "month" if MONTH.search(text) and (sample or DATE.search(text) is None) else None


def _of_change(story: Story, by: str) -> Iterator[Deed]:
    samples = [found.span() for found in re.finditer(r"(?<![\d-])\d{4}-\d\d(?![\d-])", story.text)]
    some = chosen(story, beside=[*samples, *((one.start, one.end) for one in story.times)])
    bare = tuple(path for path in some.files if date_in(stem(path)) is None) if some else ()
    if bare:
        yield restyle(Some(bare), dated=by)


def _dated(story: Story, *, last: bool) -> Iterator[Deed]:
    """The day that stands in the names, where it does; else that of the file."""
    samples = [(one.start, one.end) for one in story.times]
    samples += [found.span() for found in re.finditer(r"\b\d{2,4}-\d\d-\d\d(?:[ _-]+\w+)?", story.text)]
    some = chosen(story, beside=samples)
    if some is None:
        return
    written = [path for path in some.files if date_in(stem(path))]
    if not last and (turned := _turned(some.files)) is not None:
        yield turned
        return
    if last or 2 * len(written) > len(some.files) or MOVES.search(story.text):
        yield restyle(Some(tuple(written)), written="last" if last else "first")
    else:
        yield restyle(Some(some.files), dated=True)


def _turned(files: Files) -> Deed | None:
    """Days that are written 12.03.2026 stand in front the other way round, or nothing would be in order."""
    days = [path for path in files if DAY_FIRST.search(stem(path))]
    signs = {found[1] for path in days for found in DAY_FIRST.finditer(stem(path))}
    if 2 * len(days) <= len(files) or len(signs) != 1:
        return None
    (sign,) = signs
    shape = sign.join(("{text} {day}", "{month}", "{year}"))
    return restyle(Some(tuple(days)), shape=shape, becomes="{year}-{month}-{day} {text}")


DAY_FIRST = regex(r"(?<=[^\W\d_] )\d{1,2}([.-])\d{1,2}[.-](?:19|20)\d\d$")
MOVES = regex(r"\b(?:move|shift|verschieb\w*|mueve|pasa)\b", re.IGNORECASE)


def _examples(story: Story) -> Iterator[tuple[Run, Span, str]]:
    """A name that is there, or how one begins or ends, with something new before it or after it."""
    text = story.text
    for run in runs(story, story.ground.paths or (), alike):
        shown = EXAMPLE.search(text[: run.start])
        before, after = backwards(text, run.start), onwards(text, run.end)
        many = FRONT.search(text) and len(parts(run.text)) > 1
        if _begins(run) and _adjoins(text, before, run.start) and (many or EXAMPLE.search(text[: before[0]])):
            yield run, before, "prefix"
        if shown and _ends(run) and _adjoins(text, (run.end, after[0]), after[0]) and after[0] < after[1]:
            yield run, after, "suffix"


def _begins(run: Run) -> bool:
    return any(start == 0 for start, _ in run.held.values())


def _ends(run: Run) -> bool:
    return any(end == len(stem(path)) for path, (_, end) in run.held.items())


def _adjoins(text: str, span: Span, end: int) -> bool:
    """Is there something, and nothing but blanks and signs between it and this place?"""
    return span[0] < span[1] and text[end - 1].isspace() and not text[span[1] : end].strip(" -_")


def _each_named(story: Story) -> Iterator[Deed]:
    """Several names that are there, each with the same text before it: "to be called tax May, tax June"."""
    told: dict[str, list[str]] = {}
    for run in runs(story, story.ground.paths or (), alike):
        start, end = backwards(story.text, run.start)
        if len(run.whole) == 1 and start < end and end + 1 == run.start:
            told.setdefault(story.text[start:end], []).append(run.whole[0])
    for said, files in told.items():
        if len(files) > 1 and _a_text(said) and not any(fold(stem(path)).startswith(fold(said)) for path in files):
            yield restyle(Some(tuple(files)), prefix=f"{said}{_sign(files)}")


def _beside(text: str, place: re.Match[str]) -> Iterator[Span]:
    """Where the text may stand that is put there: behind a verb, or beside the word for the place."""
    yield from (found.span("text") for found in BETWEEN.finditer(text))
    for verb in VERBS.finditer(text):
        start, end = onwards(text, verb.end())
        cut = [found.start() for form in (FRONT, BEHIND) for found in form.finditer(text, start, end)]
        yield _clean(text, start, min([end, *cut]))
    if re.search(r"(?:with|por|con|en)$", place.group(), re.IGNORECASE):
        yield onwards(text, place.end())
    begin = place.start("begin") if place.re.pattern == FRONT.pattern and place["begin"] else place.start()
    start, end = backwards(text, begin)
    if AT_ONCE.fullmatch(text, end, begin):
        yield _clean(text, start, end)
    if (led := HINTS.match(text[place.end() :])) is not None and OF_FILES.match(text, place.end()) is None:
        yield onwards(text, place.end() + led.end())


OF_FILES = regex(r"\s+(?:of|von|de[lr]?)\b", re.IGNORECASE)
""" "To the end of the two invoices": what comes behind it is files, and no text."""
BETWEEN = regex(
    r"\b(?:hinten|vorne?|am\s+ende|am\s+anfang)\s+(?:(?:noch|bitte|überall|ein|jeweils)\s+)*(?P<text>[^\s,.;!?]+(?:\s[^\s,.;!?]+){0,2}?)"
    r"\s+(?:dran|ran|an|davor|drauf|hin|dazu)\b",
    re.IGNORECASE,
)
""" "Häng hinten noch bezahlt dran"."""
AT_ONCE = regex(
    r"[\"”“»'’]?\s+(?:(?:da|noch|bitte|ganz|immer|überall|gleich|right|always|siempre|bien|vorne?|hinten)\s+)*",
    re.IGNORECASE,
)


def _clean(text: str, start: int, end: int) -> Span:
    """Without the little words at its ends."""
    told = list(parts(text[start:end]))
    while told and fold(told[-1].text) in LITTLE | BEFORE | NO_TEXT:
        told = told[:-1]
    while told and fold(told[0].text) in LITTLE:
        told = told[1:]
    return (start + told[0].start, start + told[-1].end) if told else (start, start)


def _put(story: Story, role: str, said: str, *, beside: list[Span], like: Run | None = None) -> Iterator[Deed]:
    said = OPENING.sub("", said.strip())
    if not _a_text(said):
        return
    also = [span for span in _mentions(story, said) if span not in beside]
    again = [found.span() for found in re.finditer(re.escape(like.text), story.text)] if like else []
    some = chosen(story, beside=[*beside, *also, *again])
    files = some.files if some else _akin(story, like) if like else ()
    there = standing(said, story.ground.paths or ())
    files = tuple(path for path in files if there is None or path not in there.held)
    if files and (there is None or 2 * len(files) > len(some.files if some else files)):
        sign = _sign(files)
        yield restyle(
            Some(files, times=some.times if some else ()),
            **{role: f"{said}{sign}" if role == "prefix" else f"{sign}{said}"},
        )


OPENING = regex(
    r"^(?:(?:the|la|el|das|den)\s+)?(?:words?|palabras?|wort|texto?|(?:year|jahr|a[nñ]o)(?=\s+\d))\s+", re.IGNORECASE
)


def _a_text(said: str) -> bool:
    told = parts(said)
    bare = all(fold(part.text) in LITTLE | BEFORE | NO_TEXT for part in told)
    grammar = all(word.filler or GRAMMAR & {*word.concepts} for word in words(said)) and said.islower()
    return bool(told) and not bare and not grammar and len(told) <= MOST_WORDS


GRAMMAR = frozenset(("name", "file", "folder", "date", "all", "prefix", "suffix", "rename", "blank", "not", "here"))
MOST_WORDS = 5


def _mentions(story: Story, said: str) -> list[Span]:
    """Wherever the new text is said."""
    return [found.span() for found in re.finditer(rf"(?<!\w){re.escape(said)}(?!\w)", story.text, re.IGNORECASE)]


def _akin(story: Story, like: Run) -> Files:
    """Those that begin as the example does."""
    heads = {fold(parts(stem(path))[0].text) for path in like.files if parts(stem(path))}
    return tuple(
        path for path in story.ground.paths or () if parts(stem(path)) and fold(parts(stem(path))[0].text) in heads
    )


def _sign(files: Files) -> str:
    """What stands between the words of these names."""
    blanks, lines = (sum(sign in stem(path) for path in files) for sign in (" ", "_"))
    return "_" if lines > blanks else " "
