"""Words of English texts: folded, without endings, and with the few synonyms that every search needs."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_FILLERS = (
    "a about all an and any are as at be been by can could did do does for from had has have he her his how i"
    " if in into is it its me my no not of on or our out she so some that the their them then there these they"
    " this those to up us was we were what when where which who will with would you your please"
)
FILLERS = frozenset(_FILLERS.split())
SYNONYMS = (
    "delete remove erase discard",
    "duplicate copy identical double twin same",
    "photo picture image snapshot",
    "video movie film clip",
    "music song audio track",
    "folder directory",
    "rename name title",
    "zip archive compress pack",
    "unzip unpack extract",
    "summary summarize gist digest",
    "find search look locate",
    "big large huge",
    "invoice bill receipt",
)
ENDINGS = ("ies", "ing", "es", "ed", "s", "y", "e")
LEAST_STEM = 3


def fold(text: str) -> str:
    """Lower the case and drop accents, so that `Café` and `CAFE` are one word."""
    if text.isascii():
        return text.lower()
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def spread(name: str) -> str:
    """Put spaces between the parts of a file name: `GasBill_2024` is "Gas Bill 2024"."""
    return " ".join(WORD.findall(CAMEL.sub(" ", name)))


def words(text: str) -> list[str]:
    """List the folded words and numbers of a text in order."""
    return WORD.findall(fold(text))


def telling(text: str) -> list[str]:
    """List the words of a text without fillers; all of them if there are only fillers."""
    found = words(text)
    return [word for word in found if word not in FILLERS] or found


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Cut one English ending: "copies", "copying" and "copy" are "cop"."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= LEAST_STEM:
            return word[: -len(ending)]
    return word


def synonyms(word: str) -> tuple[str, ...]:
    """List the other words with the meaning of this one."""
    return tuple(other for other in _GROUPS.get(stem(word), ()) if stem(other) != stem(word))


def meaning(word: str) -> str:
    """Return one word for all synonyms of a group; the stem of any other word."""
    group = _GROUPS.get(stem(word))
    return group[0] if group else stem(word)


_GROUPS = {stem(word): tuple(group.split()) for group in SYNONYMS for word in group.split()}
