"""Corrections in mid-sentence: "delete a.txt, no wait, b.txt", "in Masters, no, not Masters, put them in Takes".

What was taken back is blanked out together with the words that took it back: a deed by a new deed, the last end by a
new end, the last name by a new name. Where it is not plain what takes whose place, the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from libs.models.offline.clauses import ACTIONS
from libs.models.offline.naming import names
from libs.models.offline.veils import UNVEILED, Veils
from libs.retrieval.regexes import regex
from libs.retrieval.words import words

_MARKS = (
    r"(?:oh\s+|uh\s+|um\s+|äh\s+|ach\s+|ay\s+)?(?:"
    r"no\s*,?\s+(?:wait|sorry|hang\s+on|hold\s+on|actually|scratch\s+that|I\s+mean|I\s+meant|make\s+that)"
    r"|wait\s*,?\s+no|(?:sorry|oops|actually)\s*,?\s+"
    r"(?:no|I\s+meant?|make\s+that)|scratch\s+that|strike\s+that|I\s+mean(?:t)?|or\s+rather|correction|make\s+that"
    r"|nein\s*,?\s+(?:warte|halt|moment|quatsch|doch|lieber|ich\s+mein\w*|sorry)|(?:warte|halt|moment|quatsch"
    r"|stopp|sorry)\s*,?\s+nein"
    r"|ich\s+mein(?:e|te)|besser\s+gesagt|vielmehr|quatsch|oder\s+nein|oder\s+doch\s+lieber"
    r"|no\s*,?\s+(?:espera|perd[óo]n|mejor|digo|quiero\s+decir|quer[íi]a\s+decir)|(?:espera|perd[óo]n|ay"
    r"|bueno)\s*,?\s+no|mejor\s+dicho|digo"
    r"|quiero\s+decir|quise\s+decir)"
)
MARK = regex(
    rf"\s*(?:[,.;:…!?(]|\s[-–—]|\.\.\.)+\s*{_MARKS}(?:\s*,?\s+{_MARKS})*(?!\w)\s*[,.:;!…–—-]*\s*", re.IGNORECASE
)
DENIED = regex(r"(?:not|nicht|no)\s+(?P<what>[^,.;:!?]+?)\s*[,.;:–—]+\s*(?:but\s+|sondern\s+|sino\s+)?", re.IGNORECASE)
"""What is not meant, said once more."""
END = regex(r"^(?:(?:in)?to|onto|in|into|under|nach|ins|im|unter|a|al|en)\s", re.IGNORECASE)
ENDS = regex(r"\s(?:(?:in)?to|onto|in|into|under|nach|ins|im|unter|a|al|en)\s(?=\S+(?:\s+\S+){0,5}$)", re.IGNORECASE)
CLAUSE = regex(r"(?:^|[,.;:!?]\s|\s(?:and|und|y|then|dann|luego)\s)", re.IGNORECASE)


def repaired(text: str, known: Sequence[str], veils: Veils = UNVEILED) -> tuple[str, bool]:
    """The text without what was taken back, in its old length; and whether it is not plain what that was."""
    found = MARK.search(text)
    if found is None or not _acts(text[: found.start()]):
        return text, False
    after, end = text[found.end() :], found.end()
    if (denied := DENIED.match(after)) is not None:
        after, end = after[denied.end() :], end + denied.end()
    start = _start(text[: found.start()], after, known, veils=veils)
    if start is None or MARK.search(text, end):
        return text, True
    return f"{text[:start]}{' ' * (end - start)}{text[end:]}", False


def _start(before: str, after: str, known: Sequence[str], *, veils: Veils) -> int | None:
    """Where that begins in `before` whose place `after` takes."""
    sentence = re.split(r"[.!?](?:\s|$)", after)[0]
    if _acts(sentence):
        return _last_deed(before)
    if END.match(sentence):
        ends = [found.start() for found in ENDS.finditer(before)]
        return ends[-1] if ends else None
    told, new = names(before, known, veils), names(sentence, known, veils)
    if not told or len(new) != 1 or len(sentence.split()) > 4 + len(new[0].text.split()):
        return None
    last = max(told, key=lambda name: name.start)
    return last.start if not before[last.end :].strip(" \"'”“`»") else None


def _last_deed(before: str) -> int | None:
    """The beginning of the last part of a sentence that has a deed."""
    starts = [found.end() for found in CLAUSE.finditer(before)]
    deeds = [start for start in starts if _acts(before[start:].partition(",")[0])]
    return deeds[-1] if deeds else None


def _acts(said: str) -> bool:
    return any(not DEEDS.isdisjoint(word.concepts) for word in words(said))


DEEDS = ACTIONS - {"greeting", "capability", "whatis", "foreign", "inside"}
