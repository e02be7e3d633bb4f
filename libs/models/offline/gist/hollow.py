"""What holds nothing, in a story: empty files, empty folders, or both, each told apart from what is listed beside it.

"Tmp files, half downloaded things and empty folders" are three wishes. What is said beside "empty" between two joints
of the list is what has to be empty; the rest of the list is read as if that part were not there. A folder that is named
among what is to go may go only if nothing is in it: files are told by their own names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from libs.models.offline.gist.bearing import JOINT, Bearing, Sort, together
from libs.models.offline.gist.deeds import LIST, NODES, Deed
from libs.models.offline.gist.stances import Part, Stance
from libs.models.offline.gist.staying import staying
from libs.models.offline.gist.story import Span
from libs.models.offline.selection import escaped
from libs.retrieval.regexes import regex

EMPTY = regex(
    r"(?<!\w)(?:empt(?:y|ies)(?! (?:the|my|this|out|it|them))"
    r"|blank (?:\w+ )?(?:ones|files?|documents?|docs?|notes?|pages?)"
    r"|(?:nothing|nowt|not a (?:word|thing|letter)|no (?:content|text|words)) (?:\w+ ){0,3}?"
    r"(?:in (?:it|them|there|those)|inside|written|typed|on (?:it|them))(?! (?:worth|that|i|we))"
    r"|zero (?:bytes?|size|kb|in size)|size is zero|0[ -]?(?:kb|bytes?|b)"
    r"|leere[nrms]?|(?:ist|sind|ganz|vollig|komplett|total) leer|leer (?:ist|sind)|nix drin"
    r"|nichts (?:\w+ ){0,2}?(?:drin|drinsteht|steht|geschrieben|enthalten)|ohne inhalt"
    r"|vaci[oa]s?|(?:nada|sin) (?:\w+ ){0,2}?(?:dentro|escrito|contenido)|en blanco"
    r"|no (?:tienen?|hay|ponen?|dicen?) nada)(?!\w)"
)
FOLDERS = regex(r"(?<!\w)(?:folders?|director(?:y|ies)|ordner|verzeichnis(?:se)?|carpetas?)(?!\w)")
WHERE = regex(
    r"(?<!\w)(?:in|im|all|alle|allen|den|dem|der|the|las|los|todas|every|of|from|aus|de|other)\s+(?:[\w']+\s+)?$"
)
"""Behind one of these a folder is where something is, and not what holds nothing."""
DENIED = regex(r"(?<!\w)(?:not|nicht|keine|no|ni)\s+(?:the |die |los |las )?$")
FILE, FOLDER = "file", "directory"


@dataclass(frozen=True, slots=True)
class Hollow:
    """One part of a list that is of empty ones: its place, and what they are."""

    start: int
    end: int
    kind: str
    folder: str = ""
    """The one that is named."""


def hollow(bearing: Bearing, told: Sequence[Part]) -> tuple[Hollow, ...]:
    """All that has to be empty to go; "empty files and folders" are two."""
    found = [one for match in EMPTY.finditer(bearing.plain) for one in _of_list(bearing, told, match)]
    return tuple(dict.fromkeys((*found, *_by_name(bearing, told))))


def emptied(bearing: Bearing, told: Sequence[Part], hollows: Sequence[Hollow]) -> Deed | None:
    """They go, wherever they are or in the folder that is spoken of; each kind once."""
    if not any(part.stance in (Stance.GO, Stance.TIDY) for part in told):
        return None
    kinds = {one.kind: one for one in reversed(hollows) if not one.folder}
    named = [one.folder for one in hollows if one.folder and FOLDER not in kinds]
    deeds = [_deed(bearing, told, kinds[kind]) for kind in (FILE, FOLDER) if kind in kinds]
    deeds += [_going({"path": ".", "recursive": True, "include": [*map(escaped, named)]}, FOLDER)] if named else []
    return reduce(Deed.then, deeds) if deeds else None


def without(told: Sequence[Part], hollows: Sequence[Hollow]) -> list[Part]:
    """The clauses less what is said of empty ones."""
    for one in hollows:
        told = [piece for part in told for piece in _cut(part, (one.start, one.end))]
    return list(told)


def _by_name(bearing: Bearing, told: Sequence[Part]) -> Iterator[Hollow]:
    """Folders without any file, among what is to go."""
    going = [part for part in told if part.stance is Stance.GO]
    for folder, by in bearing.story.places:
        if not bearing.story.ground.below(folder) and any(part.has(by[0]) for part in going):
            yield Hollow(by[0].start, by[-1].end, FOLDER, folder)


def _of_list(bearing: Bearing, told: Sequence[Part], found: re.Match[str]) -> Iterator[Hollow]:
    part = next((one for one in told if one.start <= found.start() < one.end), None)
    if part is None or part.stance is Stance.STAY or DENIED.search(bearing.plain, part.start, found.start()):
        return
    start, end = _within_joints(bearing.plain, part, found.span())
    yield Hollow(start, end, FOLDER if of_folders(bearing.plain[start:end]) else FILE)
    after = JOINT.match(bearing.plain, end, part.end)
    beside = FOLDERS.match(bearing.plain[after.end() :].lstrip()) if after else None
    if after is not None and beside is not None:
        upto = bearing.plain.index(beside.group(), after.end()) + len(beside.group())
        yield Hollow(start, upto, FOLDER)


def of_folders(said: str) -> bool:
    """Is it folders that are to be empty? Right beside that word they are, else where they are not merely a place."""
    noun = FOLDERS.search(said)
    return noun is not None and (_beside(said, noun) or WHERE.search(said[: noun.start()]) is None)


def _beside(said: str, noun: re.Match[str]) -> bool:
    """ "The empty folders", "las carpetas vacías"."""
    return any(
        said[min(noun.end(), one.end()) : max(noun.start(), one.start())].isspace() for one in EMPTY.finditer(said)
    )


def _within_joints(plain: str, part: Part, span: Span) -> Span:
    """The part of the list that it stands in."""
    before = [joint.end() for joint in JOINT.finditer(plain, part.start, span[0])]
    after = JOINT.search(plain, span[1], part.end)
    return (before[-1] if before else part.start), (after.start() if after else part.end)


def _deed(bearing: Bearing, told: Sequence[Part], one: Hollow) -> Deed:
    part = next(part for part in told if part.start <= one.start < part.end)
    place = next((atom.folder for atom in bearing.atoms if atom.sort is Sort.PLACE and part.has(atom)), ".")
    args: dict[str, Any] = {"path": place, "recursive": True}
    if spared := [escaped(path) for path in staying(bearing, told)]:
        args["exclude"] = spared
    if only := _named(bearing, one):
        args["include"] = only
    return _going(args, one.kind)


def _going(args: dict[str, Any], kind: str) -> Deed:
    listing = {**args, "node_kind": kind, "empty": True}
    return Deed(((LIST, listing), ("manage-files.delete", {"paths": NODES.format(n=1)})))


def _named(bearing: Bearing, one: Hollow) -> list[str]:
    """ "The empty txt files": which of the empty ones."""
    items = bearing.items([Part(one.start, one.end, 0, Stance.GO)]) if one.kind == FILE else []
    return [escaped(path) for path in together([item for item in items if not item.only(Sort.PLACE)])]


def _cut(part: Part, span: Span) -> Iterator[Part]:
    """What is left of a clause on both sides."""
    if span[1] <= part.start or part.end <= span[0]:
        yield part
        return
    for start, end in ((part.start, span[0]), (span[1], part.end)):
        if end > start:
            cues = tuple(cue for cue in part.cues if start <= cue[0] < end)
            yield replace(part, start=start, end=end, cues=cues)
