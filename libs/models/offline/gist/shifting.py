"""A part of names that goes to their other end: "Maße hinten, der Name vorne", "the customer first", "surname first".

The word that is shared by many names is the kind of thing they are, and the rest is whose: who wants the customer first
wants the shared word last, whether it is said or not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from libs.models.offline.gist.aiming import around, chosen
from libs.models.offline.gist.deeds import Deed
from libs.models.offline.gist.reshaping import Fixed, Rule, by_rule
from libs.models.offline.gist.spelling import APART, Files, Run, alike, parts, runs, stem
from libs.models.offline.gist.story import Story
from libs.retrieval.regexes import regex
from libs.retrieval.words import fold
from libs.skills.shapes import Field

_LINK = (
    r"(?:\s+(?:goes|go|comes?|put|moved?|stands?|should|shall|must|be|is|to|at|the|very|go|word|kommt|kommen|soll|sollen|steht|stehen|sein"
    r"|bitte|dann|nach|ganz|an|ans|am|den|das|dem|va|vaya|van|vayan|al|a|el|la|que|quede|estar|esté|por))*"
)
LAST = regex(
    rf"^[\"”“»'’]?{_LINK}\s+(?:last|behind|after(?:wards)?|(?:the\s+)?(?:end|back)|hinten(?:dran)?|hinter\w*|ende|danach|dahinter|final"
    r"|detr[aá]s|atr[aá]s|despu[eé]s|[uú]ltim[oa])\b",
    re.IGNORECASE,
)
FIRST_AFTER = regex(
    rf"^[\"”“»'’]?{_LINK}\s+(?:first|(?:in\s+)?(?:the\s+)?(?:front|start|beginning)|zuerst|vorne?|voran|davor|(?:als\s+)?erstes|anfang|primero"
    r"|a?delante|principio|inicio)\b",
    re.IGNORECASE,
)
PARTY = (
    r"(?:(?:customer|client|file|person|tenant|patient|family|first|last)['’]?s?\s+)?(?:names?|surnames?|customers?|clients?|buyers?|tenants?|patients?"
    r"|owners?|pupils?|students?|brides?|couples?|persons?|people|famil(?:y|ies)|compan(?:y|ies)|firms?|suppliers?)"
    r"|(?:kunden|nach|firmen|familien)?namen?|kund(?:e|en|in|innen)|mieter\w*|patient\w*|besitzer\w*|schüler\w*|braut|paar|familie\w*|firmen?"
    r"|lieferant\w*|nombres?|apellidos?|client[ea]s?|inquilin[oa]s?|pacientes?|dueñ[oa]s?|alumn[oa]s?|novias?|parejas?|familias?|empresas?|proveedor\w*"
)
PARTY_FIRST = regex(
    rf"\b(?:{PARTY})(?:\s+(?:of|from|von|de|del)\s+(?:the\s+|der\s+|dem\s+|la\s+|el\s+)?[^\W\d_]+)?{_LINK}\s+"
    r"(?:first|(?:in\s+)?(?:the\s+)?(?:front|start|beginning)|zuerst|vorne?|voran|(?:als\s+)?erstes|anfang|primero|a?delante|principio|inicio)\b"
    rf"|\b(?:first|zuerst|primero)\s+(?:the\s+|der\s+|die\s+|den\s+|el\s+|la\s+)?(?:{PARTY})\b",
    re.IGNORECASE,
)
SURNAME = regex(r"\b(?:surnames?|last\s+names?|family\s+names?|nachnamen?|familiennamen?|apellidos?)\b", re.IGNORECASE)
ADDED = regex(
    r"\b(?:h[aä]e?ng\w*|anh[aä]e?ng\w*|append\w*|add(?:ed|ing)?|stick|tack|dran|hint(?:en)?dran|schreib\w*\s+[^.;!?\n]{0,40}?\bdazu|a[nñ]ad\w*|agr[eé]g\w*)\b",
    re.IGNORECASE,
)
""" "Häng hinten noch bezahlt dran": something new goes there."""
OURS = regex(
    r"\b(?:my|our|mein\w*|unser\w*|mi|nuestr[oa])\s+(?:\w+\s+)?(?:names?|initials|namen?|initialen|nombre|iniciales)\b",
    re.IGNORECASE,
)
""" "My name in front": that is none that stands in them."""
LIKE = 2


def heard(story: Story) -> Iterator[Deed]:
    """What is said to stand first or last; else what the names have in common makes room for whose they are."""
    if ADDED.search(story.text) or OURS.search(story.text):
        return
    yield from _said(story)
    if PARTY_FIRST.search(story.text):
        yield from _parties_first(story)


def _said(story: Story) -> Iterator[Deed]:
    """ "Maße ans Ende": a word that the names begin with goes to their end, and the other way round."""
    for run in runs(story, story.ground.paths or (), alike):
        tail = story.text[run.end :]
        for form, end in ((LAST, False), (FIRST_AFTER, True)):
            if form.match(tail) and (deed := _shifted(story, run, at_end=end)) is not None:
                yield deed


def _shifted(story: Story, run: Run, *, at_end: bool) -> Deed | None:
    """The files in question are those that have it at the one end."""
    held = [path for path in run.files if _at(run, path, end=at_end) and run.literal(path) != stem(path)]
    if len(held) < LIKE:
        return None
    rule = _rule(run.literal(held[0]), stem(held[0]), at_end=at_end)
    near = [path for path in rule.held(held) if path in around(story, beside=[(run.start, run.end)])]
    return by_rule(near or rule.held(held), rule)


def _at(run: Run, path: str, *, end: bool) -> bool:
    start, stop = run.held[path]
    return stop == len(stem(path)) if end else start == 0


def _rule(shared: str, name: str, *, at_end: bool) -> Rule:
    """From one end to the other, with the sign that joins the two in this name."""
    rest = name[: len(name) - len(shared)] if at_end else name[len(shared) :]
    sign = rest[len(rest.rstrip(APART)) :] if at_end else rest[: len(rest) - len(rest.lstrip(APART))]
    fixed, text = Fixed(0, shared), Field("text", "text")
    old = (text, sign, fixed) if at_end else (fixed, sign, text)
    return Rule(old, old[::-1])


def _parties_first(story: Story) -> Iterator[Deed]:
    files = _spoken_of(story)
    heads = Counter(fold(told[0].text) for path in files if len(told := parts(stem(path))) > 1)
    head, often = heads.most_common(1)[0] if heads else ("", 0)
    if often >= LIKE and 2 * often > heads.total():
        first = next(path for path in files if fold(parts(stem(path))[0].text) == head and len(parts(stem(path))) > 1)
        rule = _rule(parts(stem(first))[0].text, stem(first), at_end=False)
        if rule.sound and (deed := by_rule(rule.held(files), rule)) is not None:
            yield deed
    elif SURNAME.search(story.text) and often < LIKE:
        rule = Rule(
            (Field("word", "word"), " ", Field("word2", "word")), (Field("word2", "word"), " ", Field("word", "word"))
        )
        if len(held := [path for path in rule.held(files) if _of_words(path)]) >= LIKE and (
            deed := by_rule(held, rule)
        ):
            yield deed


def _of_words(path: str) -> bool:
    return all(part.text.isalpha() and part.text[:1].isupper() for part in parts(stem(path)))


def _spoken_of(story: Story) -> Sequence[str]:
    """Whose names are said to be turned, and never just all there are."""
    some = chosen(story)
    files: Files = some.files if some else ()
    return files if len(files) >= LIKE else ()
