"""What is typed at a yes-or-no question: a plain yes, a plain no, or what is wanted instead.

Only words that are nothing else make a yes: "yes, but not the PDFs" is a wish, and a wish is never carried out unasked.
What is neither is asked again: a single strange word, or a question about the question.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache

TOKENS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
YES = """
y, yes, aye, a, approve, ok, okay, yep, yeah, yup, sure, right, correct, exactly, do it, do that, go ahead, please do,
j, ja, jo, jep, klar, gern, gerne, genau, stimmt, richtig, passt, mach das, mach es, leg los,
s, si, sí, vale, claro, hazlo, adelante, correcto, exacto, dale, de acuerdo, eso es
"""
NO = """
n, no, d, deny, nope, nah, never mind, nevermind, cancel, stop, forget it, forget that, leave it, don't, do not,
not now, later, nothing, nein, nee, nö, lass, lass es, lass das, lieber nicht, besser nicht, doch nicht, nicht jetzt,
vergiss es, abbrechen, nichts, später, nada, déjalo, dejalo, olvídalo, olvidalo, mejor no, ahora no, cancela, cancelar,
luego
"""
COURTESY = """
please, thanks, thank you, all, all of them, then, now, bitte, danke, alle, alles, dann, mal, jetzt, gracias, por favor,
todo, todos, just that, only that, that's all, that is all, nothing else, nur das, sonst nichts, das ist alles,
das reicht, sólo eso, solo eso, nada más, eso es todo
"""
"""What may stand beside either, and changes nothing about it."""
EVERYWHERE = ("everywhere", "überall")
ASKS = re.compile(
    r"^\W*(what|which|why|how|who|where|when|was|welche\w*|warum|wieso|wie|wer|wo|wann|qu[eé]|cu[aá]l\w*|por qu[eé]"
    r"|c[oó]mo|qui[eé]n|d[oó]nde|cu[aá]ndo)\b.*\?\W*$",
    re.IGNORECASE | re.DOTALL,
)
LONGEST = 3
"""Words of the longest of these sayings."""


class Heard(Enum):
    """What a person has said to "shall I?"."""

    YES = "yes"
    NO = "no"
    INSTEAD = "instead"
    """Something else is wanted."""
    UNCLEAR = "unclear"


def heard(said: str) -> Heard:
    """The plainest meaning of what was typed."""
    tokens = TOKENS.findall(said.casefold().replace("’", "'"))
    if _only(tokens, YES):
        return Heard.YES
    if _only(tokens, NO):
        return Heard.NO
    wish = len(tokens) > 1 or any(word in EVERYWHERE for word in tokens)
    return Heard.INSTEAD if wish and not ASKS.match(said) else Heard.UNCLEAR


def refuses(said: str) -> bool:
    """Does it begin with a no, whatever follows?"""
    return _only(TOKENS.findall(said.casefold())[:1], NO)


def _only(tokens: list[str], listed: str) -> bool:
    """Is it such sayings from end to end, courtesy aside, and one at least?"""
    sayings, courtesy = _sayings(listed), _sayings(COURTESY)
    met, at = False, 0
    while at < len(tokens):
        ends = range(min(len(tokens), at + LONGEST), at, -1)
        found = next((end for end in ends if " ".join(tokens[at:end]) in sayings), None)
        polite = next((end for end in ends if " ".join(tokens[at:end]) in courtesy), None)
        if found is None and polite is None:
            return False
        met, at = met or found is not None, found or polite or at
    return met


@cache
def _sayings(listed: str) -> frozenset[str]:
    return frozenset(saying.strip() for saying in listed.split(","))
