"""English text from numbers and names: counts, sizes, lists, and names with any character."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

UNITS = ("kB", "MB", "GB", "TB")
SHOWN = 10
"""Maximum number of names in one sentence; the others are counted."""
CONTROLS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Terminal escape sequences, control characters, direction overrides and stray bytes."""
MARKUP = re.compile(r"[`*~<@\[\]]|://|www\.|\\(?:[^\w\s]|$)|&#?\w+;|(?<![^\W_])_|_(?![^\W_])", re.IGNORECASE)
"""Signs of Markdown in a word. GitHub's kind links `www.x` and `a@b` as well."""
WORD = re.compile(r"`[^`\n]+`(?=[.,;:)?!”]*(?:\s|$))|“(?P<quote>[^“”\n]*)”|(?P<word>[^\s“”(][^\s“”]*)")
"""Code, a quotation, or a word with the punctuation after it."""
STRAIGHT = dict.fromkeys(map(ord, "“”"), '"')
SIGNS = re.compile(r"[^\w.…]+|\d+[.)]|>.*")
"""A name that begins a list or is a line, if nothing else is in its place."""


def one_line(text: str) -> str:
    """Return the text on one line, without control characters and extra spaces."""
    return " ".join(CONTROLS.sub(" ", text).split())


def composed(text: str) -> str:
    """Return the text in the form in which names are compared (NFC): a Mac writes `ü` as a `u` and its dots."""
    return text if text.isascii() else normalize("NFC", text)


def visible(text: object) -> str:
    """Return the text on one line, with control characters and stray bytes escaped."""
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in str(text))


PROPOSED = {
    "Copied": "copy",
    "Created": "create",
    "Imported": "import",
    "Moved": "move",
    "Packed": "pack",
    "Removed": "delete",
    "Renamed": "rename",
    "Unpacked": "unpack",
}
"""The verbs with which tools report changes, and their infinitives."""


def proposed(done: str) -> str:
    """Return the report of a staged change as a proposal, since it is only made if a person agrees."""
    verb, _, rest = done.partition(" ")
    return f"Would {PROPOSED[verb]} {rest}" if verb in PROPOSED else f"Proposed: {done}" if done else ""


def number(value: float) -> str:
    """Return `1,234`, with one decimal if the value has a fraction."""
    return f"{value:,.1f}" if value % 1 else f"{value:,.0f}"


def count(amount: float, one: str, many: str | None = None) -> str:
    """Return `1 file` or `1,234 files`."""
    return f"{number(amount)} {one if amount == 1 else many or f'{one}s'}"


def size(amount: int) -> str:
    """Return bytes in steps of 1,000: `12 MB`."""
    if amount < 1000:
        return count(amount, "byte")
    value, unit = amount / 1000, 0
    while value >= 999.5 and unit < len(UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{number(round(value, 1) if value < 9.95 else round(value))} {UNITS[unit]}"


def literal(text: str) -> str:
    """Return a sentence in which names and other foreign words are no Markdown: those that could be become code."""
    return WORD.sub(_literal, text)


def name(path: object) -> str:
    """Return a path for use in a sentence: quoted if it contains a space or a quotation mark, or only signs."""
    said = _unspanned(path).removeprefix("./")
    return quoted(said) if any(sign in said for sign in " “”") or SIGNS.fullmatch(said) else said


def quoted(text: object) -> str:
    # A quotation mark inside would end the quotation, and `literal` would take the rest for our own words.
    return f"“{_unspanned(text).translate(STRAIGHT)}”"


def names(paths: Sequence[object], most: int = SHOWN) -> str:
    return joined([*map(name, paths)], most)


def joined(parts: Sequence[object], most: int = SHOWN) -> str:
    """Return the first parts and the number of the others."""
    shown = ", ".join(map(str, parts[:most]))
    return f"{shown}, and {number(len(parts) - most)} more" if len(parts) > most else shown


def _unspanned(text: object) -> str:
    """Two names with a backtick each would make code of what is between them."""
    return visible(text).replace("`", r"\x60")


def _literal(found: re.Match[str]) -> str:
    word = found["word"] or ""
    sign = found.start() == 0 and SIGNS.fullmatch(word)
    held = word if sign else found["quote"] or word.rstrip(".,:)?!")
    made = f"`{_unspanned(held)}`{word[len(held) :]}"
    return made if sign or MARKUP.search(held) else found[0]


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode()
