"""Du or Sie: a German who says Sie to Suma is answered so, and everybody else with du.

What Suma says is written once, with du. Its templates are put into the other form by a closed list of what stands in
them, before any name is filled in; a test goes through all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from libs.retrieval.regexes import regex

SIE = regex(
    r"(?<=[a-zäöüß,;]\s)(?:Sie|Ihnen|Ihre?[nmrs]?)\b|^\W*(?:Ihnen\b|(?:k[oö]nnten|w[uü]rden|k[oö]nnen)\s+Sie\b)"
    r"|\b(?:k[oö]nnten|w[uü]rden)\s+sie\s+(?:bitte|mir|mal|so)\b",
    re.MULTILINE,
)
"""Within a sentence the capital tells it from "sie", who are others."""
DU = regex(r"\b(?:du|dir|dich|dein(?:e[nmrs]?)?|kannste|haste)\b", re.IGNORECASE)
_FORMS = (
    (r"\b(?P<verb>[Ss]ag|[Ff]rag)\b", r"\g<verb>en Sie"),
    (r"\b(?P<verb>[Nn]enne|[Ww]ähle)\b", r"\g<verb>n Sie"),
    (r"\bFang\b", "Fangen Sie"),
    (r"\b(?P<m>[Mm])einst du\b", r"\g<m>einen Sie"),
    (r"\bdu meinst\b", "Sie meinen"),
    (r"\b(?P<k>[Kk])annst du\b", r"\g<k>önnen Sie"),
    (r"\bweißt du\b", "wissen Sie"),
    (r"\bDu könntest\b", "Sie könnten"),
    (r"\bDu willst\b", "Sie wollen"),
    (r"\bDu hast\b", "Sie haben"),
    (r"\bdu (?P<what>[^.;:,]*?)\bhast\b", r"Sie \g<what>haben"),
    (r"\bdu es wolltest\b", "Sie es wollten"),
    (r"\bdich\b", "Sie"),
    (r"\bDeine\b", "Ihre"),
)


def formal(texts: Iterable[str]) -> bool:
    """Does who wrote these, the newest first, say Sie? The first that tells decides."""
    return next((SIE.search(text) is not None for text in texts if SIE.search(text) or DU.search(text)), False)


def formally(template: str) -> str:
    """What is said with du, said with Sie."""
    for du, sie in _FORMS:
        template = re.sub(du, sie, template)
    return template
