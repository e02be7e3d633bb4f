"""Text from elsewhere, made safe and short for a terminal: file names may hold anything, control codes too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNITS = ("B", "kB", "MB", "GB", "TB")


def plain(text: object) -> str:
    """The text with every character that a terminal might obey, and every stray byte of a name, spelled out."""
    return "".join(letter if letter.isprintable() or letter == "\n" else _spelled(letter) for letter in str(text))


def line(text: object, most: int = 100) -> str:
    """One line, at most `most` characters long."""
    said = plain(text).strip().replace("\n", " ")
    return said if len(said) <= most else f"{said[: most - 1]}…"


def size(amount: float) -> str:
    """`12 MB`."""
    for unit in UNITS:
        if amount < 1000 or unit == UNITS[-1]:
            break
        amount /= 1000
    return f"{amount:.1f} {unit}" if 0 < amount < 10 and unit != "B" else f"{amount:.0f} {unit}"


def count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def item(entry: Mapping[str, Any]) -> str:
    """What may be excluded, as a person reads it: a group of duplicates, a change, or its name."""
    match entry:
        case {"keep": keep, "remove": [*remove]}:
            return f"keep {line(keep)}, remove {', '.join(line(path) for path in remove)}"
        case {"id": name, "conflict": True}:
            return f"{line(name)} (changed by someone else)"
        case {"id": name, "change": change}:
            return f"{change} {line(name)}"
        case _:
            return line(entry.get("id", entry))


def change(entry: Mapping[str, Any]) -> str:
    """One line of a diff."""
    signs = {"created": "+", "deleted": "-", "changed": "~", "moved": ">"}
    sign, path = signs.get(entry["change"], "?"), line(entry["path"])
    moved = f"{line(entry['source'])} → {path}" if entry.get("source") else path
    return f"{sign} {moved}{'/' if entry.get('kind') == 'directory' else ''}"


def _spelled(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode()
