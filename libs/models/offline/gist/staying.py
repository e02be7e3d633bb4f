"""What a story wants kept, whatever else of it is to go: it is in no deed of deleting."""

from __future__ import annotations

from collections.abc import Sequence

from libs.models.offline.gist import cues
from libs.models.offline.gist.bearing import Bearing, Item, Sort
from libs.models.offline.gist.bounds import by_name, in_years
from libs.models.offline.gist.stances import Part, Stance
from libs.models.offline.gist.story import PART
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold

RANK = regex(
    r"(?<!\w)(?:newest|latest|last|most recent|best|biggest|neue?ste[nrs]?|aktuellste[nrs]?|letzte[nrs]?|beste[nrs]?"
    r"|ultim[oa]s?|mas (?:nuev|recient)\w+|mejor(?:es)?)(?!\w)"
)
""" "Keep only the newest": which of several that is, no name tells."""
LEAST = 3
"""Letters of a word that makes files fellows; and words behind "keep" that tell of what."""


def left_of(bearing: Bearing, told: Sequence[Part], chosen: Sequence[str]) -> list[str]:
    """What of these nobody wants kept."""
    kept = {*staying(bearing, told), *_of_their_years(bearing, told, chosen)}
    return [path for path in chosen if path not in kept]


def staying(bearing: Bearing, told: Sequence[Part]) -> list[str]:
    """The files that are to stay, by their names."""
    times = [one.start for one in bearing.story.times]
    kept = [part for part in told if part.stance is Stance.STAY]
    kept = [part for part in kept if not any(part.start <= at < part.end for at in times)]
    kept = [part for part in kept if not cues.first(cues.ONCE, bearing.plain[part.start : part.end])]
    items = [item for part in kept for item in _kept(bearing.items([part]))]
    return [path for item in items for path in _exactly(bearing, item)]


def fellows(bearing: Bearing, told: Sequence[Part]) -> list[str]:
    """All that "the rest" may be: what is in the folder that is spoken of, or called like what stays."""
    kept = staying(bearing, told)
    if len(kept) > 1 and RANK.search(bearing.plain):
        return []
    places = [atom for atom in bearing.atoms if atom.folder != "."]
    if not kept:
        return []
    if places:
        return list(places[0].files)
    return [path for path in bearing.held if any(_alike(path, other) for other in kept)]


def only_kept(bearing: Bearing, told: Sequence[Part]) -> bool:
    """ "Keep only the final one", "nur die letzte behalten": so the rest may go."""
    kept = [part for part in told if part.stance is Stance.STAY]
    said = [bearing.plain[part.start : part.end] for part in kept]
    return any(cues.spans(cues.ONLY, one) and cues.spans(cues.STAYS, one) for one in said)


def ruled_out(bearing: Bearing, told: Sequence[Part]) -> bool:
    """ "Take them away from here, but don't delete them": nothing is to be deleted at all."""
    kept = [part for part in told if part.stance is Stance.STAY and not bearing.items([part])]
    return any(cues.first(cues.NEVER, bearing.plain[part.start : part.end]) for part in kept)


def spares_unknown(bearing: Bearing, told: Sequence[Part]) -> bool:
    """ "But not the blurbs", which nobody knows: it may be any of them that is to stay."""
    times = [one.start for one in bearing.story.times]
    kept = [part for part in told if part.stance is Stance.STAY and part.cues]
    kept = [part for part in kept if not bearing.items([part]) and not any(part.start <= at < part.end for at in times)]
    return any(_unknown(bearing, part) for part in kept)


def _unknown(bearing: Bearing, part: Part) -> bool:
    """Is one of the few words right behind its cue known to nobody?"""
    behind = [word for word in bearing.story.words if part.cues[0][1] <= word.start < part.end]
    return any(word.unknown for word in behind[:LEAST])


def _kept(items: Sequence[Item]) -> Sequence[Item]:
    """A folder beside something else that is to stay only says where."""
    return [item for item in items if not item.only(Sort.PLACE)] or items


def _exactly(bearing: Bearing, item: Item) -> Sequence[str]:
    """Of several that have all the words, those whose whole name was said."""
    if len(item.files) < 2:
        return item.files
    said = _line(bearing.plain[item.atoms[0].start : item.atoms[-1].end])
    whole = [path for path in item.files if f" {_line(fold(_stem(path)))} " in f" {said} "]
    return whole or item.files


def _of_their_years(bearing: Bearing, told: Sequence[Part], chosen: Sequence[str]) -> list[str]:
    """ "Only this from 2026", where the names say their years."""
    kept = [part for part in told if part.stance is Stance.STAY]
    text = bearing.story.text
    times = [one for one in bearing.story.times if any(part.start <= one.start < part.end for part in kept)]
    years = [one for one in times if by_name(one, text, chosen)]
    return [path for path in chosen if any(in_years(path, one, text) for one in years)]


def _alike(path: str, other: str) -> bool:
    """In one folder, with a word of one name in the other."""
    words = ({part for part in PART.findall(fold(_stem(one))) if len(part) >= LEAST} for one in (path, other))
    return path.rpartition("/")[0] == other.rpartition("/")[0] and not set.isdisjoint(*words)


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _line(text: str) -> str:
    return " ".join(PART.findall(text))
