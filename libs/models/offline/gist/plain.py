"""Letters that an old computer cannot read: "change ē ā ļ č to normal e a l c", "ae statt ä", "sin tildes".

A German umlaut becomes two letters where that is said or the story is German; any other letter loses its sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import combining, normalize

from libs.models.offline.gist.aiming import chosen
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.rewriting import one_by_one
from libs.models.offline.gist.spelling import stem
from libs.models.offline.gist.story import Story
from libs.retrieval.regexes import regex

SIGNS = regex(
    r"\b(?:umlauts?|umlaute[ns]?|accents?|akzente?n?|diacritics?|tildes?|acentos?|e[nñ]es|special\s+(?:letters|characters)|sonderzeichen)\b",
    re.IGNORECASE,
)
WRITING = regex(
    r"\b(?:chang\w*|replac\w*|swap\w*|without|no|remove|normal|plain|read|ersetz\w*|tausch\w*|ohne|statt|raus|weg|lesen|normale?[nrs]?|cambi\w*|reempl\w*|sin"
    r"|quit\w*|sac\w*|normales)\b",
    re.IGNORECASE,
)
OF_NAMES = regex(r"\bnames?\b|namen?\b|\bnombres?\b|\bletters\b|buchstaben|\bletras\b", re.IGNORECASE)
SPELLED = regex(r"(?<!\w)(?:[äöü]|ae|oe|ue)(?!\w)", re.IGNORECASE)
SINGLE = regex(r"(?<!\w)[^\W\d_](?!\w)")
TWO = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ẞ": "SS"}
OTHER = {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe"}
SEVERAL = 2


def heard(story: Story) -> Iterator[Deed]:
    """Each name that has such letters, in plain ones."""
    if not _wanted(story):
        return
    some = chosen(story)
    held = some.files if some else story.ground.paths or ()
    two = story.language == "de" or re.search(r"(?<!\w)ae(?!\w)", story.text, re.IGNORECASE) is not None
    strange = [path for path in held if _plain(stem(path), two=two) != normalize("NFC", stem(path))]
    if strange and (deed := one_by_one(strange, lambda name: _plain(name, two=two))) is not None:
        yield deed


def _wanted(story: Story) -> bool:
    """Are such letters spoken of, by their name or one by one?"""
    named = SIGNS.search(story.text) is not None
    single = [found.group() for found in SINGLE.finditer(story.text)]
    shown = sum(_plain(letter, two=True) != letter for letter in single)
    spelled = SPELLED.search(story.text) is not None and shown > 0
    return (
        (named or spelled or shown >= SEVERAL)
        and WRITING.search(story.text) is not None
        and OF_NAMES.search(story.text) is not None
    )


def _plain(name: str, *, two: bool) -> str:
    told = "".join((TWO if two else {}).get(letter) or OTHER.get(letter, letter) for letter in normalize("NFC", name))
    told = told if two else told.replace("ß", "ss").replace("ẞ", "SS")
    return normalize("NFC", "".join(letter for letter in normalize("NFD", told) if not combining(letter)))
