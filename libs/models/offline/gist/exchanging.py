"""One text of names for another: "where it says ratecon make it say rate confirmation", "not Club but Union".

What stands in names now is what goes, however the two are turned; the new text is what the sentence puts beside it. Two
spellings of one word need nothing else: the one that stands in names is the wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from libs.models.offline.gist.aiming import examples, within
from libs.models.offline.gist.deeds import Deed, rename
from libs.models.offline.gist.rewriting import exchange, together
from libs.models.offline.gist.spelling import (
    BEFORE,
    LITTLE,
    Run,
    alike,
    backwards,
    ending,
    onwards,
    parts,
    runs,
    standing,
    stem,
    very,
    without_common,
)
from libs.models.offline.gist.story import Span, Story
from libs.models.offline.ground import singulars
from libs.retrieval.regexes import regex
from libs.retrieval.words import concepts_of, fold, one_slip, words

NAMING = regex(
    r"\bnam(?:es?|ed|ing)\b|\brenam|\bcall|\bspel|\bsa(?:y|ys|id)\b|\bword\b|\btitle|\bread\b|\bwrit|\bgoes\s+down"
    r"|namen?\b|benenn|\bnenn|\bhei(?:ß|ss)|\bWort\b|schreib|\bsteh|nombr|\bllam|\bpalabra|\bponga"
    r"|\bdic[ea]\b|\bdiga|escrib",
    re.IGNORECASE,
)
SWAPPING = regex(
    r"\b(?:chang|replac|swap|turn(?!o)|switch|fix|correct|put|ersetz|tausch|änder|aender|wandel|mach|korrigier"
    r"|c[aá]mbi|reempl|sustitu"
    r"|corrig|pasa|renam|benenn|umbenenn|nenn|renombr)\w*|\bstatt\b|\binstead\b|\bmake\b|\bvez\b|\blugar\b",
    re.IGNORECASE,
)
_INTO = r"(?:to|into|in|with|by|as|durch|gegen|mit|zu|por|a|con|en|como|->|→|=>|=)"
_IN_NAMES = (
    r"(?:in\s+(?:(?:all|the|those|their|its|den|allen|die)\s+)*(?:file\s?)?names?n?"
    r"|en\s+(?:todos\s+)?los\s+nombres|everywhere|überall|bitte|please)"
)
_HENCE = (
    r"(?:(?:is|are|it['’]?s|that['’]?s)\s+(?:all\s+)?now(?:\s+called)?|becomes?|turns?\s+into|goes\s+down\s+as"
    r"|(?:should|must|shall|needs\s+to|has\s+to|have\s+to)\s+(?:now\s+)?(?:be|say|read|become)"
    r"|hei(?:ß|ss)t(?:\s+(?:das|bei\s+uns|ab|jetzt|nun|künftig|neuerdings|es))*|wird\s+(?:zu\s+)?"
    r"|(?:pasa|pasan)\s+a\s+(?:ser\s+)?|ahora\s+(?:es|son|se\s+llaman?)|(?:make|let)\s+(?:it|them|em|that"
    r"|those)\s+(?:say|be|read))"
)
THEN = regex(
    r"[\"”“»'’]?\s*(?:steht\s*)?,?\s*(?:(?:en|im|in|del?)\s+(?:los\s+|el\s+|the\s+"
    r"|den\s+)?(?:file\s?)?(?:names?|namen|nombres?)\s*,?\s*)?"
    r"(?:(?:it|da|bitte|please|soll|should|then|dann)\s+)*"
    r"(?:make\s+it(?:\s+say)?|put|write|use|say|have|ponme|ponle|pone[rd]?|pon|ponga|pongas|poné|escrib\w+"
    r"|schreib\w*|setz\w*|mach\w*|nimm|kommt|stehen|steht)\s+",
    re.IGNORECASE,
)
""" "Where it says this, put that"."""
IT_TO = (
    r"\b(?:change|make|turn|replace|swap|switch|put)\s+(?:it|that|this|them|em|those|that\s+word|the\s+word)\s+"
    r"(?:to|into|with|by|for|as|say)\s+|\b(?:änder\w*|mach\w*|ersetz\w*|tausch\w*)\s+(?:das|es|sie"
    r"|die)\s+(?:in|zu|durch|gegen)\s+"
    r"|\b(?:cámbial[oa]s?|cambial[oa]s?|reemplázal[oa]s?|pásal[oa]s?)\s+(?:por|a)\s+"
    r"|\b(?:sondern|sino|(?<!all\s)but\s+(?:the|it['’]s|rather))\s+|\b(?:rather|sooner)\s+(?:have|see|say|put)\s+"
    r"|\bprefer(?:ir[ií]a)?\s+|\blieber\s+|\b(?:goes\s+down|known|spel(?:t|led)|written)\s+as\s+"
)
INTO = regex(rf"(?:\.\w{{2,4}})?[\"”“»'’]?(?:\s+{_IN_NAMES})?\s+{_INTO}\s+", re.IGNORECASE)
"""What leads from the old text to the new one behind it, with a word of changing."""
HENCE = regex(rf"\b{_HENCE}\s*|{IT_TO}", re.IGNORECASE)
"""What leads to the new text, wherever the old one was said before."""
_FOR = (
    r"(?<!\w)(?:instead\s+of|rather\s+than|in\s+place\s+of|statt|anstatt|anstelle\s+(?:von|des|der)|en\s+(?:vez"
    r"|lugar)\s+del?"
    r"|(?:and|und|y)\s+(?:not|nicht|no)|not|nicht|,?\s*no)"
)
_THE = r"(?:\s+(?:the|word|das|der|die|den|Wort|la|el|palabra|dem|del?))*\s+[\"“„«'‘]?"
FOR_OLD = regex(rf"\s*,?\s*{_FOR}{_THE}$", re.IGNORECASE)
WHERE_OLD = regex(
    r"\s*,?\s*\b(?:where(?:ver)?|wo|donde)\s+(?:(?:it|now|there|jetzt|bisher|überall|ahora|antes|the|name)\s+)*"
    r"(?:(?:says?|said|reads?|has|have|is|stands|dice|diga|pone|ponga|aparece|aparezca|tiene|hay)\s+)?[\"“„«'‘]?$",
    re.IGNORECASE,
)
LEADING_OLD = regex(rf"\b(?:{_FOR}){_THE}$", re.IGNORECASE)
MADE_OF = regex(
    r"\b(?:mach\w*|wird|werden)\s+(?:bitte\s+)?aus\s+(?:(?:dem|der|den|jedem|allen)\s+)?[\"“„]?$", re.IGNORECASE
)
BEHIND_IT = regex(
    r"[\"”“»'’]?\s*,?\s*(?:(?:but|sondern|sino|put|write|use|überall|bitte|immer|everywhere|please|mach|nur|noch|blo(?:ß|ss)|einfach|only|just|s[oó]lo|lieber"
    r"|schreib|pon|ponle|jetzt)\s+)*",
    re.IGNORECASE,
)
FROM_IT = regex(r"\s+(?:from|out\s+of)\s+(?:it|that|them)\b|\s+d(?:a)?raus\b|\s+de\s+(?:eso|ello)\b", re.IGNORECASE)
MOST_WORDS = 6


def heard(story: Story) -> Iterator[Deed]:
    """A part of names goes, and another takes its place."""
    if NAMING.search(story.text) is None and SWAPPING.search(story.text) is None:
        return
    for old, new in _spellings(story):
        if (deed := exchange(story, old, new, beside=(), cased=True)) is not None:
            yield deed
    yield from _meanings(story)
    for run, span in _pairs(story):
        new = re.sub(r"\.\w{2,4}$", "", story.text[slice(*span)].strip())
        if _could_be(story, run.text, new) and (deed := _deed(story, run, new, span)) is not None:
            yield deed


MEANS = regex(r"[\"”“»'’]?\s+(?:means|stands\s+for|bedeutet|steht\s+für|significa|quiere\s+decir)\s+", re.IGNORECASE)


def _meanings(story: Story) -> Iterator[Deed]:
    """ "Rēķins means invoice and pavadzīme means waybill": all of them, one after the other, in different names."""
    if NAMING.search(story.text) is None:
        return
    files, deeds = set[str](), list[Deed]()
    for run in runs(story, story.ground.paths or (), very):
        led = MEANS.match(story.text, run.end)
        start, end = onwards(story.text, led.end()) if led else (0, 0)
        deed = exchange(story, run.text, story.text[start:end], beside=[(start, end)]) if start < end else None
        if deed is not None and files.isdisjoint(run.files):
            files |= {*run.files}
            deeds.append(deed)
    if (deed := together(deeds)) is not None:
        yield deed


def _deed(story: Story, run: Run, new: str, span: Span) -> Deed | None:
    """One file that is called just so gets the new name, unless others shall be treated alike."""
    if len(run.whole) == 1 and not OTHERS.search(story.text) and len(parts(run.text)) > 1:
        path = run.whole[0]
        return rename(path, f"{new}{ending(path)}") if stem(path) != new else None
    old, new = without_common(run.text, new)
    beside = [span, (run.start, run.end)]
    return exchange(story, _real(run, old), new, beside=beside) if old else None


OTHERS = regex(
    r"\b(?:all|every\w*|each|others?|same\s+way|alle[nrs]?|überall|jede\w*|andere[nr]?|tod[oa]s|cada|otr[oa]s"
    r"|demás|demas|etc|usw)\b|and\s+so\s+on|und\s+so\b",
    re.IGNORECASE,
)


def _real(run: Run, old: str) -> str:
    """As the names have it, where the story has another form of the word."""
    return run.literal(run.files[0]) if old == run.text else old


def _spellings(story: Story) -> Iterator[tuple[str, str]]:
    """Two words of the story that are one but for a letter or an accent, of which names have but one."""
    held = {part.text.casefold() for path in story.ground.paths or () for part in parts(stem(path))}
    told = [part for part in parts(story.text) if len(part.text) > LEAST and part.text.isalpha()]
    wrong = {part.text.casefold() for part in told if part.text.casefold() in held}
    right = {part.text.casefold(): part.text for part in told if part.text.casefold() not in held}
    for old, new in product(sorted(wrong), right):
        if _misspelled(old, new):
            yield old, right[new]


LEAST = 3


def _misspelled(old: str, new: str) -> bool:
    left, right = fold(old), fold(new)
    forms = not singulars(left).isdisjoint(singulars(right)) and left != right
    return (left == right or one_slip(left, right)) and not forms and not concepts_of(right)


def _pairs(story: Story) -> Iterator[tuple[Run, Span]]:
    """An old text, and where the new one may stand: first what surely turns one to the other."""
    text, out = story.text, examples(story)
    found = [run for run in runs(story, story.ground.paths or (), alike) if not within((run.start, run.end), out)]
    found = [
        run
        for run in found
        if WRITING.fullmatch(text[: run.end].split()[-1]) is None or not STYLED.search(text[: run.start])
    ]
    swaps = SWAPPING.search(text) is not None
    for run in found:
        yield from ((run, span) for span in _around(text, run))
    for led in TO.finditer(text) if swaps else ():
        span = onwards(text, led.end())
        yield from ((run, span) for run in _nearest(found, led, span) if _kin(run.text, text[slice(*span)]))
    for run in found if swaps else ():
        if _changed(text, run) and (into := INTO.match(text, run.end)) is not None:
            yield run, onwards(text, into.end())
    for led in HENCE.finditer(text):
        yield from ((run, onwards(text, led.end())) for run in _nearest(found, led, onwards(text, led.end())))
    for led in FROM_IT.finditer(text):
        yield from ((run, backwards(text, led.start())) for run in _before(found, led.start()))


STYLED = regex(r"\b(?:big|small|capital|little|upper|lower|gro(?:ß|ss)e?n?|kleine?n?)\s+$", re.IGNORECASE)
WRITING = regex(r"letters?|buchstaben?|letras?", re.IGNORECASE)
""" "With big letters": how names are written."""
CHANGES = regex(
    r"\b(?:chang|replac|swap|turn(?!o)|switch|correct|convert|ersetz|tausch|änder|aender|wandel|korrigier|c[aá]mbi"
    r"|reempl|sustitu|corrig|renam|benenn|nenn|renombr|umbenenn"
    r"|austausch|make\b|mach\b|mache\b|mak|put\s+right)\w*",
    re.IGNORECASE,
)


def _changed(text: str, run: Run) -> bool:
    """Is a word of changing in its sentence?"""
    start = max(text.rfind(sign, 0, run.start) for sign in ".;:!?\n") + 1
    end = min((at for sign in ".;:!?\n" if (at := text.find(sign, run.end)) >= 0), default=len(text))
    return CHANGES.search(text, start, end) is not None


def _around(text: str, run: Run) -> Iterator[Span]:
    head = text[: run.start]
    if (before := FOR_OLD.search(head)) is not None:
        yield backwards(text, before.start())
    if (before := WHERE_OLD.search(head)) is not None:
        if (then := THEN.match(text, run.end)) is not None:
            yield onwards(text, then.end())
        yield _trimmed(text, backwards(text, before.start()))
    if (
        any(form.search(head) for form in (LEADING_OLD, MADE_OF))
        and (behind := BEHIND_IT.match(text, run.end)) is not None
    ):
        yield onwards(text, behind.end())


def _nearest(found: Sequence[Run], led: re.Match[str], span: Span) -> list[Run]:
    """Of the words before it those that the new text repeats a part of, else the last."""
    told, new = _before(found, led.start()), led.string[slice(*span)]
    return [run for run in told if _kin(run.text, new)] or [run for run in told[-1:] if not _within(run.text, new)]


def _within(old: str, new: str) -> bool:
    return {fold(part.text) for part in parts(old)} <= {fold(part.text) for part in parts(new)}


def _kin(old: str, new: str) -> bool:
    left, right = ({fold(part.text) for part in parts(text)} for text in (old, new))
    return bool(left & right) and not left <= right


TO = regex(r"\s(?:to|into|in|zu|as|por|a|como|als)\s+", re.IGNORECASE)


def _before(found: Sequence[Run], at: int) -> list[Run]:
    return [run for run in found if run.end <= at]


def _trimmed(text: str, span: Span) -> Span:
    """Without the verb at its end: "Garten stehen"."""
    start, _ = span
    first, last = onwards(text, start)
    return (first, min(last, span[1])) if first < span[1] else span


def _could_be(story: Story, old: str, new: str) -> bool:
    """Is it a text of its own, and no word that only goes on?"""
    told, read = parts(new), words(new)
    plain = all(fold(part.text) in LITTLE | BEFORE for part in told)
    grammar = all(word.filler or HOLLOW & {*word.concepts} for word in read) and new.islower()
    there = standing(new, story.ground.paths or (), alike) is not None and new.islower()
    dated = re.search(r"\d{4}-\d\d-\d\d", new) is not None and not new[:1].isdigit()
    return (
        not dated
        and bool(told and old)
        and len(told) <= MOST_WORDS
        and not (plain or grammar or there or very(old, new))
    )


HOLLOW = frozenset(
    ("name", "file", "folder", "not", "all", "rename", "change", "swap", "find", "remove", "move", "number")
)
