"""Text that is safe and short enough for a terminal: file names may contain control codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from libs.texts import count as count
from libs.texts import size as size
from libs.texts import visible
from services.cli import phrases


def plain(text: object) -> str:
    """Escape control characters and undecodable bytes."""
    return "\n".join(map(visible, str(text).split("\n")))


def line(text: object, most: int = 100) -> str:
    """Shorten a text to one line of at most `most` characters."""
    shortened = plain(text).strip().replace("\n", " ")
    return shortened if len(shortened) <= most else f"{shortened[: most - 1]}…"


def item(entry: Mapping[str, Any]) -> str:
    """Format an item that can be excluded: a group of duplicates, a change, or a name."""
    match entry:
        case {"keep": keep, "remove": [*remove]}:
            rest = ", ".join(line(path) for path in remove)
            return phrases.KEEP.format(keep=line(keep), rest=rest)
        case {"id": name, "conflict": True}:
            return phrases.CONFLICT.format(name=line(name))
        case {"id": _, "change": "moved", "source": str(source)}:
            return f"{SIGNS['moved']} {line(source)} → {line(entry['id'])}{_known(entry)}"
        case {"id": name, "change": str(kind)}:
            return f"{SIGNS.get(kind, '?')} {line(name)}{_known(entry)}"
        case _:
            return line(entry.get("id", entry))


SIGNS = {"created": "+", "deleted": "-", "changed": "~", "overwritten": "!", "moved": ">"}


def change(entry: Mapping[str, Any]) -> str:
    """Format one line of a diff."""
    sign, path = SIGNS.get(entry["change"], "?"), line(entry["path"])
    ending = "/" if entry.get("kind") == "directory" else ""
    match entry:
        case {"back": True, "source": str(source)}:
            return f"{sign} {line(source)} → {phrases.BACK['moved'].format(path=f'{path}{ending}')}"
        case {"back": True, "change": what} if what in phrases.BACK:
            return f"{sign} {path}{ending} ({phrases.BACK[what]})"
        case {"change": "created", "source": str(source)}:
            return f"{sign} {path}{ending} ({phrases.COPY.format(source=line(source))})"
        case {"source": str(source)}:
            return f"{sign} {line(source)}{ending} → {path}{ending}{_known(entry)}"
        case _:
            return f"{sign} {path}{ending}{_known(entry)}"


def _known(entry: Mapping[str, Any]) -> str:
    """Describe an entry further: the duplicate that stays, an archive's contents, or the matched text line."""
    if entry.get("same_as"):
        return f" ({phrases.SAME.format(keep=line(entry['same_as']))})"
    if "says" in entry:
        return f" ({phrases.SAYS.format(text=line(entry['says']))})"
    if entry.get("files"):
        return f" ({phrases.FOLDER.format(files=_files(int(entry['files'])))})"
    return f" ({_packed(entry['packs'])})" if "packs" in entry else ""


def _packed(packs: Mapping[str, Any]) -> str:
    names = [phrases.ALL_HERE if path == "." else line(path) for path in packs["of"]]
    more = [phrases.AND_MORE.format(n=packs["more"])] if packs["more"] else []
    text = phrases.PACKS.format(files=_files(int(packs["files"])), of=", ".join((*names, *more)))
    return text.removesuffix(": ")


def _files(number: int) -> str:
    return count(number, "file")
