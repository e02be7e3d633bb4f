"""What is done to files once they are where they shall be: "put the receipts in a folder Receipts and zip it", "get
everything out of Old and bin the folder".

The second goal is about what the first has made, so it is planned on the folder as it will be then, with its pronoun
put in full. Only what goes into one folder is followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from libs.models.offline.gist.acts import DELETE, MOVE, PACK, RENAME, RENAMES, acts_of
from libs.models.offline.ground import Ground
from libs.models.ports import Call
from libs.retrieval.lexicon import Language
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold, words

JOINT = regex(
    r"[\s,;.!–-]*(?:[,;.!]|(?<!\w)(?:and|then|und|dann|danach|y|e|luego|despu[eé]s)(?!\w))"
    r"(?:[\s,;.!–-]|(?<!\w)(?:and|then|also|please|und|dann|danach|bitte|y|luego|despu[eé]s)(?!\w))*",
    re.IGNORECASE,
)
ONE: Mapping[Language, re.Pattern[str]] = {
    "en": regex(
        r"\b(?:it(?: all)?|that(?! \w+ folder)|(?:the|that|this)(?: now)?(?: empty| old)? folder"
        r"|the (?:whole )?(?:thing|lot))\b",
        re.IGNORECASE,
    ),
    "de": regex(
        r"\b(?:ihn|es|das(?: ganze)?|(?:den|diesen)(?: dann)?(?: leeren| alten)? ordner|den(?= (?:dann|als|auch))"
        r"|alles zusammen)\b",
        re.IGNORECASE,
    ),
    "es": regex(r"\b(?:(?:la|esa|esta) carpeta(?: vac[ií]a| vieja)?|todo)\b", re.IGNORECASE),
}
MANY: Mapping[Language, re.Pattern[str]] = {
    "en": regex(r"(?:\b(?:th)?|')em\b(?: all)?|\b(?:those|these|they|(?:the|their) names)\b", re.IGNORECASE),
    "de": regex(r"\b(?:sie|ihnen|denen|[uü]berall|bei allen|jeweils|(?:die|den|deren) namen)\b", re.IGNORECASE),
    "es": regex(r"\b(?:ellos|ellas|(?:los|sus) nombres)\b", re.IGNORECASE),
}
ENCLITIC = regex(r"^(?P<verb>\w{2,}?[aeinrz])(?P<whom>les?|l[oa]s?)\b(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)
""" "Ponles", "comprímela"."""
FOLDER: Mapping[Language, str] = {
    "en": "the folder “{folder}”",
    "de": "den Ordner „{folder}“",
    "es": "la carpeta «{folder}»",
}
FILES: Mapping[Language, str] = {
    "en": "the files in the folder “{folder}”",
    "de": "die Dateien im Ordner „{folder}“",
    "es": "los archivos de la carpeta «{folder}»",
}
NAMES: Mapping[Language, str] = {
    "en": "the names in the folder “{folder}”",
    "de": "bei den Namen im Ordner „{folder}“",
    "es": "de los nombres de la carpeta «{folder}»",
}
BEHIND = regex(r"\b(?:of|from|off|to|before|behind|after)\s+$", re.IGNORECASE)
AT_ALL = frozenset(("ihnen", "denen", "uberall", "bei allen", "jeweils", "den namen"))
LATER = (RENAME, RENAMES, PACK, DELETE)


@dataclass(frozen=True, slots=True)
class Moved:
    """Files that go into one folder."""

    ground: Ground
    """What there is then."""
    files: tuple[str, ...]
    """Where they are then."""
    source: str
    """The folder that all of them come from; `.` where there is none."""
    target: str

    @classmethod
    def by(cls, calls: Sequence[Call], ground: Ground) -> Moved | None:
        acts = acts_of(calls, ground)
        ends = {str(act.plain.get("target", ".")) for act in acts}
        if not acts or len(ends) > 1 or any(act.tool != MOVE or act.bounds or act.whole for act in acts):
            return None
        target, files = ends.pop(), [path for act in acts for path in act.files]
        homes = {path.rpartition("/")[0] or "." for path in files}
        after = ground.moved(files, target)
        there = tuple(path for path in after.paths or () if path not in (ground.paths or ()))
        return cls(after, there, homes.pop() if len(homes) == 1 else ".", target)

    def follows(self, calls: Sequence[Call]) -> bool:
        """Is just what was moved named otherwise, packed, or the folder that it has left deleted?"""
        acts = acts_of(calls, self.ground)
        return bool(acts) and all(act.tool in LATER and self._follows(act.tool, act.files) for act in acts)

    def _follows(self, tool: str, files: Sequence[str]) -> bool:
        if tool == DELETE:
            return files == (self.source,)
        there = self.ground.below(self.target) if self.target != "." else ()
        return bool(files) and {*files} <= {*self.files, *there}


def cuts(text: str, language: Language) -> Iterator[tuple[str, str]]:
    """The ways to take a request for two, the second with a pronoun; that which leaves the least to it comes first."""
    for found in reversed(list(JOINT.finditer(text))):
        first, then = text[: found.start()].strip(), text[found.end() :].strip()
        leans = any(pattern.search(then) for pattern in (ONE[language], MANY[language]))
        if first and then and (leans or (language == "es" and ENCLITIC.match(then))):
            yield first, then


def in_full(then: str, language: Language, moved: Moved) -> str | None:
    """What comes later, with what it stands for in place of its pronoun; None where it has none."""
    removes = any("remove" in word.concepts for word in words(then)[:3])
    if language == "es" and (found := ENCLITIC.match(then)) is not None:
        return _unclasped(found, moved, removes=removes)
    one, many = ONE[language].search(then), MANY[language].search(then)
    if many is not None and (one is None or many.start() < one.start()):
        if _packs(then) and moved.target != ".":
            return _put(then, many, FOLDER[language], moved.target)
        of_names = (
            BEHIND.search(then[: many.start()]) is not None
            or "nam" in fold(many.group())
            or fold(many.group()) in AT_ALL
        )
        return _put(then, many, (NAMES if of_names else FILES)[language], moved.target)
    if one is None:
        return None
    folder = moved.source if removes else moved.target
    return _put(then, one, FOLDER[language], folder)


def _packs(then: str) -> bool:
    return any("pack" in word.concepts for word in words(then))


def _unclasped(found: re.Match[str], moved: Moved, *, removes: bool) -> str | None:
    verb, whom, rest = fold(found["verb"]), fold(found["whom"]), found["rest"]
    if whom in ("le", "les"):
        return None if moved.target == "." else f"{verb}{rest} {NAMES['es'].format(folder=moved.target)}"
    folder = moved.source if removes else moved.target
    form = FILES if whom in ("los", "las") and not _packs(verb) else FOLDER
    return f"{verb} {form['es'].format(folder=folder)}{rest}" if folder != "." else None


def _put(then: str, pronoun: re.Match[str], form: str, folder: str) -> str | None:
    if folder == ".":
        return None
    return f"{then[: pronoun.start()]}{form.format(folder=folder)}{then[pronoun.end() :]}"
