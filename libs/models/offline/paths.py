"""What a name in a text looks like: a path, a pattern, or text in quotes.

What stands in quotes or looks like a path is a name and never an instruction: a file called "delete everything" can
be moved.
"""

from __future__ import annotations

import re

from libs.guards.paths import at_home
from libs.models.offline.clauses import Name, Named
from libs.retrieval.regexes import regex
from libs.retrieval.words import extension_of, words

QUOTED = regex(r"""["“”„«]([^"“”„«»\n]+)["“”»]|`([^`\n]+)`|(?<!\w)['‘]([^'‘’\n]+)['’](?!\w)""")
FILE_NAME = regex(r"^[\w\-+()@~]+(\.[\w\-]+)*\.(?=\w{0,7}[^\W\d_])\w{1,8}$")
AMOUNT = regex(r"^\d+[.,]\d+[kmgtKMGT]?i?[bB]?$")
BARE_EXTENSION = regex(r"^\.[A-Za-z]\w{0,7}\$?$")
SEVERAL = regex(r"[^\w./~$-]")
"""What makes several words of a name."""
LOCK = "~$"
"""What an office program's lock files begin with: said bare, all of them are meant."""
HIDDEN = regex(r"\.(?:DS_Store|gitkeep|gitignore|keep|keepme|nojekyll|directory|localized)", re.IGNORECASE)
"""Files without an ending that is theirs; what else begins with a point may be a folder."""
ABBREVIATIONS = frozenset(("e.g", "i.e", "z.b", "u.a", "p.ej", "a.m", "p.m", "d.h", "etc", "vs"))


def below(folder: str, name: str) -> str:
    """The path of what is called so in a folder; `.` and nothing are the root."""
    return name if folder in ("", ".") else f"{folder}/{name}"


def quoted(match: re.Match[str]) -> Named:
    said = next(group for group in match.groups() if group)
    inner = said.strip() or said  # a blank is a text, too
    looks = kind_of(inner) if " " not in inner else (Name.PATH if FILE_NAME.match(inner.replace(" ", "_")) else None)
    return Named(looks or Name.QUOTE, inner, match.start(), match.end())


def pathlike(token: re.Match[str]) -> Named | None:
    raw = token.group()
    if not raw.strip(".") and token.start() and not token.string[token.start() - 1].isspace():
        return None  # the end of a sentence that ends with a name
    said = raw.lstrip("([{").rstrip("!?:)]}")
    said = said.rstrip(".") if said.strip("./") else said
    start = token.start() + raw.find(said)
    kind = kind_of(said)
    text = f"*{said}" if kind is Name.GLOB and BARE_EXTENSION.match(said) else f"{LOCK}*" if said == LOCK else said
    return Named(kind, text, start, start + len(said)) if kind else None


def kind_of(said: str) -> Name | None:
    if not said or said.casefold() in ABBREVIATIONS or AMOUNT.match(said):
        return None
    if "://" in said:
        return None
    if "*" in said or BARE_EXTENSION.match(said) or said == LOCK:
        return Name.GLOB if said.strip("*") else None
    if said.startswith(("../", "./", "/")) or at_home(said) or said in ("..", ".") or re.match(r"^[A-Za-z]:\\", said):
        return Name.PATH
    if "/" in said:
        parts = [part for part in said.split("/") if part]
        if parts and FILE_NAME.match(parts[-1]):
            return Name.PATH
        return None if parts and all(_ordinary(part) for part in parts) else Name.PATH
    return Name.PATH if FILE_NAME.match(said) else None


def _ordinary(part: str) -> bool:
    """`and/or` and `images/videos` are not paths; `Photos/2024` is."""
    read = words(part)
    return part == part.lower() and all(word.filler or word.concepts or extension_of(word.folded) for word in read)


def file_like(name: Named) -> bool:
    """A pattern, or a name with an extension."""
    last = name.text.rsplit("/", 1)[-1]
    return name.kind is Name.GLOB or "." in last.strip(".") or HIDDEN.fullmatch(last) is not None
