"""From bytes to text: which encoding a file is written in, said openly where it had to be guessed."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from enum import StrEnum

from libs.errors import Rejected

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NAMES = {"utf-8-sig": "UTF-8 with a mark", "utf-8": "UTF-8", "utf-16": "UTF-16", "utf-32": "UTF-32"}
GUESSED = "Latin-1 (guessed)"
CONTROLS = frozenset(range(32)) - {9, 10, 12, 13, 27}
LOOK = 8192


class SkipReason(StrEnum):
    """The reason why a document was not read."""

    TOO_LARGE = "too_large"
    LOCKED = "locked"
    DAMAGED = "damaged"
    OLDER = "older_form"
    PICTURES = "no_words"
    LATER = "later"
    """The search had read enough; the next one goes on here."""
    UNREADABLE = "unreadable"
    """The system does not permit reading it."""


class NoText(Rejected):
    """The file holds no text."""

    code = "NO_TEXT"


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file, and its encoding."""

    text: str
    encoding: str
    codec: str = "latin-1"
    """The name by which Python knows the encoding."""

    @property
    def guessed(self) -> bool:
        return self.encoding == GUESSED


def decoded(raw: bytes, *, whole: bool = True) -> Text:
    """Return the text of these bytes; without `whole` they may end within a character. Raises `NoText`."""
    mark = next((encoding for start, encoding in MARKS if raw.startswith(start)), None)
    if mark is None and b"\0" in raw[:LOOK]:
        mark = _unmarked(raw)
    for encoding in (mark,) if mark else ("utf-8",):
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(raw, final=whole)
        except UnicodeDecodeError:
            continue
        return Text(text.replace("\0", "\ufffd"), NAMES.get(encoding, encoding.upper()), encoding)
    if mark or sum(byte in CONTROLS for byte in raw[:LOOK]) > len(raw[:LOOK]) // 100:
        raise NoText("this is no text")
    return Text(raw.decode("latin-1"), GUESSED)


def _unmarked(raw: bytes) -> str:
    """UTF-16 without a mark has a zero in every other place."""
    even, odd = raw[:LOOK:2].count(0), raw[1:LOOK:2].count(0)
    places = max(1, len(raw[:LOOK]) // 2)
    little, big = odd > places * 0.4 and even < places * 0.1, even > places * 0.4 and odd < places * 0.1
    encoding = "utf-16-le" if little else "utf-16-be"
    if not (little or big) or any(ord(letter) in CONTROLS for letter in raw[:LOOK].decode(encoding, "ignore")):
        raise NoText("this is no text")
    return encoding
