"""Selection of paths by a tool's `include` and `exclude`. It is one rule, so that "leave the PDFs alone" means the same
everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath

from libs.texts import composed

WILD = re.compile(r"[*?\[]")


def selected(path: str, *, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> bool:
    """Return whether some `include` matches the path (or there is none) and no `exclude` does.

    Paths are relative to the workspace's root. A pattern is matched, ignoring case, against the last name, and one with
    a `/` against the whole path. An `exclude` is also matched against each folder above, so that excluding `Photos`
    excludes its contents. A pattern with wildcards but no accents matches names with and without accents. Composed and
    decomposed letters are equal.
    """
    if any(_matches(above, pattern) for pattern in exclude for above in _lineage(path)):
        return False
    return not include or any(_matches(path, pattern) for pattern in include)


@lru_cache(maxsize=4096)
def _lineage(path: str) -> tuple[str, ...]:
    pure = PurePosixPath(path)
    return str(pure), *(str(parent) for parent in pure.parents if str(parent) != ".")


@lru_cache(maxsize=4096)
def _name(path: str) -> str:
    return PurePosixPath(path).name


def _matches(path: str, pattern: str) -> bool:
    name = path if "/" in pattern else _name(path)
    if pattern.isascii() and WILD.search(pattern) and not name.isascii():
        name = _plain(name)
    return fnmatchcase(composed(name).casefold(), composed(pattern).casefold())


def _plain(name: str) -> str:
    """Return the name without its accents."""
    return "".join(one for one in unicodedata.normalize("NFD", name) if not unicodedata.combining(one))
