"""Text from elsewhere, made safe and short for a terminal: file names may hold anything, control codes too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from services.cli import phrases

if TYPE_CHECKING:
    from libs.retrieval.lexicon import Language

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


def item(entry: Mapping[str, Any], language: Language = "en") -> str:
    """What may be excluded, as a person reads it: a group of duplicates, a change, or its name."""
    match entry:
        case {"keep": keep, "remove": [*remove]}:
            rest = ", ".join(line(path) for path in remove)
            return phrases.KEEP[language].format(keep=line(keep), rest=rest)
        case {"id": name, "conflict": True}:
            return phrases.CONFLICT[language].format(name=line(name))
        case {"id": name, "change": str(kind)}:
            return f"{SIGNS.get(kind, '?')} {line(name)}{_known(entry, language)}"
        case _:
            return line(entry.get("id", entry))


SIGNS = {"created": "+", "deleted": "-", "changed": "~", "moved": ">"}


def change(entry: Mapping[str, Any], language: Language = "en") -> str:
    """One line of a diff."""
    sign, path = SIGNS.get(entry["change"], "?"), line(entry["path"])
    ending = "/" if entry.get("kind") == "directory" else ""
    match entry:
        case {"back": True, "source": str(source)}:
            return f"{sign} {line(source)} → {phrases.BACK['moved'][language].format(path=f'{path}{ending}')}"
        case {"back": True, "change": what} if what in phrases.BACK:
            return f"{sign} {path}{ending} ({phrases.BACK[what][language]})"
        case {"change": "created", "source": str(source)}:
            return f"{sign} {path}{ending} ({phrases.COPY[language].format(source=line(source))})"
        case {"source": str(source)}:
            return f"{sign} {line(source)}{ending} → {path}{ending}{_known(entry, language)}"
        case _:
            return f"{sign} {path}{ending}{_known(entry, language)}"


def _known(entry: Mapping[str, Any], language: Language) -> str:
    """Of a duplicate that goes, which one stays; of a new archive, what is in it; of what was chosen by its text, where
    it says so.
    """
    if "same_as" in entry:
        return f" ({phrases.SAME[language].format(keep=line(entry['same_as']))})"
    if "says" in entry:
        return f" ({phrases.SAYS[language].format(text=line(entry['says']))})"
    if entry.get("files"):
        return f" ({phrases.FOLDER[language].format(files=_files(int(entry['files']), language))})"
    return f" ({_packed(entry['packs'], language)})" if "packs" in entry else ""


def _packed(packs: Mapping[str, Any], language: Language) -> str:
    names = [phrases.ALL_HERE[language] if path == "." else line(path) for path in packs["of"]]
    more = [phrases.AND_MORE[language].format(n=packs["more"])] if packs["more"] else []
    told = phrases.PACKS[language].format(files=_files(int(packs["files"]), language), of=", ".join((*names, *more)))
    return told.removesuffix(": ")


def _files(number: int, language: Language) -> str:
    return count(number, *phrases.FILES[language])


def _spelled(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode()
