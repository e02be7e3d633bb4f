"""Only what lies in the folder itself: "not in subfolders", "only those here".

A change stays in its folder unless somebody says otherwise, so for most deeds that says nothing new and is put aside.
Comparing and looking go deeper by themselves: they are told to stay. Of what goes whole, it is an exception like any
other.
"""

from __future__ import annotations

import re

from libs.retrieval.regexes import regex

FLAT = regex(
    r"\s*,?\s*\b(?:and\s+|but\s+|aber\s+|und\s+|pero\s+|y\s+)?(?:"
    r"not\s+(?:(?:the\s+ones|those|what(?:['’]s|\s+is))\s+)?(?:in\s+)?(?:the\s+|any\s+|my\s+|its\s+)?sub-?folders"
    r"|nicht\s+(?:die\s+)?(?:in\s+)?(?:den\s+)?Unterordnern?|no\s+(?:(?:l[oa]s\s+)?(?:de|en)\s+)(?:las\s+)?subcarpetas"
    r"|(?:only|just)\s+(?:(?:the\s+ones|those|what\s+is)\s+)?(?:right\s+|directly\s+)?(?:here|in\s+this\s+folder)"
    r"|nur\s+(?:die\s+)?(?:direkt\s+)?(?:hier|in\s+diesem\s+Ordner)"
    r"|s[oó]lo\s+(?:l[oa]s\s+)?(?:que\s+est[aá]n\s+|de\s+)?(?:aqu[ií]|en\s+esta\s+carpeta|esta\s+carpeta)"
    r")(?=\s*(?:[.,;!?]|$))",
    re.IGNORECASE,
)
WHOLE = regex(
    r"\b(?:copy|copia\w*|kopier\w*|zip\w*|pack\w*|archive|comprim\w*)\b"
    r"|(?<!in\s)\b(?:the\s+folder|den\s+Ordner|la\s+carpeta)\s+(?-i:[\"“„«A-ZÄÖÜ])",
    re.IGNORECASE,
)
""" "Copy Docs, but not its subfolders": what goes whole goes with all that is in it."""


def flat(text: str) -> bool:
    """Does it say that nothing in subfolders is meant?"""
    return FLAT.search(text) is not None and WHOLE.search(text) is None


def without_depth(text: str) -> str:
    """The text without that, in its old length."""
    return FLAT.sub(lambda found: " " * len(found.group()), text) if flat(text) else text
