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


def name(path: object) -> str:
    """Return a path for use in a sentence: quoted if it contains a space."""
    said = visible(path)
    return quoted(said) if " " in said else said


def quoted(text: object) -> str:
    return f"“{visible(text)}”"


def names(paths: Sequence[object], most: int = SHOWN) -> str:
    return joined([*map(name, paths)], most)


def joined(parts: Sequence[object], most: int = SHOWN) -> str:
    """Return the first parts and the number of the others."""
    shown = ", ".join(map(str, parts[:most]))
    return f"{shown}, and {number(len(parts) - most)} more" if len(parts) > most else shown


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode()
