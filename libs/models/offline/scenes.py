"""What a clause is filled against: what the whole request says of all its files, and what the workspace holds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from libs.models.offline.clauses import Clause, Mood, Reading
from libs.models.offline.depth import flat
from libs.models.offline.ground import Ground
from libs.models.offline.keeping import spares_copies
from libs.models.offline.measures import Filters, opposed
from libs.models.offline.places import places
from libs.models.offline.selection import Selection, select, spared
from libs.models.offline.weighing import weighed
from libs.retrieval.lexicon import listed
from libs.skills import Categories

NODES = listed("file folder only not except keep")
"""Concepts of a clause that speaks of files or folders as such: "only the files", "no folders"."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The whole request's folder, exclusions and restrictions, and the ground."""

    text: str
    ground: Ground
    categories: Categories
    folder: str = "."
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Of copies, those that stay whatever else is removed."""
    chosen: str | None = None
    """The one of several named folders that this time is meant."""
    created: str | None = None
    """The folder that an earlier goal of this request makes, for "into it"."""
    filters: Filters = field(default_factory=dict)
    """Sizes and times that hold for the whole request: "only those of this year"."""
    node_kind: str | None = None
    """Where the request says that only files, or only folders, are meant."""
    named: str | None = None
    """The one of several new names that this time is meant."""
    whole: str | None = None
    """The one of several folders that this time goes whole."""
    feeds: bool = False
    """Is it a list for another step, and not what was asked for?"""
    changes: bool = False
    """Is it for a change? "The files" of a change are files and no folders."""
    plain: str = ""
    """The text as its clauses were read from it."""

    @property
    def said(self) -> str:
        """Where the clauses' items have their places."""
        return self.plain or self.text


def scene_of(reading: Reading, ground: Ground, categories: Categories) -> Scene:
    """Raises `Outside` or `NoSuchPlace` where something is spared that cannot be meant."""
    only = [pattern for clause in reading.wishes(Mood.ONLY) for pattern in _limited(clause, ground, categories)]
    alone, kept = left_alone(reading, ground, categories)
    return Scene(
        reading.text,
        ground,
        categories,
        only=tuple(only),
        exclude=(*alone, *_below(reading, ground)),
        kept=kept,
        filters=bounds(reading),
        node_kind=_node_kind(reading),
        plain=reading.plain,
    )


def _limited(clause: Clause, ground: Ground, categories: Categories) -> list[str]:
    """The patterns of "only …"; the name of a file is one, too."""
    picked = select(clause, ground, categories)
    named = map(ground.path, picked.names)
    return [*picked.patterns, *(path for path in named if path not in ground.folders)]


def _below(reading: Reading, ground: Ground) -> list[str]:
    """What a comparison or a search would find in subfolders, where it shall not look."""
    deep = [clause for clause in reading.wishes(Mood.DO) if clause.says("duplicate", "find", "list", "howmany")]
    if not deep or not flat(reading.text):
        return []
    within = [ground.path(place.said) for clause in deep for place in places(clause, ground) if not place.target]
    return [f"{folder}/*/*" for folder in within if folder != "."] or ["*/*"]


def left_alone(reading: Reading, ground: Ground, categories: Categories) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns of what is out of everything, and those of copies that are compared and stay."""
    copies = any(clause.says("duplicate") for clause in reading.wishes(Mood.DO))
    alone: dict[str, None] = {}
    kept: dict[str, None] = {}
    for clause, picked in _spared(reading, ground, categories):
        (kept if copies and spares_copies(clause) else alone).update(dict.fromkeys(picked.patterns))
    return tuple(alone), tuple(kept)


def spared_in(reading: Reading, ground: Ground, categories: Categories) -> list[Selection]:
    """What each clause leaves alone, but for sizes, times and folders as such: these bound the listings instead."""
    return [picked for _, picked in _spared(reading, ground, categories)]


def _spared(reading: Reading, ground: Ground, categories: Categories) -> list[tuple[Clause, Selection]]:
    return [
        (clause, spared(clause, ground, categories))
        for clause in sparing(reading)
        if opposed(clause.filters) is None and _node(clause) is None
    ]


def sparing(reading: Reading) -> list[Clause]:
    """What leaves some files alone. Copying and packing do, whatever "must never be deleted"."""
    deeds = [clause for clause in reading.wishes(Mood.DO) if clause.acts]
    leaves = all(clause.says("copy", "pack", "unpack") and not clause.says("remove", "move") for clause in deeds)
    return [clause for clause in reading.wishes(Mood.SPARE) if not (leaves and clause.says("remove"))]


def bounds(reading: Reading) -> dict[str, Any]:
    """Sizes and times of the whole request: "only those of this year", "except what is over 1 GB"."""
    told: dict[str, Any] = {}
    for clause in reading.wishes(Mood.ONLY):
        told |= clause.filters
    for clause in reading.wishes(Mood.SPARE):
        told |= opposed(clause.filters) or {}
    return told


def inherited(scene: Scene, clause: Clause, reading: Reading) -> Scene:
    """A clause without a folder of its own works in the one that was named before it."""
    named = [
        place.said
        for before in map(weighed, reading.wishes(Mood.DO))
        for place in places(before, scene.ground)
        if before.items[0].start <= clause.items[0].start
        and not place.target
        and not (place.beside and before.says("create", "remove", "rename", "move", "copy", "pack"))
    ]
    only = (place for one in reading.wishes(Mood.ONLY) for place in places(one, scene.ground))
    named += [place.said for place in only if place.after and not place.target]  # "only in Scans", before it or after
    return replace(scene, folder=scene.ground.path(named[-1])) if named else scene


def _node_kind(reading: Reading) -> str | None:
    for clause in reading.clauses:
        node = _node(clause)
        if node and clause.mood is Mood.ONLY:
            return node
        if clause.mood is Mood.SPARE and (spared_nodes := _nodes(clause)):
            return "directory" if spared_nodes == {"file"} else "file"
    return None


def _nodes(clause: Clause) -> set[str]:
    """Each kind of node that a clause lists: "the folders and the .txt files"."""
    groups = (replace(clause, items=tuple(group)) for group in clause.groups(clause.items))
    return {node for group in groups if (node := _node(group)) is not None}


def _node(clause: Clause) -> str | None:
    """The kind of node that a clause speaks of, and of nothing else."""
    plain = all(word.filler or (word.concepts and {*word.concepts} <= NODES) for word in clause.words)
    if clause.names or clause.filters or not plain or clause.says("file") is clause.says("folder"):
        return None
    return "file" if clause.says("file") else "directory"
