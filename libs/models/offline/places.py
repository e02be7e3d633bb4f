"""Where: folders and targets, read from words and names and checked against what the workspace holds.

A place outside the workspace is refused, never bent into one inside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from libs.errors import Rejected
from libs.models.offline.reading import KINDS, Clause, Item, Name, Named
from libs.retrieval.words import Word, extension_of, fold

INTO = frozenset(("to", "into", "onto", "nach", "zu", "zum", "zur", "a", "al", "under"))
IN = frozenset(
    ("in", "inside", "within", "from", "of", "im", "ins", "aus", "von", "vom", "en", "de", "del", "dentro", "desde")
)
PUTS = frozenset(
    ("put", "puts", "pack", "packe", "leg", "lege", "legen", "verschiebe", "verschieben", "pon", "poner", "mete")
)
"""Verbs after which "in X" is where something goes."""
FOLDER_WORDS = frozenset(("folder", "wellknown"))


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

    @classmethod
    def of(cls, root: str | None, facts: Mapping[str, Any]) -> Ground:
        """From a task. `facts["names"]` lists the top-level names; folders may end with `/`."""
        listed = facts.get("names")
        names = tuple(str(name).rstrip("/") for name in listed) if isinstance(listed, list | tuple) else None
        return cls(root, names)

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
        return "/".join((real or parts[0], *parts[1:]))

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
    puts = clause.says("move") and any(word.folded in PUTS for word in clause.words)
    if puts and not any(place.target for place in found):
        return tuple(
            replace(place, after="into") if place.after in ("in", "im", "ins", "en") else place for place in found
        )
    return tuple(found)


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
    if not _may_be_place(item, ground, before=before, beside=beside):
        return None
    return Place(item.text, item, before, beside and not before)


def _may_be_place(word: Word, ground: Ground, *, before: str, beside: bool) -> bool:
    if "wellknown" in word.concepts:
        return True
    if ground.has(word.text) is not None and (before or beside):
        return True
    plain = word.unknown or not set(word.concepts).isdisjoint(KINDS) or extension_of(word.folded) is not None
    if not plain or word.text.isdigit():
        return False
    if beside:
        return word.text[0].isupper() or word.unknown
    return bool(before) and word.text[0].isupper() and (word.unknown or before in INTO or not ground.names)


def _preposition(items: Sequence[Item], at: int) -> str:
    """The preposition before an item, looking past articles and words such as "folder" or "called"."""
    for item in reversed(items[max(0, at - 4) : at]):
        if isinstance(item, Named):
            return ""
        if item.folded in INTO | IN:
            return item.folded
        passes = item.filler or not set(item.concepts).isdisjoint((*FOLDER_WORDS, "name", "here"))
        if not passes:
            return ""
    return ""


def _beside_folder(items: Sequence[Item], at: int) -> bool:
    """`the Photos folder`, `folder Photos`, `a folder called Photos`."""
    after = items[at + 1] if at + 1 < len(items) else None
    if isinstance(after, Word) and "folder" in after.concepts:
        return True
    for item in reversed(items[max(0, at - 2) : at]):
        if isinstance(item, Named):
            return False
        if "folder" in item.concepts:
            return True
        if "name" not in item.concepts:
            return False
    return False
