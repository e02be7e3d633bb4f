"""What was packed, and shall go afterwards: "and the originals", "die einzelnen dann weg", "y luego borra las tres".

Said beside an archive, that is the rest of the same wish: what goes is exactly what has been packed, and a number that
is said of it has to be theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from libs.models.offline.archives import into_archive
from libs.models.offline.clauses import Clause, Item, Mood, Reading
from libs.models.offline.measures import number_of
from libs.models.offline.mentioned import pointing
from libs.models.offline.numerals import ARTICLES
from libs.retrieval.lexicon import Language, listed
from libs.retrieval.regexes import regex
from libs.retrieval.words import Word

SINGLES = listed(
    "original originals individual individuals single singles separate loose unzipped unpacked"
    " originale originalen originaldateien einzelne einzelnen einzeldateien ungepackten losen"
    " originales sueltos sueltas individuales separados separadas"
)
DETERMINERS = listed("the these those die diese diesen den los las esos esas estos estas")
BESIDE = frozenset(("remove", "then", "here", "file", "all", "oldest"))
"""What else may be said of them."""
AFTER_PACKING = regex(
    r"\b(?:after(?:wards)?\s+(?:the\s+)?(?:zipping|packing|archiving)(?:\s+(?:them|it))?|nach\s+dem\s+(?:ein|ver)?(?:packen|zippen)"
    r"|despu[eé]s\s+de\s+(?:comprimir|empaquetar)(?:l[oa]s?)?)\b",
    re.IGNORECASE,
)
THEN: Mapping[Language, str] = {"en": "then", "de": "danach", "es": "luego"}


def packs(clause: Clause) -> bool:
    return clause.says("pack") or (clause.says("create", "move") and into_archive(clause))


def means_them(clause: Clause) -> bool:
    """ "The single ones", and nothing that could be others."""
    known = (word.filler or word.folded in SINGLES or {*word.concepts} <= BESIDE for word in _said(clause))
    return any(word.folded in SINGLES for word in clause.words) and not clause.names and all(known)


def count_of(clause: Clause) -> tuple[Item, ...]:
    """The number that is said of them, with a noun: "die drei Rechnungen"."""
    told = _numbers(clause)
    return (*told, Word("", "", told[0].end, told[0].end, concepts=("file",))) if len(told) == 1 else ()


def number_said(clause: Clause) -> float | None:
    told = _numbers(clause)
    return number_of(told[0].folded) if len(told) == 1 else None


def without_after(text: str, language: Language) -> str:
    return AFTER_PACKING.sub(THEN[language], text)


def go_too(before: Reading, said: Reading, shown: Sequence[str]) -> str | None:
    """The packing that stands before them, with these gone afterwards."""
    deeds = [clause for clause in before.clauses if clause.mood is Mood.DO and clause.acts]
    clause = said.clauses[0] if len(said.clauses) == 1 else None
    if clause is None or clause.mood is not Mood.DO or not clause.says("remove") or clause.says("pack"):
        return None
    these = means_them(clause) or (bool(shown) and pointing(clause, shown) is not None)
    if not deeds or not packs(deeds[-1]) or deeds[-1].says("remove") or not these:
        return None
    return f"{before.text.rstrip(' .!?')}. {DELETE[before.language]}"


DELETE: Mapping[Language, str] = {
    "en": "Then delete the originals",
    "de": "Danach lösche die Originale",
    "es": "Luego borra los originales",
}


def _said(clause: Clause) -> list[Word]:
    return [word for word in clause.words if word.text]


def _numbers(clause: Clause) -> list[Word]:
    """Those after a little word: "the three", "las tres"."""
    return [
        word
        for before, word in pairwise(clause.items)
        if isinstance(word, Word) and word.folded not in ARTICLES and number_of(word.folded) is not None
        if isinstance(before, Word) and before.folded in DETERMINERS
    ]
