"""What each part of a reply does to the files of an offer, and which files those are.

It takes some out, keeps only some, adds some, or puts others in their place.

What is to stay out, or alone to stay, is looked for among the files that were offered; what comes on top, anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from libs.models.offline import among, corrections
from libs.models.offline.clauses import ACTIONS, KINDS
from libs.models.offline.gist import cues
from libs.models.offline.gist.acts import Side
from libs.models.offline.gist.bearing import JOINT, Bearing, Item, Sort, together
from libs.models.offline.gist.bounds import by_name, in_years
from libs.models.offline.gist.hollow import EMPTY, FILE, FOLDER, of_folders
from libs.models.offline.gist.stances import END, Part, Stance, between
from libs.models.offline.gist.story import PART, Span, Story
from libs.models.offline.measures import Measured, opposed
from libs.models.offline.pronouns import PRONOUNS
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word, fold

_ALSO = (
    r"(?:also|too|as well|plus|add|include|auch|zusatzlich|ausserdem|dazu|mit dazu|noch"
    r"|tambien|tb|ademas|anade|incluye)"
)
_NOT = r"(?:not|nicht|except|without|ohne|ausser|au(?:ß|ss)er|bis auf|sin|menos|salvo|excepto|apart from)"
_INSTEAD = r"(?:instead of|rather than|statt|anstatt|anstelle von|en vez de|en lugar de)"
_NO = r"no\s+(?:l[ao]s?|el|es[eao]s?|est[eao]s?|un[oa]?s?|carpetas?|archivos?)"
CUT = regex(
    rf"[,:](?=\s)|[()]|\b(?:but|aber|pero|sondern|sino)\b"
    rf"|\b(?:and|und|y|n)\s+(?=(?:{_ALSO}|{_NOT}|no|keep|leave|lass|behalt\w*|deja|only|just|nur|solo)\b)"
    rf"|(?<=\w)\s+(?=(?:{_NOT}|{_INSTEAD}|{_NO})\s)"
)
BARE = regex(
    r"\W*(?:(?:the|die|auch|los|las|tambien|also)\s+)*"
    r"(?:files|folders|directories|dateien|ordner|verzeichnisse|archivos|ficheros|carpetas)\W*"
)
DENIES = regex(rf"\W*(?:\w+\s+)?(?:not|nicht|keine?|no)\b(?!\s+(?:only|just|nur|solo))|\W*{_INSTEAD}\b")
""" "Not those, these": what comes after it is meant."""
SPARES = regex(
    r"\W*(?:(?:please|bitte|por favor|all|everything|alles?|tod[oa]s?)\s+)*"
    rf"(?:{_NOT}|skip|exclude|omit|minus|leave|keep|lass|behalt\w*|deja|quita|weglassen)\b"
    r"|.*\b(?:stays?|bleib\w*|(?:se )?qued[ae]n?|weglassen|auslassen|drau(?:ß|ss)en|left out|alone|in ruhe|out of it)\b"
    r"|.*\b(?:not|nicht|no)\W*$"
)
TAKES_OUT = regex(
    r"\W*(?:(?:please|bitte|por favor)\s+)*(?:remove|delete|drop|take|entfern\w*|losch\w*|nimm|streich\w*"
    r"|quit\w*|saca\w*|borra\w*|elimin\w*)\b"
)
MORE = regex(
    rf"\W*(?:(?:and|und|y|yes|ja|si)\s+)*{_ALSO}\b|.*\b(?:auch|too|as well|also|tambien|tb)\b"
    r"|.*\b(?:missing|fehl(?:t|en)|faltan?)\W*$|\W*(?:faltan?|es fehl\w+)\b"
    r"|.*\b(?:together|along|zusammen|junto|mitsamt|samt)\b"
)
NOT_ONLY = regex(r"\W*(?:not|nicht|no)\s+(?:only|just|nur|blo(?:ß|ss)|solo|solamente)\b")
ONLY = regex(
    r"\W*(?:\w+\s+){0,2}?(?:only|just|nur|blo(?:ß|ss)|lediglich|solo|solamente|unicamente|nada mas)\b"
    r"|.*\b(?:only|nur|solo)\W*$"
)
HERE = regex(
    r"(?<!\w)(?:(?:lying|lie|are|is|ones?|files?|right|directly|loose|sit(?:ting)?)\s+(?:around\s+)?here"
    r"|loose|(?:at the )?top(?: level)?|main folder|root"
    r"|(?:hier|direkt)\s+(?:\w+\s+)?(?:rum|herum)?(?:lieg\w*|direkt|hier|drin|im ordner)"
    r"|hier\s+oben|direkt hier|lose[nrs]?|oberste\w*|hauptordner|ganz oben"
    r"|suelt[oa]s?|(?:aqui|de)\s+fuera|l[oa]s de aqui|carpeta principal|raiz)(?!\w)"
)
WHOLE = regex(
    r"(?<!\w)(?:(?:the )?(?:whole|entire|complete|full)|all (?:of|the files (?:in|of|from))"
    r"|everything (?:in|from|inside)|ganze[nrms]?|gesamte[nrms]?|komplette[nrms]?"
    r"|alle(?:s|n)? (?:\w+ )?(?:aus|in|im)|mit allem|toda? (?:la|el)|entera?|complet[oa]"
    r"|todo lo (?:de|que hay en)|todos los archivos de)(?!\w)"
)
ALL = regex(r"(?<!\w)(?:all|every|each|everywhere|anywhere|alle[rns]?|jede\w*|uberall|tod[oa]s)(?!\w)")
TALK = listed(
    "dear love mate thanks thank sorry please bitte danke gracias porfa oh ah ach ay well mean meant meine"
    " meinte digo quiero want wanted like just mal halt doch eh ja nein no yes si that those these this them"
    " they it its one ones is are be was das die der den dem sind ist es sie eso esos esas es son los las lo la"
    " el file files datei dateien archivo archivos here hier aqui all alle right wrong good fine ok okay so on"
    " weiter etc usw"
)


@dataclass(frozen=True, slots=True)
class Told:
    """One part of a reply."""

    text: str
    side: Side
    files: tuple[str, ...] = ()
    filters: Mapping[str, Any] = field(default_factory=dict)
    folder: str | None = None
    """The folder that is meant with all that is in it."""
    hollow: str | None = None
    """What is empty: of which kind."""
    lost: bool = False
    """Does nobody know what it is about?"""


def of(
    reply: Story, beside: Sequence[Span], *, offered: Sequence[str], plainly: Side, takes_out: bool = False
) -> list[Told]:
    """The parts of the reply that are about files, in their order."""
    story = replace(reply, text=_without(reply.text, beside))
    plain = cues.plain(story.text)
    parts = _parts(plain, corrections.LEADS.match(story.text), plainly, takes_out=takes_out)
    apart = (one for span, side in parts for one in _hollow_apart(plain, span, side))
    read = (_told(story, span, side, offered) for span, side in apart)
    return [one for one in read if one is not None]


def _hollow_apart(plain: str, span: Span, side: Side) -> Iterator[tuple[Span, Side]]:
    """ "Only the empty folders, and the tmp files": what is listed beside empty ones need not be empty. "Empty files
    and folders" are empty, both.
    """
    pieces = [piece for piece in between(JOINT, plain, *span) if re.search(r"\w", plain[slice(*piece)])]
    if EMPTY.search(plain[slice(*span)]) is None or len(pieces) < 2:
        yield span, side
        return
    on = Side.OUT if side is Side.OUT else Side.ALSO
    hollow = [piece for piece in pieces if _is_hollow(plain[slice(*piece)])]
    yield from ((piece, on if n else side) for n, piece in enumerate(hollow))
    yield from ((piece, on) for piece in pieces if piece not in hollow)


def _is_hollow(piece: str) -> bool:
    return EMPTY.search(piece) is not None or BARE.fullmatch(piece) is not None


def _without(text: str, spans: Sequence[Span]) -> str:
    for start, end in spans:
        text = f"{text[:start]}{',' * (end - start)}{text[end:]}"
    return text


def _parts(plain: str, led: re.Match[str] | None, plainly: Side, *, takes_out: bool) -> list[tuple[Span, Side]]:
    """The parts that say what is done with their files. What is listed on goes with what it is listed behind."""
    told: list[tuple[Span, Side]] = []
    for sentence in _between(END, plain, led.end() if led else 0, len(plain)):
        before: tuple[Span, Side] | None = None
        for start, end in _between(CUT, plain, *sentence):
            said = plain[start:end]
            side = Side.OUT if takes_out and TAKES_OUT.match(said) else _side(said)
            if side is None and before is not None and not DENIES.match(plain[slice(*before[0])]):
                before = (before[0][0], end), before[1]
                told[-1] = before
            elif not NOT_ONLY.match(said):
                before = (start, end), side or plainly
                told.append(before)
    return told


def _between(cut: re.Pattern[str], plain: str, start: int, end: int) -> Iterator[Span]:
    return (span for span in between(cut, plain, start, end) if re.search(r"\w|[~$*]", plain[slice(*span)]))


def _side(said: str) -> Side | None:
    if NOT_ONLY.match(said):
        return None
    if DENIES.match(said) or SPARES.match(said):
        return Side.OUT
    if ONLY.match(said):
        return Side.ONLY
    return Side.ALSO if MORE.match(said) else None


def _told(story: Story, span: Span, side: Side, offered: Sequence[str]) -> Told | None:
    """The part with its files; None where it is mere talk."""
    said = cues.plain(story.text)[slice(*span)]
    text = story.text[slice(*span)].strip(" ,.;:!?")
    if EMPTY.search(said) or (BARE.fullmatch(said) and EMPTY.search(cues.plain(story.text))):
        return Told(text, side, hollow=FOLDER if of_folders(said) else FILE)
    if cues.spans(cues.REST, said) and side is Side.OUT:
        return Told(text, side)
    read = next((one for one in _scopes(story, span, side, offered) if one.files or one.filters), None)
    if read is not None:
        return replace(read, text=text)
    if side in (Side.OUT, Side.ONLY):
        left = among.left(story.text[slice(*span)], offered)
        if left is not None:
            return Told(text, Side.ONLY, left)
        if side is Side.OUT and found(story, span, story.ground.paths or ()):
            return None
    return Told(text, side, lost=True) if _weighs(story, span) else None


def _scopes(story: Story, span: Span, side: Side, offered: Sequence[str]) -> Iterator[Told]:
    """The files of the part, looked for where they are the likeliest first."""
    ground, said = story.ground, cues.plain(story.text)[slice(*span)]
    every = ground.paths or ()
    if HERE.search(said):
        here = _of(story, span, side, ground.files)
        yield here if here.files or here.filters else replace(here, files=_like(offered, ground.files))
    if WHOLE.search(said) and side in (Side.INSTEAD, Side.ALSO) and (folder := _folder(story, span)) is not None:
        yield Told("", side, tuple(ground.below(folder)), folder=folder)
    if side in (Side.OUT, Side.ONLY) or not (ALL.search(said) or side is Side.ALSO):
        near = _no_kind(story, span, _of(story, span, side, offered), offered)
        if near.filters or 0 < len(near.files) < len(offered) or side in (Side.OUT, Side.ONLY):
            yield near
    if side in (Side.ALSO, Side.INSTEAD, Side.ONLY):
        yield _of(story, span, side, every)


def _like(offered: Sequence[str], held: Sequence[str]) -> tuple[str, ...]:
    """Those of the files that were offered; where there are none, those that have a word of their names."""
    said = {part for path in offered for part in PART.findall(fold(path.rpartition("/")[2].rpartition(".")[0]))}
    alike = (path for path in held if not said.isdisjoint(PART.findall(fold(path.rpartition(".")[0]))))
    return tuple(path for path in held if path in offered) or tuple(alike)


def _of(story: Story, span: Span, side: Side, held: Sequence[str]) -> Told:
    files: Sequence[str] = found(story, span, held)
    times = [one for one in story.times if span[0] <= one.start < span[1]]
    for one in times:
        pool = files or held
        if by_name(one, story.text, pool) or any(in_years(path, one, story.text) for path in pool):
            files = [path for path in pool if in_years(path, one, story.text)]
            times = [other for other in times if other is not one]
    return _bounded(Told("", side, tuple(files)), times, held)


def _bounded(told: Told, times: Sequence[Measured], held: Sequence[str]) -> Told:
    filters = times[0].filters if len(times) == 1 and "several_times" not in times[0].filters else {}
    if not filters:
        return told
    if told.side is not Side.OUT:
        return replace(told, files=told.files or tuple(held), filters=filters)
    turned = opposed(filters)
    return replace(told, side=Side.ONLY, files=tuple(held), filters=turned) if turned and not told.files else told


def found(story: Story, span: Span, held: Sequence[str]) -> tuple[str, ...]:
    items = _items(story, span, held)
    here = [item for item in items if not item.only(Sort.PLACE)]
    if here:
        return tuple(path for path in held if path in together(items))
    places = [path for item in items for path in item.files]
    return tuple(path for path in held if path in places)


def _items(story: Story, span: Span, held: Sequence[str]) -> list[Item]:
    among_held = replace(story.ground, paths=tuple(held), folders=frozenset())
    bearing = Bearing(replace(story, ground=among_held))
    part = Part(*span, 0, Stance.TOLD)
    return bearing.items([part]) or [Item((atom,), atom.files) for atom in bearing.atoms if part.has(atom)]


def _no_kind(story: Story, span: Span, told: Told, offered: Sequence[str]) -> Told:
    """ "Not the folder Photos", of photos all: what chooses all of them is no choice."""
    folder = _folder(story, span)
    lying = tuple(path for path in offered if folder is not None and path.startswith(f"{folder}/"))
    return replace(told, files=lying) if len(told.files) == len(offered) > len(lying) > 0 else told


def _folder(story: Story, span: Span) -> str | None:
    """The one folder that is spoken of."""
    told = [folder for folder, by in story.places if span[0] <= by[0].start < span[1] and story.ground.below(folder)]
    return told[0] if len(told) == 1 else None


def _weighs(story: Story, span: Span) -> bool:
    """Is there a word in it that may have meant something?"""
    said = [word for word in story.words if span[0] <= word.start < span[1] and PART.search(word.text)]
    told = [word for word in said if not word.filler and word.folded not in TALK | PRONOUNS]
    return (any(_means(word) for word in told) and len(told) > 1) or any(map(_plainly, told))


def _means(word: Word) -> bool:
    return word.unknown or bool({*KINDS, *ACTIONS} & {*word.concepts})


def _plainly(word: Word) -> bool:
    """A kind, or a name with a dot or a number in it."""
    return bool({*KINDS} & {*word.concepts}) or bool(re.search(r"\d|\w\.\w", fold(word.text)))
