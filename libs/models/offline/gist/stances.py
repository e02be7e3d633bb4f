"""A story cut into clauses, and of each what it wants of its files: that they go, that they stay, or nothing at all.

A clause without a word of either goes with its neighbours of the same sentence: what is listed before "can go", and
what is listed behind "keep". Where a sentence has no such word, it is only told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

from libs.models.offline.gist import cues
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, words

END = regex(r"[.!?;\n]+(?=\s|$)|[:;]-?[()DP](?=\s|$)|\s[-–—]{1,2}\s")
CUT = regex(
    r"[,:](?=\s)|\((?=\w+ \w)|\b(?=(?:but|aber|pero|sondern|sino|except|apart from|ausser|außer|bis auf|excepto|salvo"
    r"|excluding|other than|minus|(?<!\bo )menos(?! de\b| que\b)|quitando"
    r"|only keep|keep only|because|weil|denn|porque|ya que)\b)"
)
WHITHER = regex(
    r"(?<!\w)(?:into|ins|hacia|to (?:the|a|my)? ?folder|in (?:a|the|my) (?:new )?folder|nach(?= (?!\d|dem|der|den))"
    r"|in (?:eine[nm]?|den|die|das|de[mr])? ?(?:neuen? )?(?:ordner|mappe|verzeichnis)"
    r"|(?:a|en) (?:la|una|otra) (?:nueva )?carpeta)(?!\w)"
)
""" "…, the offers into a folder Offers": what is told where to go does not go with what is to be deleted before it."""
NO_DEEDS = listed(
    "gone lose drop bin kick wirf streiche streich wipe wipes weg destroyed killed deleted removed removing del rm"
    " quite can_go may_go must_go should_go"
)
"""Words of the lexicon that are deeds in short sentences, and anything in a story: the cues tell which."""
LEAST_SLIP = 6
FEW = 4
"""Words of a clause that has room for no more than a pronoun."""
THEM = listed("them those these em it that die sie das den los las lo la")


class Stance(StrEnum):
    GO = "go"
    TIDY = "tidy"
    """Only tidying is spoken of: enough for what nobody would keep."""
    STAY = "stay"
    TOLD = "told"


DECIDED = (Stance.GO, Stance.STAY)


class Placed(Protocol):
    """What has its place in the text."""

    @property
    def start(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Part:
    """A clause with its place in the text."""

    start: int
    end: int
    sentence: int
    stance: Stance
    leads: bool = False
    """Does its cue stand in its first half, so that what follows goes with it?"""
    cues: tuple[tuple[int, int], ...] = ()
    """Where the words are that told so."""

    def has(self, word: Placed) -> bool:
        return self.start <= word.start < self.end


@lru_cache(maxsize=256)
def parts(text: str) -> tuple[Part, ...]:
    """The clauses in their order."""
    plain = cues.plain(text)
    told: list[Part] = []
    for number, (start, end) in enumerate(between(END, plain, 0, len(plain))):
        clauses = [one for cut in between(CUT, plain, start, end) for one in _apart(plain, *cut)]
        told += _agreed([_part(plain, *clause, number) for clause in clauses], plain)
    return tuple(told)


def spoken(text: str) -> bool:
    """Is it said of anything that it is to go?"""
    return any(part.stance is Stance.GO for part in parts(text))


def between(cut: re.Pattern[str], plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What stands between the joints of a text, from `start` to `end`, and is not blank."""
    places = [start, *(at for found in cut.finditer(plain, start, end) for at in (found.start(), found.end())), end]
    spans = zip(places[::2], places[1::2], strict=True)
    return ((left, right) for left, right in spans if plain[left:right].strip())


def _apart(plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where nothing stands between "bin those" and "keep these", the later of the two begins a clause."""
    said = plain[start:end]
    goes, stays = _goes(said), sorted(cues.spans(cues.STAYS, said))
    if not goes or not stays or cues.first(cues.NEVER, said) or cues.begins(cues.EXCEPT, said):
        yield start, end
        return
    later = max(goes[0][0], stays[0][0])
    apart = len(said[min(goes[0][1], stays[0][1]) : later].split()) > 1
    yield from ((start, start + later), (start + later, end)) if apart else ((start, end),)


def _part(plain: str, start: int, end: int, sentence: int) -> Part:
    said = plain[start:end]
    found, stance = _cued(said)
    places = tuple((start + one, start + two) for one, two in found)
    leads = bool(places) and places[0][0] - start < (end - start) / 2
    return Part(start, end, sentence, stance, leads, places)


def _cued(said: str) -> tuple[list[tuple[int, int]], Stance]:
    excepts = cues.begins(cues.EXCEPT, said) or cues.first(cues.EXCEPTED, said) is not None
    if excepts or cues.first(cues.NEVER, said):
        return cues.spans((*cues.EXCEPT, *cues.EXCEPTED, *cues.NEVER), said), Stance.STAY
    if goes := _goes(said):
        return goes, Stance.GO
    if stays := cues.spans(cues.STAYS, said):
        return stays, Stance.STAY
    tidy = [(word.start, word.end) for word in words(said) if "clean" in word.concepts and not word.slip]
    return tidy, Stance.TIDY if tidy else Stance.TOLD


def _goes(said: str) -> list[tuple[int, int]]:
    deeds = [(word.start, word.end) for word in words(said) if _deed(word)]
    return sorted([*deeds, *cues.spans(cues.GOES, said)])


def _deed(word: Word) -> bool:
    sure = not word.slip or len(word.folded) >= LEAST_SLIP
    return "remove" in word.concepts and word.folded not in NO_DEEDS and sure


def _agreed(told: list[Part], plain: str) -> list[Part]:
    """The clauses of one sentence, those without a word of their own as their neighbours are."""
    if not any(part.stance in DECIDED for part in told):
        return told
    told = [_only(part, told, plain) for part in told]
    for at, part in enumerate(told):
        said = plain[part.start : part.end]
        if part.stance is Stance.TOLD and not (
            cues.begins(cues.BECAUSE, said) or WHITHER.search(said) or _told(told, at, said)
        ):
            told[at] = replace(part, stance=Stance.STAY if _of_others(told, at, plain) else _neighbour(told, at, plain))
    return told


def _only(part: Part, told: Sequence[Part], plain: str) -> Part:
    """ "…, only the finals", in a sentence of what goes."""
    said = plain[part.start : part.end]
    goes = any(other.stance is Stance.GO for other in told)
    only = [span for span in cues.spans(cues.ONLY, said) if len(said[: span[0]].split()) <= 1]
    if part.stance is Stance.TOLD and goes and only:
        places = tuple((part.start + one, part.start + two) for one, two in only)
        return replace(part, stance=Stance.STAY, leads=True, cues=places)
    return part


def _told(told: Sequence[Part], at: int, said: str) -> bool:
    """ "Bin the drafts, I've handed in the final one": what somebody has done with others is none of it."""
    before = next((one for one in reversed(told[:at]) if one.stance in DECIDED), None)
    return before is not None and before.leads and DONE.match(said) is not None


DONE = regex(
    r"\W*(?:(?:i|we)(?:['’]?ve|\s+(?:have|had))?\s+(?:already\s+|just\s+)?[a-z]+ed(?!\w)|(?:i|we)['’]?ve(?!\w)|(?:i|we)\s+(?:already\s+)?(?:sent|gave|got|put|made|took|kept)(?!\w)"
    r"|(?:ich|wir|die|das|der|den)\s+hab\w*\s|hab\w*\s+(?:ich|wir)\s|(?:ya\s+)?(?:he|hemos|entregu[eé]|mand[eé]|envi[eé])\s)",
    re.IGNORECASE,
)


def _of_others(told: Sequence[Part], at: int, plain: str) -> bool:
    """ "Those with a star are for Ann, the others can go"."""
    after = next((one for one in told[at + 1 :] if one.stance in DECIDED), None)
    goes = after is not None and after.stance is Stance.GO
    return after is not None and goes and bool(cues.spans(cues.OTHERS, plain[after.start : after.end]))


def _neighbour(told: Sequence[Part], at: int, plain: str) -> Stance:
    """ "Keep a, b" and "a, b can go": what leads its clause goes on behind it, and what ends it began before."""
    before = next((one for one in reversed(told[:at]) if one.stance in DECIDED), None)
    if before is not None and before.leads:
        return before.stance
    after = (one for one in told[at + 1 :] if one.stance in DECIDED)
    governs = next((one for one in after if _reaches_back(one, plain)), before)
    return governs.stance if governs is not None else Stance.TOLD


def _reaches_back(part: Part, plain: str) -> bool:
    """ "…, bin them", "…, keep those": but "…, keep the red ones" is of nothing before it."""
    said = plain[part.start : part.end].split()
    points = len(said) <= FEW and not THEM.isdisjoint(said)
    return part.stance is Stance.GO or not part.leads or points
