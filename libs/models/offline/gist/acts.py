"""The changes of an offer, apart: what is done to which files, so that a reply can change either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import reduce
from typing import Any

from libs.models.offline.gist.deeds import LIST, NODES, Deed
from libs.models.offline.gist.spelling import ending
from libs.models.offline.ground import Ground
from libs.models.offline.selection import escaped
from libs.models.ports import Call
from libs.retrieval.regexes import regex
from libs.skills import REFERENCE, selected

DELETE, MOVE, COPY = "manage-files.delete", "manage-files.move", "manage-files.copy"
RENAME, RENAMES, PACK = "manage-files.rename", "batch-rename.rename", "archive-files.pack"
LOOKS = (LIST, "manage-files.get_metadata", "search-files.find", "analyze-directory.report")
SCAN, UNDOUBLE = "remove-duplicates.scan", "remove-duplicates.remove"
FILES = {
    DELETE: "paths",
    MOVE: "source",
    COPY: "source",
    RENAME: "path",
    RENAMES: "paths",
    PACK: "paths",
    "organize-by-type.sort": "source",
}
"""What each tool calls its files."""
DEED = {DELETE: "remove", UNDOUBLE: "remove", COPY: "copy", RENAME: "rename", RENAMES: "rename", PACK: "pack"}
"""The word for what each does; the others move."""
WHERE = ("path", "recursive", "node_kind", "include", "exclude", "folders")
"""What a listing says of names and places; the rest are bounds."""
NUMBERED = regex(r"^(?P<base>.*\D)(?P<number>0*1)$")


class Side(StrEnum):
    """What a reply may want of files."""

    OUT = "out"
    ONLY = "only"
    ALSO = "also"
    INSTEAD = "instead"


@dataclass(frozen=True, slots=True)
class Act:
    """One change, the files that it is about as far as names tell them, and the bounds that they keep to beside."""

    tool: str
    plain: Mapping[str, Any]
    """Its arguments but for the files."""
    files: tuple[str, ...] = ()
    bounds: Mapping[str, Any] = field(default_factory=dict)
    look: Mapping[str, Any] = field(default_factory=dict)
    """The listing, as long as nothing of it was changed."""
    whole: tuple[str, ...] = ()
    """Folders that go as such."""

    @property
    def many(self) -> bool:
        return self.tool not in (RENAME, UNDOUBLE)

    def empties(self, kind: str) -> bool:
        """Does it take what is empty, of this kind?"""
        return bool(self.bounds.get("empty")) and self.look.get("node_kind", "file") == kind

    def of_empty(self, kind: str) -> Act:
        look = {"path": ".", "recursive": True, "node_kind": kind, "empty": True}
        return Act(self.tool, self.plain, bounds={"empty": True}, look=look)

    def without(self, files: Sequence[str]) -> Act | None:
        """Less these; None where none is left."""
        out = [path for path in self.files if path in files]
        if self.look and (self.bounds or self.tool == UNDOUBLE):
            spared = [*self.look.get("exclude", ()), *map(escaped, files)]
            return replace(self, look={**self.look, "exclude": spared}) if out or not self.files else self
        return self.with_files(tuple(path for path in self.files if path not in files)) if out else self

    def only(self, files: Sequence[str], filters: Mapping[str, Any]) -> Act | None:
        """Of its files these; None where none of them is."""
        if self.tool == UNDOUBLE:
            return replace(self, look={**self.look, "include": [*map(escaped, files)]}) if files else None
        left = tuple(path for path in self.files if path in files)
        bounded = replace(self, bounds={**self.bounds, **filters}, look={}) if filters else self
        return bounded.with_files(left) if left != self.files or filters else self

    def with_files(self, files: tuple[str, ...]) -> Act | None:
        """With others in the place of its own; one that gets many is a rule for all of them."""
        if not files or self.tool == UNDOUBLE:
            return None
        if self.tool == RENAME and files != self.files:
            return self._numbered(files) if len(files) > 1 else self._renaming(files)
        return replace(self, files=files, look={}, whole=())

    def whole_of(self, folder: str) -> Act | None:
        """With a folder and all that is in it."""
        return replace(self, whole=(folder,), look={}, bounds={}) if self.tool in (DELETE, MOVE, COPY, PACK) else None

    def named(self, name: str, digits: int) -> Act:
        """Its files under one name with a number each."""
        plain = {"base": name, "digits": digits}
        return Act(RENAMES, plain, self.files, self.bounds) if len(self.files) != 1 else self._called(name)

    def _called(self, name: str) -> Act:
        return Act(RENAME, {"new_name": f"{name}{ending(self.files[0])}"}, self.files)

    def _renaming(self, files: tuple[str, ...]) -> Act:
        new = str(self.plain["new_name"])
        stem = new.removesuffix(ending(self.files[0]))
        return Act(RENAME, {"new_name": f"{stem}{ending(files[0])}"}, files)

    def _numbered(self, files: tuple[str, ...]) -> Act:
        stem = str(self.plain["new_name"]).removesuffix(ending(self.files[0]))
        found = NUMBERED.match(stem)
        base, first = (found["base"], found["number"]) if found else (stem, "1")
        return Act(RENAMES, {"base": base.rstrip(), "digits": max(len(first), len(str(len(files))))}, files)

    def deed(self, ground: Ground) -> Deed:
        """Its calls."""
        param = FILES.get(self.tool, "groups")
        if self.tool == UNDOUBLE:
            return Deed(((SCAN, dict(self.look)), (self.tool, {**self.plain, param: "$step(1).groups"})))
        if self.tool == RENAME:
            return Deed(((self.tool, {"path": self.files[0], **self.plain}),))
        if self.whole:
            looks = tuple((LIST, {"path": folder}) for folder in self.whole)  # what is deleted was looked at (S0-14)
            return Deed((*looks, (self.tool, {**self.plain, param: [*self.whole]})))
        order = {"order": "name"} if "base" in self.plain else {}
        return Deed(((LIST, {**self._listing(ground), **order}), (self.tool, {**self.plain, param: NODES.format(n=1)})))

    def _listing(self, ground: Ground) -> dict[str, Any]:
        """Of just its files: a name without a folder would be that of files in others as well."""
        if self.look:
            return dict(self.look)
        include = [*map(escaped, self.files)]
        others = [p for p in ground.paths or () if p not in self.files and selected(p, include=include)]
        out = {"exclude": [*map(escaped, others)]} if others else {}
        deep = any("/" in path for path in self.files)
        out = out if deep else {}
        return {"path": ".", "recursive": deep, "node_kind": "file", "include": include, **out, **self.bounds}


def calls_of(acts: Sequence[Act], ground: Ground) -> tuple[Call, ...]:
    return reduce(Deed.then, (act.deed(ground) for act in acts), Deed(())).calls


def effect(calls: Sequence[Call], ground: Ground) -> list[tuple[str, str, frozenset[str], str]]:
    """What is done to which files, however that is put."""
    acts = acts_of(calls, ground)
    told = ((act, repr(act.bounds if act.files else act.look)) for act in acts)
    return [(act.tool, repr(sorted(act.plain.items())), frozenset(act.files), bounds) for act, bounds in told]


def acts_of(calls: Sequence[Call], ground: Ground) -> list[Act]:
    """The changes of these calls, each on what those before it have left; none where one of them is about what nobody
    can tell.
    """
    told: list[Act | None] = []
    for call in calls:
        if call[0] in FILES or call[0] == UNDOUBLE:
            told.append(act := _act(call, calls, ground))
            moves = act is not None and act.tool == MOVE and not act.whole
            ground = ground.moved(act.files, str(act.plain["target"])) if act is not None and moves else ground
    others = [tool for tool, _ in calls if tool not in FILES and tool not in (*LOOKS, SCAN, UNDOUBLE)]
    return [act for act in told if act is not None] if None not in told and not others else []


def _act(call: Call, calls: Sequence[Call], ground: Ground) -> Act | None:
    tool, args = call
    param = FILES.get(tool, "groups")
    plain = {name: value for name, value in args.items() if name != param}
    given = args.get(param)
    if isinstance(given, str) and (found := REFERENCE.match(given)):
        look_tool, look = calls[int(found.group(1)) - 1]
        return _listed(tool, plain, look, ground) if look_tool in (LIST, SCAN) else None
    named = [given] if isinstance(given, str) else [str(one) for one in given or ()]
    below = [ground.below(one) or (one,) for one in named if one != "."]
    files = tuple(dict.fromkeys(path for paths in below for path in paths))
    whole = tuple(one for one in named if ground.below(one))
    return Act(tool, plain, files, whole=whole) if files and not (tool == RENAME and whole) else None


def _listed(tool: str, plain: Mapping[str, Any], look: Mapping[str, Any], ground: Ground) -> Act | None:
    bounds = {name: value for name, value in look.items() if name not in (*WHERE, "order", "strategy", "keep")}
    if look.get("node_kind") == "directory" and not look.get("empty"):
        return None
    folders = look.get("folders") or (look.get("path", "."),)
    inside = ground.below if look.get("recursive") or tool == UNDOUBLE else ground.within
    held = [path for folder in folders for path in inside(str(folder))]
    files = tuple(p for p in held if selected(p, include=look.get("include", ()), exclude=look.get("exclude", ())))
    return Act(tool, plain, () if bounds.get("empty") or tool == UNDOUBLE else files, bounds, look)
