"""Reserved entries: what is never touched, and what is skipped unless a request names it.

A repository is one item: its own data (`.git`) is never a node of the tree, and a subfolder that holds such data is one
node without children. Folders of dependencies, caches and application bundles are items of the same kind: they are not
read, and only a request that names one moves or deletes it, always whole. System files, locks and unfinished downloads
are nodes that a bulk selection skips.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import translate

HIDDEN = ".suma"
"""The folder in the root that holds open transactions and history. It is not part of the workspace."""
SET_ASIDE = f"{HIDDEN}-set-aside-"
"""Prefix of the new name of a foreign `.suma`; a number follows."""
IGNORE_FILE = ".sumaignore"
REPOSITORY_DATA = frozenset((".git", ".hg", ".svn"))
BARE = frozenset(("HEAD", "objects", "refs"))
"""Names by which git itself recognises a repository without a work tree."""
REPOSITORY, BUNDLE = "repository", "bundle"
WHOLE = frozenset((REPOSITORY, BUNDLE))
"""Kinds of nodes that are folders on the disk and one item in the tree."""


def _matcher(patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns.split())), re.IGNORECASE)


_NAMES = _matcher(
    "node_modules .venv __pycache__ *.app"
    " .DS_Store Thumbs.db desktop.ini ~$* .~lock.*# *.crdownload *.part *.download .sumaignore"
)


def hidden(name: str) -> bool:
    """Return whether an entry of this name is not part of any workspace, at any depth."""
    return name in REPOSITORY_DATA or name == HIDDEN or name.startswith(SET_ASIDE)


def skipped(kind: str, name: str) -> bool:
    """Return whether a bulk selection skips a node of this kind and name."""
    return kind in WHOLE or (kind != "directory" and by_name(name))


def by_name(name: str) -> bool:
    """Return whether a bulk selection skips a file of this name, and a folder of this name is one item."""
    return _NAMES.match(name) is not None


def whole_by_content(names: Collection[str]) -> str | None:
    """Return the kind of a folder that is one item because of its entries; None for any other."""
    if not REPOSITORY_DATA.isdisjoint(names) or all(name in names for name in BARE):
        return REPOSITORY
    return BUNDLE if "pyvenv.cfg" in names else None
