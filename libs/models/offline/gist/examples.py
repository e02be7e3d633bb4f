"""What an example shows is done to all files of its like: "like 2026-03-14 Invoice Hartley", "lieber Huber Maße, und
bei den anderen genauso".

One name before and after says which of its parts move, which numbers get noughts, which text takes the place of which.
What the other names share with it stays as it is; what differs from name to name comes from each of them. No evidence
is stronger, so this is heard before all other readers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from libs.models.offline.gist import dating, padding, replacing, shown
from libs.models.offline.gist.aiming import ALL, around, chosen
from libs.models.offline.gist.deeds import Deed, rename, restyle
from libs.models.offline.gist.learning import Learnt, learnt
from libs.models.offline.gist.reshaping import Rule, by_rule
from libs.models.offline.gist.shown import Shown
from libs.models.offline.gist.spelling import Files, ending, parts, stem
from libs.models.offline.gist.stances import spoken
from libs.models.offline.gist.story import Some, Span, Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold
from libs.skills.shapes import reshaped

OTHERS = regex(
    r"\b(?:all|every\w*|each|others?|rest|same|likewise|similar\w*|both|always|alle[nrs]?|überall|jede[rsnm]?"
    r"|ander\w{1,2}|übrigen|genauso|ebenso|gleiche?\w*|immer|beide\w*|tod[oa]s|cada|otr[oa]s|demás|demas|igual|mismo"
    r"|siempre|resto|etc|usw)\b|\band\s+so\s+(?:on|forth)\b|\bund\s+so\b|\by\s+as[ií]\b|\.\.\.|…",
    re.IGNORECASE,
)
""" "And the others likewise": what is shown of one file is meant for more."""
ORDER = regex(
    r"\b(?:first|front|beginning|start|end|last|order|round|swap\w*|before|after|behind|zuerst|vorne?|voran|anfang"
    r"|hinten|ende|davor|dahinter|reihenfolge|umgekehrt|tausch\w*|primero|delante|adelante|principio|inicio|final"
    r"|detr[aá]s|atr[aá]s|orden|rev[eé]s)\b",
    re.IGNORECASE,
)
NOUGHTS = regex(
    r"\b(?:digits?|figures?|nou?ghts?|zero(?:e?s)?|\w*stellig\w*|stellen|ziffern?|nullen?|d[ií]gitos?|cifras?|ceros?)\b",
    re.IGNORECASE,
)
SURE = 3
"""Parts of a name in another order, which are no mere words any more where an order is spoken of."""
LIKE, SIBLINGS = 2, 3
"""Files that make a kind, and those that are all that a folder has."""


def heard(story: Story) -> Iterator[Deed]:
    """The names that are shown, and others of their like."""
    yield from _recased(story)
    for one in shown.anew(story):
        if _meant(story, one) and (deed := _deed(story, one)) is not None:
            yield deed


def surely(story: Story) -> Iterator[Deed]:
    """The same, where an example is given of what shall be done to several, or the digits or signs are told that names
    shall have: whatever else the words might ask.
    """
    yield from _shown(story)
    yield from _recased(story)
    yield from replacing.surely(story)
    yield from padding.heard(story)
    yield from dating.surely(story)


def _shown(story: Story) -> Iterator[Deed]:
    for one in shown.anew(story):
        if _surely(story, one) and (deed := _deed(story, one)) is not None:
            yield deed


def _surely(story: Story, one: Shown) -> bool:
    if not _meant(story, one):
        return False
    return shown.led(story, one) or (shown.paired(story, one) and _several(story, one))


def _several(story: Story, one: Shown) -> bool:
    return shown.led(story, one) or OTHERS.search(story.text) is not None or len(shown.anew(story)) > 1


def _recased(story: Story) -> Iterator[Deed]:
    """ "PRECIOS BOTAS que sea Precios botas, y así los otros": a name that is said twice, in other capitals."""
    if OTHERS.search(story.text) is None:
        return
    text = story.text.casefold()
    for path in story.ground.paths or ():
        name = stem(path)
        if name.casefold() not in text:
            continue
        said = [found.group() for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", story.text, re.IGNORECASE)]
        case = _case(name, said) if len(said) > 1 else None
        if case is not None:
            some = chosen(
                story, beside=[found.span() for found in re.finditer(re.escape(name), story.text, re.IGNORECASE)]
            )
            files = some.files if some and path in some.files and len(some.files) >= LIKE else story.ground.paths or ()
            like = tuple(one for one in files if _written_so(stem(one)) == _written_so(name))
            yield restyle(Some(like), case=case)
            return


CASES: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "sentence": str.capitalize,
}


def _case(name: str, said: Sequence[str]) -> str | None:
    """What makes the new name of the old one, where the old is said as it is."""
    new = next((one for one in said if one != name), None)
    if new is None or name not in said:
        return None
    return next((case for case, made in CASES.items() if made(name) == new), None)


def _written_so(name: str) -> str | None:
    letters = [part.text for part in parts(name) if part.text.isalpha()]
    return next((case for case, made in CASES.items() if letters and all(made(one) == one for one in letters)), None)


def _meant(story: Story, one: Shown) -> bool:
    """Is it said as a name? Two parts of one in another order may be any words of a story."""
    if not (shown.worded(one) and shown.ended(story, one)):
        return False
    if shown.led(story, one) or shown.paired(story, one):
        return True
    if one.moved:
        ordered = ORDER.search(story.text) is not None and not spoken(story.text)
        return one.whole and len(one.order) >= SURE and ordered
    return NOUGHTS.search(story.text) is not None or sum(bool(other.padded) for other in shown.anew(story)) > 1


def _deed(story: Story, one: Shown) -> Deed | None:
    """For all of its like; for this file alone where old and new stand side by side and no others are spoken of."""
    beside = [other.span for other in shown.mentions(story)]
    files = _scope(story, one.path, beside)
    told = list(learnt(one, story.text, whole=False, sign=_joint(story, one)))
    if not _several(story, one):
        return _alone(story, one, told[0].rule) if told else None
    if shown.led(story, one) and not one.whole and shown.ended(story, one):
        told = [*learnt(one, story.text, whole=True), *told]
    best = _best(story, one, told, files)
    return by_rule(_near(one, best, files), best.rule) if best else None


def _alone(story: Story, one: Shown, rule: Rule) -> Deed | None:
    """As it is written, where the old name is written as it is."""
    shapes = rule.of(stem(one.path))
    new = reshaped(stem(one.path), *shapes) if shapes else None
    if one.whole and stem(one.path) in story.text:
        new = story.text[slice(*one.span)]
    return rename(one.path, f"{new}{ending(one.path)}") if new else None


def _best(story: Story, one: Shown, told: Sequence[Learnt], files: Files) -> Learnt | None:
    """Of those that are for a kind of files the one that is for most of them; a date that moves is one's whoever's name
    it is in, where a folder or all of its files are spoken of.
    """
    wide = len(files) < len(story.ground.paths or ()) or ALL.search(story.text) is not None

    folder = _beside(files, one)

    def rank(each: Learnt) -> tuple[bool, bool, int, int]:
        held = _near(one, each, files)
        whole = {*each.kinds} == {"word"} and {*held} == {*folder} and _akin(folder)
        return len(held) >= LIKE, whole or each.anchored or (each.dated and wide), len(held), each.kinds.count("text")

    return max(told, key=rank, default=None)


def _near(one: Shown, each: Learnt, files: Files) -> list[str]:
    """The files that a rule is for; those beside the one that is shown, where nothing in names says which."""
    return each.rule.held(files if each.sure else _beside(files, one))


def _beside(files: Files, one: Shown) -> list[str]:
    folder = one.path.rpartition("/")[0]
    return [path for path in files if path.rpartition("/")[0] == folder]


def _akin(files: Files) -> bool:
    """Is each of them like another by its first word or its last one, and so all of them together?"""
    ends = {path: {(0, fold(told[0].text)), (1, fold(told[-1].text))} for path in files if (told := parts(stem(path)))}
    reached = set(files[:1])
    for _ in files:
        reached |= {path for path in ends if any(ends[path] & ends[other] for other in reached & {*ends})}
    return len(files) >= SIBLINGS and reached == {*files}


def _scope(story: Story, path: str, beside: Sequence[Span]) -> Files:
    """The files that the rest of the story chooses, or those of the folders that are named, if the one that is shown is
    among them.
    """
    some = chosen(story, beside=beside)
    if some is not None and path in some.files and len(some.files) >= LIKE:
        return some.files
    near = around(story, beside=beside)
    return near if path in near else story.ground.paths or ()


def _joint(story: Story, one: Shown) -> str | None:
    """The sign between the words of the name, where the story says the old name with another: who says "Masse Huber" of
    `Masse_Huber` means no other sign by "Huber Masse".
    """
    old = next((each for each in shown.mentions(story) if each.is_old() and each.path == one.path), None)
    if old is None:
        return None
    name, own = stem(one.path), one.own
    first, last = own[old.order[0]], own[old.order[-1]]
    if name[first.start : last.end].casefold() == story.text[slice(*old.span)].casefold():
        return None
    return name[first.end : own[old.order[0] + 1].start]
