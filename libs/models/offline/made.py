"""What the turn before has made, and what it shall be called: "call it June.zip", once June's letters are packed.

Nobody may have said its name, and then only the answer tells it. So what was made is what is there, is named in that
answer, and is of the sort that the deed makes: an archive, a copy, a folder, or a file with its new name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from libs.events.committee import Exchange
from libs.models.offline import corrections
from libs.models.offline.archives import is_archive
from libs.models.offline.clauses import Clause, Item, Mood, Reading
from libs.models.offline.ground import Ground
from libs.models.offline.paths import FILE_NAME
from libs.models.offline.places import places
from libs.models.offline.reading import read
from libs.retrieval.lexicon import listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word
from libs.skills.categories import split_suffix

AGAIN = regex(
    r"^\W*(?:(?:now|then|so|and|please|jetzt|nun|dann|und|bitte|ahora|luego|y|por\s+favor)\b\W*)+", re.IGNORECASE
)
RENAMED = regex(
    r"^(?:rename\s+(?:it|that|the\s+(?:zip|archive|copy|folder|file))\s+(?:to|as|into)\s+(?P<what>\S.*)"
    r"|(?:change|set)\s+(?:the|its)\s+name\s+(?:of\s+it\s+)?to\s+(?P<to>\S.*)"
    r"|(?:i\s+(?:want(?:ed)?|meant)|i(?:['’]d|\s+would)\s+like)\s+(?:it|that)\s+(?:to\s+be\s+)?(?:called|named)\s+(?P<called>\S.*)"
    r"|(?:it|that)\s+should\s+have\s+been\s+(?:called|named)\s+(?P<been>\S.*)"
    r"|(?:be)?nenne?\s+(?:es|ihn|sie|das|den\s+Ordner|die\s+(?:Kopie|Datei))\s+(?:bitte\s+)?in\s+(?P<in>\S.*?)\s+um"
    r"|(?:es|das|er|sie)\s+hätte\s+(?P<de>\S.*?)\s+heißen\s+sollen"
    r"|ren[oó]mbra(?:l[oa]|\s+(?:el|la)\s+\w+)\s+(?:a|como)\s+(?P<a>\S.*)"
    r"|(?:p[oó]n(?:le|ga)?|d[aá]le|c[aá]mbiale)\s+(?:de\s+nombre|(?:el|como)\s+nombre(?:\s+[ap]or?)?)\s+(?P<es>\S.*)"
    r"|(?:se\s+)?deber[ií]a\s+llamar(?:se)?\s+(?P<se>\S.*))$",
    re.IGNORECASE,
)
MANY = regex(r"^\W*\w+\s+(?:them|those|they|sie|las|los)\b|\b(?:n\s+sie|llámal[oa]s|llamal[oa]s)\b", re.IGNORECASE)
""" "Call them bills": the files, and no archive that they are in now."""
AND_THEN = regex(r"\s*(?:,|[.;])?\s+(?:and|und|y)\s+(?=\w)|[.;,]\s+", re.IGNORECASE)
THE_FOLDER = {"en": "the folder ", "de": "den Ordner ", "es": "la carpeta "}
SINGLE = listed("it es ihn lo la das eso")


def renamed(last: Exchange, before: Reading, text: str, ground: Ground) -> str | None:
    """The wish to give what was made another name; None where this is no such wish, or more than that."""
    said = corrections.bare(AGAIN.sub("", text))
    found = RENAMED.match(said)
    told = next((one for one in found.groups() if one), None) if found else corrections.new_name(said, before.language)
    old = of(last, before, ground) if told else None
    if told is None or old is None or _of_another_sort(told, old) or _goes_on(told, ground):
        return None
    if is_archive(old) and MANY.search(said):
        return None
    new = told.strip(" .!?\"'“”„«»")
    new += "" if PurePosixPath(new).suffix else split_suffix(old)[1]
    folder = THE_FOLDER[before.language] if old in ground.folders else ""
    return corrections.RENAMES[before.language].format(old=f'{folder}"{old}"', new=f'"{new}"')


def packed(last: Exchange, before: Reading, ground: Ground, items: Sequence[Item]) -> str | None:
    """The archive, where "it" can be nothing else: what went into it were several."""
    clause = _deed(before)
    pointed = any(isinstance(item, Word) and item.folded in SINGLE for item in items)
    if clause is None or not pointed or not _packs(clause) or _one_thing(clause, ground):
        return None
    return of(last, before, ground)


def of(last: Exchange, before: Reading, ground: Ground) -> str | None:
    """What the deed of `before` has made, as far as it can be only one thing."""
    clause = _deed(before)
    if clause is None or last.reason is not None or last.about != before.text:
        return None
    there = [path for path in _all(ground) if _named(path, last.answer)]
    ends = [place.said.strip("/") for place in places(clause, ground) if place.target]
    if _packs(clause):
        return _only([path for path in there if is_archive(path)])
    if clause.says("copy"):
        copies = [path for path in there if f"→ {path}." in last.answer]
        copies += [f"{end}/{name.text.rpartition('/')[2]}" for end in ends for name in clause.names]
        return _only([path for path in copies if path in _all(ground)])
    if clause.says("rename"):
        return _only([path for path in there if f" {path}." in last.answer])
    named = [name.text for name in clause.names] + [word.text for word in clause.words if word.unknown]
    among = ends if clause.says("move", "organize") else named if clause.says("create") else []
    return _only([folder for folder in among if ground.has(folder) in ground.folders])


def _deed(before: Reading) -> Clause | None:
    told = [clause for clause in before.clauses if clause.mood is Mood.DO and clause.acts]
    return told[0] if len(told) == 1 else None


def _goes_on(told: str, ground: Ground) -> bool:
    """ "… Bills and put it in Docs": what follows the name is a wish of its own."""
    rests = (read(told[found.end() :], ground.spoken) for found in AND_THEN.finditer(told))
    return any(clause.acts for rest in rests for clause in rest.clauses[:1])


def _packs(clause: Clause) -> bool:
    return clause.says("pack", "archives") or any(is_archive(name.text) for name in clause.names)


def _of_another_sort(new: str, old: str) -> bool:
    """ "Call it x.zip", and what was made is no archive: something else is meant."""
    return is_archive(new) != is_archive(old) and (is_archive(new) or bool(FILE_NAME.match(new.strip())))


def _one_thing(clause: Clause, ground: Ground) -> bool:
    named = [name for name in clause.names if not is_archive(name.text)]
    return len(named) == 1 or any(ground.has(word.text) in ground.folders for word in clause.words)


def _all(ground: Ground) -> list[str]:
    above = (str(parent) for path in ground.paths or () for parent in PurePosixPath(path).parents)
    return [*dict.fromkeys((*(ground.names or ()), *(ground.paths or ()), *(path for path in above if path != ".")))]


def _named(path: str, answer: str) -> bool:
    return re.search(rf"(?<![\w/.]){re.escape(path)}(?![\w/])", answer) is not None


def _only(among: Sequence[str]) -> str | None:
    return among[0] if len({*among}) == 1 else None
