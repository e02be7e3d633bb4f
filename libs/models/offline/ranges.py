"""Files from one to another: "the photos DSC_4101 to DSC_4112", "lösch IMG_1 bis IMG_9", "las fotos foto 1 a foto 5".

Where both are there, in one folder, with the same letters and a number, all that have a number between are meant. They
are put into the request by their names. "Rename a1 to a2" is no such thing: a word that may also lead to a new name
needs a noun of many before it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence

from libs.models.offline.ground import Ground
from libs.models.offline.mentioned import quoted
from libs.models.offline.paths import QUOTED
from libs.retrieval.likeness import alike, terms
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold

MOST = 400
"""Files that a request can name so."""
MANY = regex(
    r"\b(?:photos|pictures|images|files|scans|pics|documents|videos|fotos|bilder|dateien|dokumente|imágenes|archivos"
    r"|ficheros|documentos)\s+(?P<of>(?:from|von|de|desde)\s+)?$",
    re.IGNORECASE,
)
RANGE = regex(
    r"(?P<first>(?<!\d)\d+)(?P<end>\.\w{1,5})?\s+(?:(?P<sure>up\s+to|through|bis|hasta|\.{2,4}|…)|to|a)\s+"
    r"(?P<stem>[^\W\d_][\w-]*?(?: [\w-]*?){0,3}?)(?P<last>\d+)(?P<close>\.\w{1,5})?(?![\w*/-])",
    re.IGNORECASE,
)
NUMBERED = regex(r"(?P<stem>.*?)(?P<number>\d+)")
SEVERAL = regex(
    r"(?P<stem>[^\W\d_]\w*(?: [^\W\d_]\w*){0,2}?) (?:(?P<from>from|von|de|del)\s+)?"
    r"(?P<numbers>\d+(?:(?:\s*,\s*|\s*,?\s+(?:and|und|y|through|bis|hasta|(?(from)to|(?!))|(?(from)al?|(?!)))\s+)\d+)+)"
    r"(?![\w*/.-]*\w)",
    re.IGNORECASE,
)
""" "Reports 2019, 2020 and 2023", "die Berichte von 2019 bis 2022": one noun and several numbers."""
TO = regex(r"(\d+)\s+(?:to|through|bis|a|al|hasta)\s+(\d+)", re.IGNORECASE)


COUNTED = regex(
    r"(?P<named>(?P<stem>[^\W\d_][\w-]*?(?: [\w-]*?){0,3}?)(?<!\d)\d+(?:\.\w{1,5})?"
    r"(?:\s*(?:,|and|und|y)\s*(?P=stem)\d+(?:\.\w{1,5})?)+)"
    r"\s*,?\s*(?:(?:and|und|y)\s+)?(?:so\s+on|so\s+forth|etc\.?|usw\.?|so\s+weiter|as[ií]\s+sucesivamente|\.\.\.|…)",
    re.IGNORECASE,
)
""" "Figure 1, Figure 2 ..."."""
OPEN = regex(
    r"\b(?:everything|anything|alles|todo(?:\s+lo)?|(?:(?:all|alle|tod[oa]s)\s+)?(?:(?:the|my|die|l[oa]s|mis)\s+)?(?P<noun>[^\W\d_]{3,}))"
    r"(?:\s+(?:(?:that|which)\s+(?:is|are|come)\s+|l[oa]\s+)?(?:in|from|of|en|de|aus|im|von)\s+(?:(?:the|my|den|dem|la|el)\s+)?(?P<in>[\w-]+))?"
    r"\s*,?\s+(?:(?:that|which)\s+(?:come|comes|is|are)\s+)?"
    r"(?P<side>before|after|up\s+to|until|vor|bis(?:\s+zu[mr]?)?|antes\s+de|despu[eé]s\s+de|hasta|a\s+partir\s+de)\s+"
    r"(?P<stem>[^\W\d_][\w-]*?(?: [\w-]*?){0,3}?)(?<!\d)(?P<number>\d+)(?P<end>\.\w{1,5})?(?![\w*/-])",
    re.IGNORECASE,
)
""" "Everything before inv 003", "the invoices up to inv 003": one end alone."""
SIDES: Mapping[str, Callable[[int, int], bool]] = {
    "before": operator.lt,
    "vor": operator.lt,
    "antes": operator.lt,
    "after": operator.gt,
    "despues": operator.gt,
    "a": operator.ge,
    "up": operator.le,
}
"""By the first word; any other takes the end in."""
GENERIC = regex(r"(?:all|alle|files?|dateien?|archivos?|ficheros?|ones|things)$", re.IGNORECASE)
NEW = regex(r"\b(?:to|as|into|called|named|be|like|zu|als|in|namens|a|como|llamen)\s+$", re.IGNORECASE)
"""What follows is no name of any that is there."""


def spelled(text: str, ground: Ground) -> str:
    """The request with the names of all these files in the place of the two."""
    for found in reversed([*COUNTED.finditer(text)]):
        if not NEW.search(text[: found.start()]) and (files := _all_of(found, text, ground)):
            text = f"{text[: found.start()]}{quoted(files)}{text[found.end() :]}"
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
    return _each_spelled(_open_spelled(text, ground), ground)


def _open_spelled(text: str, ground: Ground) -> str:
    """The same where only one end is said."""
    for found in reversed([*OPEN.finditer(text)]):
        within = SIDES.get(fold(found["side"]).split()[0], SIDES["up"])
        number, held = int(found["number"]), _counted(fold(found["stem"]), ground, ending=fold(found["end"] or ""))
        ends = {folder: files for folder, files in held.items() if number in files.values()}
        around = _sole([one for one in ends if not found["in"] or fold(one).endswith(fold(found["in"]))], ends)
        files = sorted((path for path, n in around.items() if within(n, number)), key=lambda path: (around[path], path))
        if 0 < len(files) <= MOST and _so_called(found["noun"], files):
            text = f"{text[: found.start()]}{quoted(files)}{text[found.end() :]}"
    return text


def _so_called(noun: str | None, files: Sequence[str]) -> bool:
    """Is it a word for any files, or one of the names of all of these?"""
    if noun is None or GENERIC.match(noun):
        return True
    said = terms(noun)
    return bool(said) and all(alike(said[0], dict.fromkeys(terms(path))) for path in files)


def _each_spelled(text: str, ground: Ground) -> str:
    """The same where one noun has several numbers, and each of them is that of one file of this name."""
    for found in reversed([*SEVERAL.finditer(text)]):
        said = any(span.start() < found.end() and found.start() < span.end() for span in QUOTED.finditer(text))
        words = found["stem"].split(" ")
        for stem in () if said else (" ".join(words[n:]) for n in range(len(words))):
            if files := _one_each(stem, found["numbers"], text, ground):
                text = f"{text[: found.end('stem') - len(stem)]}{quoted(files)}{text[found.end() :]}"
                break
    return text


def _one_each(stem: str, numbers: str, text: str, ground: Ground) -> list[str]:
    """The files of one folder that are called so, one for each number."""
    ends = [(int(low), int(high)) for low, high in TO.findall(numbers)]
    single = [int(number) for number in re.findall(r"\d+", TO.sub("", numbers))]
    asked = {*single, *(number for span in ends for number in span)}
    told: dict[str, dict[str, int]] = {}
    for path in ground.paths or ():
        folder, _, name = path.rpartition("/")
        one = NUMBERED.fullmatch(name.rpartition(".")[0])
        number = int(one["number"]) if one else 0
        wanted = number in single or any(low <= number <= high for low, high in ends)
        if one and wanted and _called(one["stem"], stem):
            told.setdefault(folder, {})[path] = number
    whole = {
        folder: held
        for folder, held in told.items()
        if asked <= {*held.values()} and len({*held.values()}) == len(held)
    }
    return _numbered(whole, text)


def _called(name: str, said: str) -> bool:
    """The same words, in the singular or plural."""
    told, asked = terms(name), terms(said)
    pairs = zip(told, asked, strict=False)
    return len(told) == len(asked) > 0 and all(alike(one, {two: None}) for one, two in pairs)


def _all_of(found: re.Match[str], text: str, ground: Ground) -> list[str]:
    """All files of one folder that are called so, with a number, where those that were named are among them."""
    said = {int(number) for number in re.findall(r"(?<!\d)\d+", found["named"])}
    held = _counted(fold(found["stem"]), ground)
    return _numbered({folder: files for folder, files in held.items() if said <= {*files.values()}}, text)


def _between(found: re.Match[str], text: str, ground: Ground) -> list[str]:
    """The files of the one folder that has both; of several, the folder that the request names."""
    low, high = int(found["first"]), int(found["last"])
    held = _counted(fold(found["stem"]), ground, ending=fold(found["end"] or found["close"] or ""))
    told = {
        folder: {path: number for path, number in files.items() if low <= number <= high}
        for folder, files in held.items()
    }
    return _numbered({folder: files for folder, files in told.items() if {low, high} <= {*files.values()}}, text)


def _counted(stem: str, ground: Ground, *, ending: str = "") -> dict[str, dict[str, int]]:
    """The files that are called so, with a number, by their folders."""
    told: dict[str, dict[str, int]] = {}
    for path in ground.paths or ():
        folder, _, name = path.rpartition("/")
        one = NUMBERED.fullmatch(fold(name.rpartition(".")[0]))
        if one and one["stem"] == stem and fold(name).endswith(ending):
            told.setdefault(folder, {})[path] = int(one["number"])
    return told


def _numbered(by_folder: dict[str, dict[str, int]], text: str) -> list[str]:
    named = [folder for folder in by_folder if folder and fold(folder.rpartition("/")[2]) in fold(text)]
    held = _sole(named, by_folder) or _sole([*by_folder], by_folder)
    return sorted(held, key=lambda path: (held[path], path))


def _sole(folders: Sequence[str], held: dict[str, dict[str, int]]) -> dict[str, int]:
    return held[folders[0]] if len(folders) == 1 else {}
