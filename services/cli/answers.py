"""Classification of the text typed at a yes-or-no question: yes, no, or another request.

Only words with no other meaning count as yes: "yes, but not the PDFs" is another request, and it is never carried out
without a new question. Anything else is asked again: one unknown word, or a question about the question.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache

TOKENS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
YES = """
y, yes, aye, a, approve, ok, okay, yep, yeah, yup, sure, right, correct, exactly, do it, do that, go ahead, please do
"""
NO = """
n, no, d, deny, nope, nah, wait, never mind, nevermind, cancel, stop, forget it, forget that, leave it, don't, do not,
not now, later, nothing
"""
FILLERS = """
please, thanks, thank you, all, all of them, then, now, just that, only that, that's all, that is all, nothing else
"""
"""Fillers: allowed beside a yes or a no without changing it."""
EVERYWHERE = ("everywhere",)
ASKS = re.compile(
    r"^\W*(what|which|why|how|who|where|when)\b.*\?\W*$",
    re.IGNORECASE | re.DOTALL,
)
LONGEST = 3
"""The number of words in the longest phrase."""


class Answer(Enum):
    """The meaning of the text typed at a yes-or-no question."""

    YES = "yes"
    NO = "no"
    INSTEAD = "instead"
    """The person requests something else."""
    UNCLEAR = "unclear"


def classify(text: str) -> Answer:
    """Classify the typed text."""
    tokens = TOKENS.findall(text.casefold().replace("’", "'"))
    if _only(tokens, YES):
        return Answer.YES
    if _only(tokens, NO):
        return Answer.NO
    wish = len(tokens) > 1 or any(word in EVERYWHERE for word in tokens)
    return Answer.INSTEAD if wish and not ASKS.match(text) else Answer.UNCLEAR


def starts_with_no(text: str) -> bool:
    """Check whether the text begins with a no."""
    return _only(TOKENS.findall(text.casefold())[:1], NO)


def _only(tokens: list[str], listed: str) -> bool:
    """Check that the tokens consist of listed phrases and fillers, with at least one listed phrase."""
    sayings, courtesy = _sayings(listed), _sayings(FILLERS)
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
