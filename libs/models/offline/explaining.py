"""Why not? What the last turn came to nothing for, as it is told to who asks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from libs.events import reasons
from libs.events.committee import DENIED, Exchange
from libs.models.offline import phrasebook as say
from libs.models.offline.voice import Voice
from libs.models.ports import Answered
from libs.retrieval.regexes import regex

_LEAD = r"^\W*(?:(?:but|and|so|ok|okay|hm+|no|aber|und|ja|nein|pero|y|e)\W+)*"
_WHY = r"(?:why|how\s+come|warum|wieso|weshalb|por\s*qu[eé]|por\s*q|porq|xq|x\s+q|pq)(?:\s+(?:denn|nicht|no|not))*"
_NOT = (
    r"(?:(?:can['’]?t|cannot|won['’]?t|didn['’]?t|couldn['’]?t|don['’]?t|can|did|do)\s+(?:you|i|we)(?:\s+not)?(?:\s+(?:do|did)?\s*(?:it|that|this))?"
    r"|(?:was|were|is)\s+(?:it|that|this|they)\s+(?:refused|denied|rejected|not\s+\w+)"
    r"|(?:geht|ging)\s+(?:das|es)(?:\s+(?:denn|nicht))*|(?:kannst|machst|darfst|tust)\s+du\s+(?:das|es)(?:\s+nicht)?"
    r"|(?:no\s+)?(?:se\s+)?(?:puedes?|puede|lo\s+haces|dejas?)(?:\s+hacer(?:lo)?)?)"
)
WHY = regex(rf"{_LEAD}{_WHY}(?:\W+{_NOT})?\W*$", re.IGNORECASE)
BEFORE = regex(rf"{_LEAD}{_WHY}(?:\W+{_NOT})?\s*[?!.,;:–-]+\s*(?=\w)", re.IGNORECASE)
""" "Why not? Delete them": what comes after it is the wish."""


def without_why(text: str) -> str:
    return BEFORE.sub("", text)


def because(voice: Voice, history: Sequence[Exchange]) -> Answered:
    """Why the last turn has done nothing, if it has."""
    last = history[-1] if history else None
    if last is None:
        return voice.answers(say.NOTHING_REFUSED)
    if last.reason == DENIED:
        return voice.answers(say.YOU_SAID_NO)
    if last.reason is not None and last.reason in reasons.KNOWN:
        reason = reasons.plain(f"{last.reason}: {last.answer}", voice.reading.language)
        return voice.answers(say.NOT_DONE, reason=reason)
    if _said(say.DECLINED, last.answer):
        return voice.answers(say.NO_SKILL, can=voice.abilities())
    told = last.reason is not None or any(_said(phrases, last.answer) for phrases in REFUSALS)
    return Answered(last.answer) if told else voice.answers(say.NOTHING_REFUSED)


REFUSALS = (say.OUTSIDE, say.DANGEROUS, say.NOT_ALLOWED, say.INTO_ITSELF, say.GIVEN_UP)
"""What says itself why nothing was done."""


def _said(phrases: say.Phrases, answer: str) -> bool:
    """Is the answer this sentence, as far as it has no values in it?"""
    return any(max(re.split(r"{\w+}", spoken), key=len) in answer for spoken in phrases.values())
