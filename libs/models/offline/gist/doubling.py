"""Files that are there twice, in a story: "some of this is in here twice, one of each is plenty".

Which are the same is told by what is in them, so that it needs no names; a folder or a kind that is spoken of beside
them is where they are looked for. Where somebody says that a name has "copy" in it, names are meant, and no twins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from libs.models.offline.gist import cues
from libs.models.offline.gist.bearing import JOINT, Atom, Bearing, Sort
from libs.models.offline.gist.deeds import Deed, undouble
from libs.models.offline.gist.stances import Part, Stance
from libs.models.offline.selection import escaped
from libs.retrieval.regexes import regex

TWICE = regex(
    r"(?<!\w)(?:twice|repeats|two times|three times|several times|more than once"
    r"|doubles?|doubled|duplicat\w*|dupes?|dups"
    r"|(?:exact(?:ly)? )?the (?:exact )?same (?:thing|stuff|file|content|one)s?|exactly the same|identical"
    r"|spare cop(?:y|ies)|(?:two|three|four|several|many) of (?:everything|each|most)"
    r"|zweimal|dreimal|doppelt\w*|doppler|mehrfach|mehrmals|duplikat\w*|dublette\w*|identisch\w*"
    r"|(?:genau )?das ?(?:gleiche|selbe)"
    r"|gleiche[nmr]? (?:datei\w*|inhalt\w*)|(?:dos|tres|varias) veces|repes?|repetid\w*|duplicad\w*|igualit\w*"
    r"|identic[oa]s?|por duplicado|lo mismo|la misma)(?!\w)"
)
BY_NAME = regex(
    r"(?<!\w)(?:in (?:the|its|their|his) (?:file ?)?names?|im (?:datei)?namen|en (?:el|su) nombre|called|named"
    r"|heißt|heißen"
    r"|se llaman?|pone|ponen|dice|lleva|llevan|says?|steht|with the word)(?!\w)"
)
OF_EACH = regex(r"(?<!\w)(?:one|eine?s?|una?|uno) (?:of|from|von|de) (?:each|every\w*|jede[mnrs]?|cada)(?!\w)")
""" "Take out the spare ones and leave me one of each"."""
EVERYWHERE = regex(
    r"(?<!\w)(?:everywhere|anywhere|wherever|all (?:the )?(?:sub)?folders|every folder|subfolders|uberall"
    r"|allen (?:unter)?ordnern"
    r"|unterordner\w*|egal wo"
    r"|en todas partes|todas las carpetas|subcarpetas|en cualquier)(?!\w)"
)
LEAST = 2
"""Files among which there may be twins."""


def heard(bearing: Bearing, told: Sequence[Part]) -> Deed | None:
    """Of each content one stays."""
    twice, once = TWICE.search(bearing.plain), cues.first(cues.ONCE, bearing.plain)
    cleared = any(part.stance in (Stance.GO, Stance.TIDY) for part in told)
    each = OF_EACH.search(bearing.plain) if cleared else None
    said = twice or each
    if said is None or not (cleared or once):
        return None
    if _by_name(bearing, told) or any(atom.start <= said.start() < atom.end for atom in _named(bearing)):
        return None
    return undouble(**_within(bearing, told, said.start()))


def _by_name(bearing: Bearing, told: Sequence[Part]) -> bool:
    """Is it said that a name has the mark of a copy, or that those with one are to go?"""
    marks = [atom for atom in bearing.atoms if atom.sort is Sort.MARK]
    going = [part for part in told if part.stance is Stance.GO]
    gone = any(part.has(atom) and "(" in bearing.plain[atom.start : atom.end] for part in going for atom in marks)
    return gone or (bool(marks) and BY_NAME.search(bearing.plain) is not None)


def _named(bearing: Bearing) -> list[Atom]:
    return [atom for atom in bearing.atoms if atom.sort is Sort.NAME]


def _within(bearing: Bearing, told: Sequence[Part], at: int) -> dict[str, Any]:
    """Where the twins are looked for: what the same clause names, or the clause that wants them gone."""
    if EVERYWHERE.search(bearing.plain):
        return {}
    spoken = [part for part in told if part.stance is Stance.GO or _of_twins(bearing, part)]
    place = next((atom for atom in _in(bearing, spoken) if atom.sort is Sort.PLACE), None)
    if place is not None:
        return {"folder": place.folder}
    atoms = _in(bearing, [part for part in told if part.stance is Stance.GO or part.start <= at < part.end])
    place = next((atom for atom in atoms if atom.folder != "."), None)
    if place is not None:
        return {"folder": place.folder}
    listed = [atom for atom in atoms if atom.start > at and JOINT.search(bearing.plain, at, atom.start)]
    atoms = [atom for atom in atoms if atom not in listed]  # "what is in here twice, and the old list"
    chosen = [atom for atom in atoms if atom.sort in (Sort.NAME, Sort.KIND) and len(atom.files) >= LEAST]
    files = [path for path in bearing.held if chosen and all(path in atom.files for atom in chosen)]
    if not any(map(bearing.second, files)) and any(map(bearing.second, bearing.held)):
        return {}  # what they call the files is in no name
    return {"include": [escaped(path) for path in files]} if len(files) >= LEAST else {}


def _of_twins(bearing: Bearing, part: Part) -> bool:
    said = bearing.plain[part.start : part.end]
    return TWICE.search(said) is not None or cues.first(cues.ONCE, said) is not None


def _in(bearing: Bearing, told: Sequence[Part]) -> list[Atom]:
    return [atom for atom in bearing.atoms if any(part.has(atom) for part in told)]
