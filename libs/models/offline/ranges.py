"""Files from one to another: "the photos DSC_4101 to DSC_4112", "lösch IMG_1 bis IMG_9", "las fotos foto 1 a foto 5".

Where both are there, in one folder, with the same letters and a number, all that have a number between are meant. They
are put into the request by their names. "Rename a1 to a2" is no such thing: a word that may also lead to a new name
needs a noun of many before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from libs.models.offline.ground import Ground
from libs.models.offline.mentioned import quoted
from libs.models.offline.paths import QUOTED
from libs.retrieval.words import fold

MOST = 400
"""Files that a request can name so."""
MANY = re.compile(
    r"\b(?:photos|pictures|images|files|scans|pics|documents|videos|fotos|bilder|dateien|dokumente|imágenes|archivos"
    r"|ficheros|documentos)\s+(?P<of>(?:from|von|de|desde)\s+)?$",
    re.IGNORECASE,
)
RANGE = re.compile(
    r"(?P<first>(?<!\d)\d+)(?P<end>\.\w{1,5})?\s+(?:(?P<sure>up\s+to|through|bis|hasta)|to|a)\s+"
    r"(?P<stem>[^\W\d_][\w-]*?(?: [\w-]*?){0,3}?)(?P<last>\d+)(?P<close>\.\w{1,5})?(?![\w*/-])",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"(?P<stem>.*?)(?P<number>\d+)")


def spelled(text: str, ground: Ground) -> str:
    """The request with the names of all these files in the place of the two."""
    for found in reversed([*RANGE.finditer(text)]):
        start = found.start() - len(found["stem"])
        if start < 0:
            continue
        same = fold(text[start : found.start()]) == fold(found["stem"]) and not text[:start][-1:].isalnum()
        inside = any(span.start() < found.end() and start < span.end() for span in QUOTED.finditer(text))
        many = MANY.search(text[:start])
        if not same or inside or not (found["sure"] or many):
            continue
        start = many.start("of") if many and many["of"] else start
        if 1 < len(files := _between(found, text, ground)) <= MOST:
            text = f"{text[:start]}{quoted(files)}{text[found.end() :]}"
    return text


def _between(found: re.Match[str], text: str, ground: Ground) -> list[str]:
    """The files of the one folder that has both; of several, the folder that the request names."""
    stem, low, high = fold(found["stem"]), int(found["first"]), int(found["last"])
    by_folder: dict[str, dict[str, int]] = {}
    for path in ground.paths or ():
        folder, _, name = path.rpartition("/")
        one = NUMBERED.fullmatch(fold(name.rpartition(".")[0]))
        of_them = (
            one is not None and one["stem"] == stem and fold(name).endswith(fold(found["end"] or found["close"] or ""))
        )
        if one and of_them and low <= int(one["number"]) <= high:
            by_folder.setdefault(folder, {})[path] = int(one["number"])
    whole = {folder: held for folder, held in by_folder.items() if {low, high} <= {*held.values()}}
    named = [folder for folder in whole if folder and fold(folder.rpartition("/")[2]) in fold(text)]
    held = _sole(named, whole) or _sole([*whole], whole)
    return sorted(held, key=lambda path: (held[path], path))


def _sole(folders: Sequence[str], held: dict[str, dict[str, int]]) -> dict[str, int]:
    return held[folders[0]] if len(folders) == 1 else {}
