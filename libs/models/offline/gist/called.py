"""What something new is to be called, as people tell it beside all else.

"Call it pugh tacho", "Screen pictures I should like to call it", "nenns Steuer 2026", "una carpeta Varroa, ahí dentro":
a name begins behind the words that lead to it and ends where a sentence would go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from libs.models.offline.clauses import ACTIONS, AND, OR
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold, words

FOLDER = r"(?:sub|unter)?(?:folder|director(?:y|ies)|ordner|verzeichnis(?:se)?|carpet(?:it)?a|directorio)s?"
ZIP = r"(?:zip|archive?|archiv)(?:[ -]?(?:file|datei|archiv|folder|ordner))?"
_IT = r"(?:\s+(?:it|them|that|this|ihn|es|sie|das|die|den|bitte|einfach|mal|du|ihr|just|please|nom[aá]s))*"
NAMED = regex(
    rf"\b(?:(?:call(?:ed)?|named|titled){_IT}|name\s+(?:it|them|that|this)|(?:with|by)\s+(?:the\s+)?name(?:\s+of)?|name\s+(?:only|just)|names?\s+(?:of|is|it)"
    rf"|namens|genannt|nenn(?:e|en|t|st)?s?{_IT}|mit\s+(?:dem\s+)?namen|namen?(?:\s+(?:ist|sei|wäre))|hei(?:ß|ss)t"
    r"|llamad[ao]s?|se\s+(?:llamen?|llamar[aá])|ll[aá]m(?:al[ao]s?|ale|elo|ela)|p[oó]n(?:le|ele)(?:\s+de\s+nombre)?"
    r"|(?:de|con|por)\s+(?:el\s+)?nombre(?:\s+de)?|nombre)\s*:?\s+(?=\S)",
    re.IGNORECASE,
)
SHALL = regex(
    rf"\b(?:{FOLDER}|{ZIP}|einen|eine|eins)\s*,?\s+(?:der|die|das)\s+(?=(?:[\w'’-]+\s+){{1,4}}(?:hei(?:ß|ss)t|hei(?:ß|ss)en))|"
    r"\bsoll(?:te|en)?\s+(?:(?:er|sie|es|die|der|das|dann|bitte|einfach)\s+)*(?=[^.,;!?\n]{1,40}?\s(?:hei(?:ß|ss)en|genannt))",
    re.IGNORECASE,
)
BESIDE = regex(rf"\b{FOLDER}(?:\s+(?:für|for|para|pa|mit|con|with|nueva|nuevo))?\s+(?=\S)", re.IGNORECASE)
ANOTHER = regex(
    r"\b(?:one|another|einen?|eine[rn]?|noch\s+einen|una|otra|otro)\s+"
    r"(?:(?:for|für|para|called|named|namens|llamada)\s+(?=\S)|(?=\d|(?-i:[A-ZÄÖÜÁÉÍÓÚ])))",
    re.IGNORECASE,
)
SEVERAL = regex(
    rf"\b(?:each|every|je|jede\w*|cada)\b[^.!?\n]{{0,30}}?{FOLDER}\s*:\s*(?=\S)"
    rf"|\b{FOLDER}\s+(?:per|for\s+each|for\s+every|für\s+jede\w*|pro|je|por\s+cada|para\s+cada|por)\s+\w+\s*[.:,]\s*(?=\S)"
    r"|\b(?:folders|subfolders|(?<!einen )(?<!nen )(?<!den )(?<!dem )(?<!im )(?<!neuen )(?<!eigenen )ordner"
    r"|unterordner|carpetas|subcarpetas)\b(?:\s+(?:called|named|namens|llamadas))?[\s,:]+(?=\S)",
    re.IGNORECASE,
)
END = regex(r"\s*(?:[.,;:!?\n]|$)")
APPOSED = regex(rf"\b{FOLDER}\s*[,:]\s+(?=\S)", re.IGNORECASE)
""" "In one folder, Halvorson, please"."""
CLOSED = regex(r"\s*(?:[.,;:!?\n]|$|(?:please|bitte|porfa|por favor|or|oder|o)\b)", re.IGNORECASE)
BESIDE_ZIP = regex(
    rf"\b(?:an?|one|the|single|eine?[nrm]?|nen?|nem|die|der|un|una|el|in(?:to)?|en|otr[oa])\s+{ZIP}\s+(?=\S)"
    r"|\b(?:en|in|into)\s+(?:otr[oa]|another|ein(?:em?)?\s+ander\w+|ein(?:em?)?\s+zweite\w*|a\s+second)\s+(?=\S)"
    r"|\b(?:zip|pack|komprim|comprim|bundle|and|und|y)[^.;!?\n]*?\s(?P<lead>as|als|como)\s+(?=\S)",
    re.IGNORECASE,
)
AFTER = regex(
    r"(?:^|[.,;:!?\n])\s*(?P<name>[^.,;:!?\n]{1,50}?)\s+(?:(?:is|would\s+be)\s+what\s+)?"
    r"(?:(?:i|we)(?:['’]d|\s+should|\s+would|\s+want)?\s+(?:like\s+)?(?:it\s+)?(?:to\s+)?(?:be\s+)?call|(?:would|will|does|must)\s+do\b"
    r"|(?:reicht|gen[üu]gt|passt|langt|basta|alcanza|works|is\s+(?:fine|enough|ok)|est[aá]\s+bien)\b"
    r"|(?:would|will|shall|should)\s+be\s+(?:its|the|a\s+\w+)\s+name|as\s+(?:its|the|a)\s+name|for\s+(?:its|the|a)\s+name"
    r"|soll(?:te|en)?\s+(?:(?:er|sie|es|die|der|das|dann|ordner|zip|datei|archiv)\s+)*(?:hei|genannt)|p[oó]n(?:ele|le)\b|le\s+pon|(?:la|lo)\s+llam"
    r"|(?:wäre|ist)\s+(?:ein|der)\s+\w*\s*name|als\s+namen?\b|(?:de|como)\s+nombre)",
    re.IGNORECASE,
)
ENDED = regex(r"(?P<name>[\w'’()-]+(?: [\w'’()-]+){0,5})\.(?:zip|tar\.gz|tgz|tar)\b", re.IGNORECASE)
PIECE = regex(r"[^\s,;:!?()\"“”„«»]+")
QUOTED = regex(r"\s*[\"“„«‘'](?P<name>[^\"“”„«»’'\n]{1,60})[\"”“»’']")
OF = listed("for of fur von de del para by")
IN = listed("from in into inside on at to aus in im von en a desde")
JUST = listed("just maybe perhaps einfach vielleicht solo nomas")
THE = listed("the der die das den dem la el los las")
STUFF = listed("stuff things kram sachen zeug cosas papers unterlagen papeles")
STOPS = (
    AND
    | OR
    | listed(
        "ill im ive id inside within under there then right so because weil porque que it them they sie es ihn la las"
        " los lo el the die der das den rein hinein da dahin dort ahi alli alla dentro adentro aqui aca dale por favor"
        " please bitte porfa luego despues danach after before without ohne sin heissen heisst genannt ponele ponle"
        " wo where wie mach tu meine mine mein mis mi my ihr ihre with con mit drin drinnen thanks danke gracias thats"
        " themselves itself himself herself sich si ellos ellas"
        " but aber pero sondern sino except suya suyas suyo suyos propia propio aparte eigener eigene"
        " draus daraus dran file files datei dateien archivo archivos q solo sola"
    )
)
LIMITS = listed("here not then all untouched keep folder except because only")
NOUN = regex(rf"(?:{FOLDER}|{ZIP}|datei(?:en)?|i)$", re.IGNORECASE)
MOST = 6
"""Words of a name."""


@dataclass(frozen=True, slots=True)
class Called:
    """A name that is told, with its place, and where what leads to it begins."""

    name: str
    start: int
    end: int
    lead: int

    @property
    def span(self) -> tuple[int, int]:
        return min(self.lead, self.start), self.end


def folders(text: str) -> tuple[Called, ...]:
    """What folders are called, in the order of the text; those that are named outright come before all others."""
    sure = [*_led(text, NAMED, sure=True), *_led(text, SHALL, sure=True), *_before(text)]
    apposed = (one for one in _led(text, APPOSED, sure=True) if CLOSED.match(text, one.end))
    beside = [*_led(text, BESIDE), *apposed, *(_led(text, ANOTHER) if sure or BESIDE.search(text) else ())]
    return _apart([*sorted(sure, key=_place), *sorted(beside, key=_place)])


def together(text: str) -> tuple[Called, ...]:
    """ "Three folders Tesco Wickes and Aldi": the words of such a list, each for itself."""
    return tuple(one for found in SEVERAL.finditer(text) for one in _listed(text, found.end()))


def is_beside(text: str, one: Called) -> bool:
    """Is it told by the word folder itself: "a folder Rent", "a folder called Rent"?"""
    lead = text[max(0, one.lead - 20) : one.start]
    return re.search(rf"{FOLDER}\W+(?:[^\W\d_]+\W+){{0,3}}$", lead, re.IGNORECASE) is not None


def archives(text: str) -> tuple[Called, ...]:
    """What an archive is called, the surest first."""
    ended = (_back(text, found) for found in ENDED.finditer(text))
    sure = [*_led(text, NAMED, sure=True), *_led(text, SHALL, sure=True), *_before(text)]
    return _apart([*(one for one in ended if one), *sure, *_led(text, BESIDE_ZIP, sure=True)])


def _place(one: Called) -> int:
    return one.start


def _apart(told: list[Called]) -> tuple[Called, ...]:
    """Each name once: of two that overlap the first."""
    kept: list[Called] = []
    for one in told:
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return tuple(kept)


def _led(text: str, lead: re.Pattern[str], *, sure: bool = False) -> Iterator[Called]:
    for found in lead.finditer(text):
        begin = found.start("lead") if found.groupdict().get("lead") else found.start()
        if quoted := QUOTED.match(text, found.end()):
            yield Called(quoted["name"], *quoted.span("name"), begin)
        elif (end := _end(text, found.end(), sure=sure)) > found.end() and fold(text[found.end() : end]) not in OF | IN:
            yield Called(text[found.end() : end], found.end(), end, begin)


def _before(text: str) -> Iterator[Called]:
    """ "Just Margaret would do for a name"."""
    for found in AFTER.finditer(text):
        start, end = found.span("name")
        while start < end and (piece := PIECE.match(text, start)) and _leads_in(piece.group()):
            start = piece.end() + 1
        if start < end and _end(text, start, sure=True) >= end:
            yield Called(text[start:end], start, end, found.start())


def _listed(text: str, start: int) -> Iterator[Called]:
    at = start
    for piece in PIECE.finditer(text, start):
        said, between = piece.group().rstrip("."), text[at : piece.start()]
        joint = fold(said) in AND
        if between.strip(" ,") or (_stops(said, first=True) and not joint):
            break
        if not joint:
            yield Called(said, piece.start(), piece.start() + len(said), piece.start())
        at = piece.start() + len(said)


def _leads_in(said: str) -> bool:
    """ "Just Margaret", "einfach Golf"."""
    return _stops(said.lower(), first=True) or fold(said) in JUST


def ended(text: str, start: int) -> int:
    """Where the name ends that begins here."""
    return _end(text, start, sure=True)


def _back(text: str, found: re.Match[str]) -> Called | None:
    """ "Into Donations for Donna.zip": back to where the name can begin."""
    pieces = list(PIECE.finditer(text, *found.span("name")))
    begin = next((n for n in range(len(pieces)) if not _stops(pieces[n].group(), first=True)), None)
    for n in range(len(pieces) - 1, -1, -1):
        if _stops(pieces[n].group()) and fold(pieces[n].group()) not in OF:
            begin = n + 1
            break
    if begin is None or begin >= len(pieces) or fold(pieces[begin].group()) in OF:
        return None
    start = pieces[begin].start()
    return Called(text[start : found.end("name")], start, found.end(), start)


def _end(text: str, start: int, *, sure: bool) -> int:
    """Where the name ends that begins here; its beginning, where none does."""
    end = at = start
    for piece in islice(PIECE.finditer(text, start), MOST):
        said, between = piece.group().rstrip("."), text[end : piece.start()]
        if not said or text[at : piece.start()].strip() or "\n" in between:
            break
        if end > start and _bridges(said, between.split(), sure=sure):
            at = piece.end()
            continue
        last = sure and (end > start or said[0].isupper()) and _ends_it(text, piece)
        loose = bool(between.strip()) and not sure and not said[0].isupper()
        if loose or (_stops(said, first=end == start) and not last):
            break
        end = at = piece.start() + len(said)
        if piece.group() != said:
            break
    return end


def _bridges(said: str, before: Sequence[str], *, sure: bool) -> bool:
    """May it stand within a name: "Letters *for the* council"?"""
    if fold(said) in OF:
        return not before
    return sure and fold(said) in THE and all(fold(one) in OF for one in before)


def _ends_it(text: str, piece: re.Match[str]) -> bool:
    """Is this the sentence's last word, and one that means a deed elsewhere: "called load shift"?"""
    said = piece.group().rstrip(".")
    read = words(said)
    known = bool(read) and not read[0].filler and not {*read[0].concepts}.isdisjoint(ACTIONS)
    return known and fold(said) not in STOPS and END.match(text, piece.start() + len(said)) is not None


def _stops(said: str, *, first: bool = False) -> bool:
    """Can no name have this word, or begin with it?"""
    folded = fold(said.replace("’", "'")).replace("'", "")
    if NOUN.match(folded) or (folded in STOPS and not said.isalnum()):  # "I'd"
        return True
    if said[0].isdigit() or said[0].isupper() or (folded in STUFF and not first):
        return False
    if folded in STOPS:
        return True
    read = words(said)
    told = {*read[0].concepts} if read else set()
    return not read or read[0].filler or bool(told & LIMITS) or bool(told & ACTIONS and not read[0].slip)
