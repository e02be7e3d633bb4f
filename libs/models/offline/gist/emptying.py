"""What comes out of a folder and is told no other place: "get everything out of Old", "hol die Fotos aus Urlaub raus".

It comes to lie beside the folder, one level up. Nothing of that is deleted, however much "raus" and "saca" may sound
like it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.models.offline.gist import whereto
from libs.models.offline.gist.choosing import Choosing
from libs.models.offline.gist.deeds import Deed, move
from libs.models.offline.gist.story import Some, Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word

_POLITE = r"(?:\s*,?\s*(?:please|pls|thanks?|bitte|danke|por\s+favor|porfa|gracias))*\s*[.!?]*\s*$"
_UP = r"(?:up|out|back|one|a|level|folder|up|right|to|in|into|here|this|main|top|the)"
_THE = (
    r"(?:(?:the|my|that|dem|der|den|die|meine[nmr]|la|el|mi|esa)\s+)*(?:(?:folder|ordner|mappe|carpeta)\s+)?[\"“„«']?$"
)
TAKE = regex(
    r"\b(?:get|take|pull|fetch|bring|grab|tip|dump|lift|move|put|shift|drag|empty|hol\w*|nimm|r[äa]um\w*|verschieb\w*"
    r"|tu|zieh\w*|pack\w*|leg\w*|leere?|s[aá]ca\w*|mueve\w*|mover|pasa\w*|trae\w*|vac[ií]a\w*)\b",
    re.IGNORECASE,
)
OUT_OF = regex(rf"\b(?:out\s+of|from|inside|in|aus|von|de|en)\s+{_THE}", re.IGNORECASE)
EMPTY = regex(rf"\b(?:empty|leere?|vac[ií]a\w*)\s+{_THE}", re.IGNORECASE)
OUT = regex(r"\bout\s+of\s+|\bs[aá]ca\w*\b|\bvac[ií]a\w*\b", re.IGNORECASE)
HERE = regex(
    rf"^[\"”“»']?(?:\s+(?:folder|ordner|carpeta))?(?P<here>\s+(?:{_UP}\s+)*"
    r"(?:here|up|out|level\s+up|(?:this|the\s+main|the\s+top|the\s+parent)\s+folder)"
    r"|\s+(?:wieder\s+)?(?:hier\s*)?(?:raus|heraus|(?:r|her)aus(?:holen|nehmen)|hierher|hier\s+(?:rein|hin)|nach\s+oben|hoch"
    r"|(?:eine\s+)?ebene\s+(?:h[öo]her|nach\s+oben))"
    r"|\s+(?:aqu[ií]|ac[aá]|para\s+ac[aá]|fuera|(?:para\s+|hacia\s+)?(?:arriba|afuera)|a\s+la\s+carpeta\s+principal))?"
    rf"{_POLITE}",
    re.IGNORECASE,
)
WHOLE = regex(
    r"\b(?:everything|(?:it\s+)?all|(?:the|all)\s+(?:stuff|files|things|contents?|rest)|(?:what|whatever)(?:['’]s|\s+is)?"
    r"|alles|allen?|(?:die|alle)\s+(?:dateien|sachen)|was"
    r"|todo|tod[oa]s|(?:los\s+)?archivos|lo\s+que(?:\s+hay)?|las\s+cosas|el\s+contenido)\b",
    re.IGNORECASE,
)


def heard(story: Story) -> Iterator[Deed]:
    """The files that come out, to where the folder lies."""
    for folder, by in story.places:
        if (some := _coming_out(story, folder, by)) is not None:
            yield move(some, folder.rpartition("/")[0] or ".")


def _coming_out(story: Story, folder: str, by: tuple[Word, ...]) -> Some | None:
    before, after = story.text[: by[0].start], HERE.match(story.text[by[-1].end :])
    verb, out_of = TAKE.search(before), OUT_OF.search(before)
    held = story.ground.below(folder)
    if after is None or verb is None or not held or any(place.folder != folder for place in whereto.new(story)):
        return None
    if EMPTY.search(before):
        return Some(held, folder) if after["here"] else None
    if out_of is None or not (after["here"] or OUT.search(before[verb.start() :])):
        return None
    what = before[verb.end() : out_of.start()]
    if WHOLE.search(what):
        return Some(held, folder)
    beside = ((by[0].start, by[-1].end), verb.span())
    return Choosing(story, beside, verb.start(), ((folder, by),)).files(whole=False, wide=False)
