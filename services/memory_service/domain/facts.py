"""Facts about a person: reading them from a sentence, and choosing those that bear on a request (S2-25 … S2-28).

A setting is a subject and a key: `invoices` `go to`, or `me` `employer`. It has one value, and a newer one replaces it;
only a setting whose key is one of `MANY`, or a statement that is `many`, has several.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from libs.errors import Rejected
from libs.search.words import FILLERS, stem, words

SUBJECT_MOST, KEY_MOST, VALUE_MOST = 120, 80, 2_000
ME, NOTE, GO_TO = "me", "note", "go to"
"""The subject of facts about the person; the key of a sentence without a setting; the key of places."""
MANY = frozenset((NOTE, "allergic to", "like", "dislike", "prefer", "use", "know", "speak")) | frozenset(
    ("allergy", "allergies", "hobby", "hobbies", "language", "languages", "child", "children", "pet", "pets")
)
"""Keys of settings that hold several values: these never replace each other."""
CONFIDENCE = {"person": 1.0, "tool": 0.7, "extraction": 0.6}
"""By source; a model's own number is worth nothing."""


class BadFact(Rejected):
    """The fact is not valid; give a key of 1 to 80 characters and a value of 1 to 2,000."""

    code = "BAD_FACT"


@dataclass(frozen=True, slots=True)
class Fact:
    """A stored fact with its provenance.

    Attributes:
        state: active, superseded (true until `valid_to`) or invalidated (not believed, or forgotten).
        source: person, extraction or tool.
    """

    id: str
    subject: str
    key: str
    value: str
    many: bool
    state: str
    source: str
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    replaced_by: str | None
    event_id: str | None
    turn_id: str | None
    session_id: str | None
    private: bool
    untrusted: bool
    secret: bool
    forgotten_at: datetime | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence as a setting and its value."""

    subject: str
    key: str
    value: str
    many: bool = False


def plain(text: str) -> str:
    """Return the text as one line with single spaces."""
    return " ".join(text.split())


def said(subject: str, key: str, value: str, *, many: bool = False) -> Said:
    """Normalise a fact: single spaces, subject and key in lower case.

    Raises:
        BadFact: one of them is too long, or key or value is empty.
    """
    subject, key, value = plain(subject).lower() or ME, plain(key).lower(), plain(value)
    fits = len(subject) <= SUBJECT_MOST and 0 < len(key) <= KEY_MOST and 0 < len(value) <= VALUE_MOST
    if not fits:
        raise BadFact
    return Said(subject, key, value, many or key in MANY)


SENTENCE_MOST = 300
"""Characters of a sentence that is matched; a longer one is a note."""
_INTO, _WHOSE = r"(?:in|into|to|under)", r"(?:(?:all )?(?:my|the|our) |all )?"
_FORMS = tuple(
    (re.compile(rf"(?:{form})[.!]?", re.IGNORECASE), key)
    for form, key in (
        (rf"(?:put|save|store|keep|file|move) {_WHOSE}(?P<s>.+?) {_INTO} (?P<v>.+)", GO_TO),
        (rf"{_WHOSE}(?P<s>.+?) (?:should |must |always )?(?:goe?s?|belongs?) {_INTO} (?P<v>.+)", GO_TO),
        (rf"{_WHOSE}(?P<s>.+?) (?:are|is|should be) (?:kept|stored|saved|filed|put) {_INTO} (?P<v>.+)", GO_TO),
        (r"(?:(?:mis|las|los|la|el|mi) )?(?P<s>.+?) (?:va|van|se guardan?|se ponen?) (?:a|al|en) (?P<v>.+)", GO_TO),
        (r"i(?: am|'m) allergic to (?P<v>.+)|soy al[ée]rgic[oa] al? (?P<w>.+)", "allergic to"),
        (r"i (?P<k>like|prefer|use|know|speak) (?P<v>.+)", ""),
        (r"i (?:love|enjoy) (?P<v>.+)|me gustan? (?P<w>.+)", "like"),
        (r"i (?:hate|dislike|do not like|don't like) (?P<v>.+)", "dislike"),
        (r"i live in (?P<v>.+)|vivo en (?P<w>.+)", "home"),
        (r"i work (?:at|for) (?P<v>.+)|trabajo (?:en|para) (?P<w>.+)", "employer"),
        (r"(?:i am called|call me|me llamo) (?P<v>.+)", "name"),
        (r"my (?P<k>[^,;:]{1,60}?) (?:is|are) (?P<v>.+)", ""),
        (r"mi (?P<k>[^,;:]{1,60}?) es (?P<v>.+)", ""),
    )
)
"""Sentences with a setting, in English and Spanish, with its key; without one, the sentence names the key."""


def read(text: str) -> Said:
    """Parse a sentence: `employer: Google` and `invoices go to Finance` have a setting; any other is a note.

    Raises:
        BadFact: a part is empty or too long.
    """
    text = plain(text)
    key, colon, value = text.partition(":")
    # The colon of an address (`https://…`) ends no key.
    if colon and len(key.split()) <= 4 and not value.startswith("//"):
        return said(ME, key, value)
    for form, key in _FORMS if len(text) <= SENTENCE_MOST else ():
        if (found := form.fullmatch(text)) is not None:
            parts = found.groupdict()
            return said(parts.get("s") or ME, key or parts["k"], (parts["v"] or parts["w"]).rstrip(".!"))
    return said(ME, NOTE, text)


def extracted(text: str) -> list[Said]:
    """Return what a message states of the person in passing, by the same sentences; questions and notes state nothing.

    Only settings of the person: "put my invoices in Finance" is a request, and no fact.
    """
    found = []
    for sentence in _SENTENCE.findall(text[:SCANNED_MOST]):
        sentence = plain(sentence).removeprefix("and ").strip()
        if not sentence or sentence.endswith("?") or ":" in sentence or len(sentence) > SENTENCE_MOST:
            continue
        one = read(sentence)
        sure = one.key in _TELLING and len(one.value) <= EXTRACTED_MOST
        if one.subject == ME and sure:
            found.append(one)
    return found[:STATED_MOST]


_SENTENCE = re.compile(r"[^.!?;\n]+[.!?]?")
_TELLING = {"allergic to", "home", "employer", "name", "job", "profession", "wife", "husband", "partner", "birthday"}
_TELLING |= {"phone", "email", "doctor", "dentist", "bank", "boss", "language", "nationality"}
"""Keys that a sentence in passing is believed about: "my folder is a mess" is no fact to keep."""
SCANNED_MOST, EXTRACTED_MOST, STATED_MOST = 4_000, 80, 5
"""Characters of a message that are read, characters of a value, and statements of one message."""


def bearing(facts: Sequence[Fact], about: str) -> list[Fact]:
    """Return the facts with those first that share most words with a text; else the order stays."""
    asked = _content(about)
    return sorted(facts, key=lambda fact: -len(asked & _content(_text(fact))))


def named(facts: Sequence[Fact], about: str) -> list[Fact]:
    """Return the facts that a person means by these words, to forget them: all of the words are theirs.

    An id names one fact, and a setting all of its values. A wrong guess would lose a fact.
    """
    exact = [fact for fact in facts if about.casefold() in (fact.id, fact.key, f"{fact.subject} {fact.key}")]
    if exact:
        return exact
    asked = _content(about) - _SPANISH
    return [fact for fact in facts if asked and asked <= _content(f"{_text(fact)} {_WORDED.get(fact.key, '')}")]


_WORDED = {"employer": "work job trabajo", "home": "live vivo casa", "name": "called", GO_TO: "belong va van"}
"""Other words for a key."""
_SPANISH = {stem(word) for word in ("mi", "que", "en", "a", "al", "de", "el", "la", "las", "los", "lo", "donde")}


def _text(fact: Fact) -> str:
    return f"{fact.subject} {fact.key} {fact.value}"


def _content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in FILLERS}
