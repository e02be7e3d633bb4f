"""Half sentences that only take something back: "No, that was just an example, …", "Nein, nichts davon! …", "no era
eso, …".

They stand before what is wanted and are no part of it. Such a sentence has nothing but small words of the table below
in it, and one of them says no; with any other word it may be a wish, and is left for the reader.
"""

from __future__ import annotations

import re

from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold

PART = regex(r"[^.!?;:,–—\n]*[.!?;,\n]+\s*")
WORD = regex(r"\w+")
NO = listed("no nope nah nein nee noe que")
DENIES = NO | listed(
    "not none nothing nicht nichts nix kein keins keine nada ningun ninguna ninguno tampoco"
    " wrong incorrect misunderstood misread example explanation forget nevermind meant mean story"
    " falsch beispiel erklaerung erklarung missverstanden gemeint meinte vergiss vergessen missverstaendnis"
    " mal ejemplo explicacion olvida olvidalo olvidate referia malentendido"
)
SMALL = DENIES | listed(
    "that this it those these them they both either all any of at to me my i you we he she is was were are isn wasn"
    " weren aren didn t s ve re a an the just only merely simply so like what who which got get have had said"
    " say asked want wanted for by about but and oh ah well hm sorry please never mind before earlier again quite"
    " right correct new name names old one ones misunderstanding"
    " das dies diese dieser die der den dem des es er sie du ich wir mir mich ihr dir ist war waren sind so nur"
    " bloss blos ein eine einen als zum davon doch ach oh na gar ueberhaupt uberhaupt ganz hast haben habe hat"
    " wollte will gesagt gewollt stimmt passt richtig neue neuer name namen verstanden aber und bitte vorhin eben"
    " war's hab"
    " eso esto ellas ellos esa ese esas esos lo la el los las es era eran son fue asi solo un una de me te a yo tu"
    " usted quise quiero queria decir digo dije entendido entendiste entiendes has ha he se y pero ay bueno perdon"
    " perdona nuevo nombre para nombres antes"
)
IS = listed("is was s are were isn wasn ist war waren es era son eran fue")
TELLS = (DENIES - NO - listed("not none nothing nicht nichts nix kein keins keine nada tampoco mal")) | IS
SAYS = listed(
    "say said asked want wanted meant gesagt gewollt wollte will meinte gemeint decir digo dije dicho quise quiero"
    " queria"
)
WHAT = listed("that this what so it das dies es was so eso esto lo referia")
""" "I did not say that, …", but not: "I did not say, delete it"."""
_NOT = r"^\W*(?P<no>(?:no|nope|nein|nee)\b[\s,.!]+)?(?:not|nicht|no)\b(?!\s+(?:only|just|nur|s[oó]lo)\b)"
RATHER = regex(
    rf"{_NOT}[^.!?;\n]*?[\s,]\b(?:but|sondern|sino)\s+(?!not\b|nicht\b|no\b)"
    rf"|{_NOT.replace('<no>', '<led>')}\s+(?P<to>to|into|nach|in|a|en|by|por|as|als)\s+[^,.!?;\n]+,\s+(?=(?P=to)\b)"
    rf"|{_NOT.replace('<no>', '<before>')}\s+(?(before)|(?!))(?:the|den|die|das|el|la|los|las)\s+[^,.!?;\n]+,\s+"
    r"(?=(?:the|den|die|das|el|la|los|las)\s[^,]+$)",
    re.IGNORECASE,
)
""" "Not the folder but the file", "not to Docs, to Photos", "no, not the folder, the file": the second is meant."""


def owned(text: str) -> str:
    """The text without such half sentences before it; a plain no is left to lead what follows. The text as it is,
    where nothing else is in it.
    """
    at, plain = 0, 0
    while (part := PART.match(text, at)) is not None and _disowns(part[0], after=at > 0):
        at = part.end()
        plain = at if {*WORD.findall(fold(part[0]))} <= NO and plain == part.start() else plain
    rest = text[at:]
    whole = len(WORD.findall(rest)) > 1 and not REPORTED.match(rest)
    return RATHER.sub("", f"{text[:plain]}{rest}" if whole else text)


REPORTED = regex(r"(?:that|to|dass|daß|que)\b", re.IGNORECASE)


def _disowns(part: str, *, after: bool) -> bool:
    """Does it say no to something said? `after` one that does, "that's the new name" is enough. "Not these, a.txt and
    b.txt" may name what is not meant.
    """
    said = {*WORD.findall(fold(part))}
    if not said <= SMALL or not (said & DENIES or (after and said & IS)):
        return False
    plain = said <= NO or not part.rstrip().endswith(",") or bool(said & TELLS) or {"all", "at"} <= said
    return plain and (not said & SAYS or bool(said & WHAT))
