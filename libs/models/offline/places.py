"""Where: folders and targets, read from words and names and checked against what the workspace holds.

A place outside the workspace is refused, never bent into one inside.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from libs.errors import Rejected
from libs.models.offline.reading import ACTIONS, KINDS, Clause, Item, Name, Named
from libs.retrieval.lexicon import listed
from libs.retrieval.words import Word, extension_of, fold

INTO = frozenset(("to", "into", "onto", "nach", "zu", "zum", "zur", "a", "al", "under"))
IN = frozenset(
    ("in", "inside", "within", "from", "of", "im", "ins", "aus", "von", "vom", "en", "de", "del", "dentro", "desde")
)
PUTS = listed(
    "put puts pack packe packen leg lege legen verschiebe verschieben verschieb pon poner mete meter collect gather"
    " stick sammle sammel sammeln steck stecke tu tue reune junta coloca place drop store stash dump throw shove schieb"
    " schiebe mueve guarda ponlos should_go_in go_in bring"
    " belong belongs live lives should_live gehort gehoren kommt kommen wandert wandern"
)
"""Verbs after which "in X" is where something goes."""
FOLDER_WORDS = frozenset(("folder", "wellknown"))


NO_PLACE = listed("type size age date name content here file folder all recursive newest oldest largest smallest")
"""What a capital after a preposition does not make a place: German writes every noun with one ("nach Typ")."""


NEW = listed("new neuen neue neuer nueva nuevo called named")


class Outside(Rejected):
    """The place is outside of the folder that we work in."""

    code = "OUTSIDE_WORKSPACE"


class NoSuchPlace(Rejected):
    """Nothing at the top of the workspace has this name."""

    code = "NO_SUCH_PLACE"


@dataclass(frozen=True, slots=True)
class Place:
    """A place as it was said: after which preposition, or only beside the word folder (`a folder X`)."""

    said: str
    item: Item
    after: str = ""
    beside: bool = False

    @property
    def target(self) -> bool:
        return self.after in INTO


@dataclass(frozen=True, slots=True)
class Ground:
    """What is known of the workspace: where it lies, and the names at its top (None where nobody said)."""

    root: str | None = None
    names: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    """All files, at any depth, where there are few enough of them to say (None where nobody said)."""
    folders: frozenset[str] = frozenset()
    """Those of the names that are said to be folders."""

    @classmethod
    def of(cls, root: str | None, facts: Mapping[str, Any]) -> Ground:
        """From a task. `facts["names"]` lists the top-level names; folders may end with `/`."""
        listed = facts.get("names")
        if not isinstance(listed, list | tuple):
            return cls(root)
        deep = facts.get("paths")
        paths = tuple(map(str, deep)) if isinstance(deep, list | tuple) else None
        told = [str(name) for name in listed]
        folders = frozenset(name.rstrip("/") for name in told if name.endswith("/"))
        return cls(root, tuple(name.rstrip("/") for name in told), paths, folders)

    @property
    def files(self) -> tuple[str, ...]:
        """Those at the top."""
        return tuple(name for name in self.names or () if name not in self.folders)

    @property
    def spoken(self) -> tuple[str, ...]:
        """What a request may name outright: all at the top, and deeper files whose name is there once."""
        last: dict[str, list[str]] = {}
        for path in self.paths or ():
            if "/" in path:
                last.setdefault(path.rpartition("/")[2], []).append(path)
        deep = [found[0] for name, found in last.items() if len(found) == 1 and name not in (self.names or ())]
        return (*(self.names or ()), *deep)

    def called(self, word: str, within: str = ".") -> tuple[str, ...]:
        """Files of a folder with this word, or the one that it is the plural of, in their names: for "Rechnungen",
        `Rechnung Mai.pdf`.
        """
        held = self.files if within == "." else [path for path in self.paths or () if path.rpartition("/")[0] == within]
        wanted = _singulars(fold(word))
        return tuple(path for path in held if wanted & _tokens(path.rpartition("/")[2]))

    def everywhere(self, word: str) -> tuple[str, ...]:
        """Files of any folder with this word in their names; none where nobody said what is there."""
        wanted = _singulars(fold(word))
        return tuple(path for path in self.paths or () if wanted & _tokens(path.rpartition("/")[2]))

    def within(self, folder: str) -> tuple[str, ...]:
        """The files right in a folder, as far as they are known."""
        if folder == ".":
            return self.files
        return tuple(path for path in self.paths or () if path.rpartition("/")[0] == folder)

    def deep(self, name: str) -> tuple[str, ...]:
        """Files of this name in any folder."""
        return tuple(path for path in self.paths or () if fold(path.rpartition("/")[2]) == fold(name))

    def close(self, name: str) -> tuple[str, ...]:
        """Names that look like this one, the nearest first."""
        among = [*(self.names or ()), *(path for path in self.paths or () if "/" in path)]
        near = {fold(path.rpartition("/")[2]): path for path in reversed(among)}
        return tuple(near[found] for found in difflib.get_close_matches(fold(name), near, n=3, cutoff=0.6))

    def has(self, name: str) -> str | None:
        """The name as it is really written, or None."""
        return next((real for real in self.names or () if fold(real) == fold(name)), None)

    def path(self, said: str, *, new: bool = False) -> str:
        """The path relative to the root that was meant. `new`: it need not exist yet. Raises `Outside` or
        `NoSuchPlace`.
        """
        inside = self._inside(said)
        parts = [part for part in inside.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise Outside(said)
        if not parts:
            return "."
        if self.names is None:
            return "/".join(parts)
        real = self.has(parts[0])
        if real is None and len(parts) == 1 and self.is_root(parts[0]):
            return "."
        if real is None and not new:
            raise NoSuchPlace(parts[0])
        path = "/".join((real or parts[0], *parts[1:]))
        return path if new or len(parts) == 1 else self._below(path)

    def _below(self, path: str) -> str:
        """A path with folders in it, as it is really written. Raises `NoSuchPlace` where all files are known and none
        is there.
        """
        if self.paths is None:
            return path
        held = dict.fromkeys(above for real in self.paths for above in _lineage(real))
        found = next((real for real in held if fold(real) == fold(path)), None)
        if found is None and path.partition("/")[0] in self.folders and "." in path.rpartition("/")[2]:
            raise NoSuchPlace(path)
        return found or path

    def is_root(self, name: str) -> bool:
        return self.root is not None and fold(PurePosixPath(self.root).name) == fold(name)

    def _inside(self, said: str) -> str:
        if re.match(r"^[A-Za-z]:\\", said):
            raise Outside(said)
        if not said.startswith(("/", "~")):
            return said
        asked, root = PurePosixPath(said), PurePosixPath(self.root or "/nowhere")
        if said.startswith("/"):
            if not asked.is_relative_to(root):
                raise Outside(said)
            return str(asked.relative_to(root))
        # `~` is somebody's home: only what the root's own end confirms is inside.
        parts = asked.parts[1:]
        depth = next((n for n in range(len(parts), 0, -1) if root.parts[-n:] == parts[:n]), None)
        if depth is None:
            raise Outside(said)
        return "/".join(parts[depth:]) or "."


def _lineage(path: str) -> Iterator[str]:
    parts = path.split("/")
    yield from ("/".join(parts[:n]) for n in range(1, len(parts) + 1))


@lru_cache(maxsize=4096)
def _tokens(name: str) -> frozenset[str]:
    """The words of a file's name, without its extension."""
    stem = name.rpartition(".")[0] or name
    return frozenset(re.findall(r"[^\W\d_]+", fold(stem)))


PLURALS = (("ies", "y"), ("es", ""), ("s", ""), ("en", ""), ("n", ""), ("er", ""), ("e", ""))


def _singulars(word: str) -> frozenset[str]:
    """The word, and what it may be the plural of."""
    cut = [word.removesuffix(end) + put for end, put in PLURALS if word.endswith(end)]
    return frozenset(one for one in (word, *cut) if len(one) >= 3)


def places(clause: Clause, ground: Ground) -> tuple[Place, ...]:
    """The folders that a clause speaks of, in order: "in Photos and Music" are two."""
    found: list[Place] = []
    for at, item in enumerate(clause.items):
        place = _place(clause.items, at, ground)
        if place is None and found and found[-1].item is clause.items[at - 1] and _like_a_name(item):
            place = Place(item.text, item, found[-1].after)
        if place is not None:
            found.append(place)
    return _turned(clause, found)


def _turned(clause: Clause, found: list[Place]) -> tuple[Place, ...]:
    """What is searched for ("suche nach X") is no target; what is put in a folder goes into it."""
    if clause.says("find") and not clause.says("move"):
        return tuple(place for place in found if not place.target)
    packs = any(name.text.casefold().endswith((".zip", ".tar", ".tgz", ".gz")) for name in clause.names)
    puts = not packs and clause.says("move") and any(word.folded in PUTS for word in clause.words)
    wished = not packs and not _deed(clause) and any(word.folded in WISHES for word in clause.words)
    if (puts or wished) and not any(place.target for place in found):
        return tuple(
            replace(place, after="into") if place.after in ("in", "im", "ins", "en") else place for place in found
        )
    return tuple(found)


WISHES = listed("want wants need id like i_d hatte hatten quiero quisiera necesito querria")
"""With these, and no deed, "in X" is where something shall be: "I'd like the photos in Best"."""


def _deed(clause: Clause) -> bool:
    return not clause.concepts.isdisjoint(ACTIONS)


def _like_a_name(item: Item) -> bool:
    if isinstance(item, Named):
        return not file_like(item)
    return item.text[0].isupper() and (item.unknown or not set(item.concepts).isdisjoint(KINDS))


def file_like(name: Named) -> bool:
    """A pattern, or a name with an extension."""
    return name.kind is Name.GLOB or "." in name.text.rsplit("/", 1)[-1].strip(".")


def _place(items: Sequence[Item], at: int, ground: Ground) -> Place | None:
    item = items[at]
    before = _preposition(items, at)
    beside = _beside_folder(items, at)
    if isinstance(item, Named):
        if item.kind is Name.GLOB or not (before or beside):
            return None
        file_like = "." in item.text.rsplit("/", 1)[-1].strip(".") and not beside and item.kind is Name.PATH
        return None if file_like and before not in INTO else Place(item.text, item, before, beside and not before)
    after = items[at + 1] if at + 1 < len(items) else None
    if isinstance(after, Word) and {"name", "file"} & {*after.concepts} and not beside:
        return None  # "in den PDF-Namen", "of the DSC files"
    if not _may_be_place(item, ground, before=before, beside=beside, last=after is None):
        return None
    return Place(item.text, item, before, beside and not before)


def _may_be_place(word: Word, ground: Ground, *, before: str, beside: bool, last: bool) -> bool:
    if "wellknown" in word.concepts:
        return True
    if {"folder", "file"} & {*word.concepts}:
        return False
    if (
        before in INTO
        and word.text[0].isupper()
        and not word.filler
        and not (before == "nach" and {*word.concepts} & NO_PLACE)
    ):
        return True
    if ground.has(word.text) is not None and (before or beside):
        return True
    plain = word.unknown or not set(word.concepts).isdisjoint(KINDS) or extension_of(word.folded) is not None
    if not plain or word.text.isdigit():
        return False
    if before in ("into", "nach", "to") and word.unknown and last:
        return True
    if beside:
        return word.text[0].isupper() or word.unknown
    if before not in INTO and ground.called(word.text):
        return False
    return bool(before) and word.text[0].isupper() and (word.unknown or before in INTO or not ground.names)


def _preposition(items: Sequence[Item], at: int) -> str:
    """The preposition before an item, looking past articles and words such as "folder" or "called"."""
    for item in reversed(items[max(0, at - 5) : at]):
        if isinstance(item, Named):
            return ""
        if item.folded in INTO | IN:
            return "into" if _into_a_folder(items, at, item) else item.folded
        if "inside" in item.concepts:
            return "in"
        if "move" in item.concepts and item.folded.endswith(("_into", "_to", "_in")):
            return "into"
        passes = item.filler or not set(item.concepts).isdisjoint((*FOLDER_WORDS, "name", "here")) or item.folded in NEW
        if not passes:
            return ""
    return ""


def _into_a_folder(items: Sequence[Item], at: int, preposition: Word) -> bool:
    """ "In a folder called X", "in den Ordner X", "en una carpeta X": by the article that is where something goes."""
    if preposition.folded not in ("in", "en"):
        return False
    after = items[items.index(preposition) + 1 : at + 2]
    article = next((item.folded for item in after if isinstance(item, Word)), "")
    folder = any(isinstance(item, Word) and "folder" in item.concepts for item in after)
    return folder and article in ("an", "another", "new", "einen", "den", "una", "neuen")


def _beside_folder(items: Sequence[Item], at: int) -> bool:
    """`the Photos folder`, `folder Photos`, `a folder called Photos`."""
    after = items[at + 1] if at + 1 < len(items) else None
    if isinstance(after, Word) and "folder" in after.concepts and not after.folded.endswith(("files", "dateien")):
        return True
    for item in reversed(items[max(0, at - 2) : at]):
        if isinstance(item, Named):
            return False
        if "folder" in item.concepts:
            return True
        if "name" not in item.concepts:
            return False
    return False
