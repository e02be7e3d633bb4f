"""Facts about the person in requests: to remember or forget one, to ask for them, and to plan by where things go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from libs.events import KnownFact
from libs.events.committee import Task
from libs.models.offline import texts
from libs.search.words import FILLERS, stem, words

REMEMBER_TOOL, FORGET_TOOL = "memory.remember", "memory.forget"
GO_TO, ME = "go to", "me"
"""The key of facts about places, and the subject of facts about the person."""
_PLEASE = r"(?:(?:please|can you|could you|por favor),? )?"
_REMEMBER = re.compile(
    rf"{_PLEASE}(?:(?:remember|keep in mind|bear in mind|note|recuerda|acu[eé]rdate de|anota)(?: that| que)"
    r"|(?:remember|recuerda):) (?P<text>.+)",
    re.IGNORECASE | re.DOTALL,
)
_FORGET = re.compile(
    rf"{_PLEASE}(?:forget|olv[ií]da(?:te de)?)(?: that| about| que| lo de)? (?P<text>.+)", re.IGNORECASE | re.DOTALL
)
_NOT_FORGET = frozenset(("it", "that", "this", "about it", "about that", "eso"))
"""Ways to say that an earlier message does not matter."""
_ALL = re.compile(
    r"(?:what|which (?:facts|things)) (?:do|did) (?:you|i) (?:remember|know|(?:tell|ask) you to remember)(?: about me)?"
    r"|what have i (?:told you|asked you) to remember|qu[eé] (?:recuerdas|sabes)(?: de m[ií])?",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:what|who|where|which|cu[aá]l|qui[eé]n|d[oó]nde)(?:'s)?"
    r" (?:is|are|do|does|should|am|es|son|va|van)?\b(?P<about>.+)",
    re.IGNORECASE,
)
_TIDY = re.compile(
    rf"{_PLEASE}(?:move|put|file|store|sort|tidy|organi[sz]e|clear|clean)(?: (?:away|up))? (?P<files>.+?)"
    r"(?: (?:away|up|where (?:they|it) (?:go|goes|belongs?)|(?:to|in) (?:their|its|the right) (?:place|folder)))?"
    r"(?: please)?",
    re.IGNORECASE,
)
_PLACES = frozenset(map(stem, ("go", "belong", "keep", "put", "live", "work")))


def remembered(text: str) -> tuple[str, dict[str, str]] | None:
    """Return the tool and its args if the request is to remember or to forget something."""
    text = " ".join(text.split())
    if (found := _REMEMBER.fullmatch(text)) is not None:
        return REMEMBER_TOOL, {"text": found["text"]}
    found = _FORGET.fullmatch(text)
    if found is None or found["text"].strip(" .!").lower() in _NOT_FORGET:
        return None
    return FORGET_TOOL, {"about": found["text"].rstrip(" .!")}


def recalled(task: Task) -> str | None:
    """Return the answer to a question that facts about the person answer."""
    asked = task.text.strip(" ?!.¿¡")
    if _ALL.fullmatch(asked):
        return texts.REMEMBERED.format(facts="; ".join(map(sentence, task.facts))) if task.facts else texts.NO_FACTS
    found = _QUESTION.fullmatch(asked)
    about = _content(found["about"]) - _PLACES if found is not None else set()
    known = [fact for fact in task.facts if about and about == _content(_setting(fact)) - _PLACES]
    return texts.REMEMBERED.format(facts="; ".join(map(sentence, known))) if known else None


def by_facts(text: str, facts: Sequence[KnownFact]) -> Iterator[tuple[str, KnownFact]]:
    """Yield the request to put files away with the place where they go, and the fact that names it.

    A fact from a text of others moves nothing.
    """
    found = _TIDY.fullmatch(text.strip(" .!"))
    files = _content(found["files"]) if found is not None else set()
    for fact in facts:
        if files and fact.key == GO_TO and not fact.touched.untrusted and files == _content(fact.subject):
            place = fact.value.strip(" ./")
            yield f"move {found['files'] if found else ''} to {place}", fact
            yield f'move {found["files"] if found else ""} to a new folder called "{place}"', fact


def sentence(fact: KnownFact) -> str:
    """Return a fact as words: `invoices go to Finance/2026`, or `employer: Suma`."""
    return f"{_setting(fact)} {fact.value}" if fact.key == GO_TO else f"{_setting(fact)}: {fact.value}"


def _setting(fact: KnownFact) -> str:
    return fact.key if fact.subject == ME else f"{fact.subject} {fact.key}"


def _content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in FILLERS}
