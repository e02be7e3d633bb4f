"""Where a copy goes, and what it is called there.

"Copy a.txt to b.txt" names the copy, "copy a.txt to Backup" its folder. What has no ending may be either where the
place is not there yet: "into Backup" is a folder, "to Backup" is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from libs.models.offline.clauses import Clause, Item, Name, Named
from libs.models.offline.copying import names_of_copy, needs_a_place
from libs.models.offline.paths import file_like
from libs.models.offline.places import WITHIN, places
from libs.models.offline.pronouns import THERE
from libs.models.offline.scenes import Scene
from libs.retrieval.words import Word
from libs.skills import ToolDefinition

Args = Mapping[str, Any]


def makes_copies(tool: ToolDefinition) -> bool:
    return "copy_name" in tool.roles.values()


def end_of_copy(tool: ToolDefinition, args: Args, clause: Clause, scene: Scene) -> dict[str, Any]:
    """The args by which one thing comes to be where it was said. A name that is a path is a folder and a name in it;
    one that is said beside a file that was to be the end stands for that one, which is taken.
    """
    if not makes_copies(tool):
        return {}
    param, given = {role: param for param, role in tool.roles.items()}, _by_role(tool, args)
    name, end, one = given.get("copy_name"), given.get("target"), _one(given.get("files"))
    told: dict[str, Any] = {} if one is None else {param["files"]: one}
    if name is None:
        inside = open_end(tool, args, clause, scene) is not None and _holds(clause, scene)
        return told | ({param["copy_name"]: str(one).rpartition("/")[2]} if inside else {})
    above, slash, last = str(name).rpartition("/")
    if slash:
        return told | {param["target"]: above or ".", param["copy_name"]: last}
    taken = end in scene.ground.files or end in (scene.ground.paths or ())
    return told | ({param["target"]: str(end).rpartition("/")[0] or "."} if taken else {})


def open_end(tool: ToolDefinition, args: Args, clause: Clause, scene: Scene) -> str | None:
    """The one thing without an ending whose copy goes to a place that is not there: its folder, or its name?"""
    given, ground = _by_role(tool, args), scene.ground
    one, end = _one(given.get("files")), given.get("target")
    if one is None or not isinstance(end, str) or given.get("copy_name") is not None or clause.says("name"):
        return None
    there = end == "." or ground.has(end.partition("/")[0]) is not None
    return None if there or "." in one.rpartition("/")[2].strip(".") else one


def lacks_an_end(tool: ToolDefinition, args: Args, clause: Clause, scene: Scene) -> bool:
    """ "Copy the PDFs" leads somewhere, "duplicate a.txt" and "copy a.txt as b.txt" need no place. "Make a copy of the
    PDFs in Docs" may mean either.
    """
    if not makes_copies(tool) or {"target", "copy_name"} & _by_role(tool, args).keys():
        return False
    return needs_a_place(clause) or any(place.after in WITHIN for place in places(clause, scene.ground))


def copy_name(clause: Clause, scene: Scene) -> str | None:
    """What the copy shall be called. A name without an ending, for a file that has one, gets that one."""
    called = said_names(clause, scene)
    named = [one for one in clause.names if one.kind is Name.PATH and one not in called]
    said = [name for name in names_of_copy(clause) if name[0] in called]
    if not said:
        return None
    first = said[-1][0]
    name = first.text if isinstance(first, Named) else _as_written(scene.text, said[-1])
    if "/" not in scene.text[first.start : first.end]:
        name = name.rpartition("/")[2]  # that one of its name is in some folder says nothing of the new one
    ending = "." + named[0].text.rpartition(".")[2] if len(named) == 1 and file_like(named[0]) else ""
    return name if "." in name.strip(".") else f"{name}{ending}"


def said_names(clause: Clause, scene: Scene) -> tuple[Item, ...]:
    """The words that name the copy; none where it is a folder that is called so: "into a folder called Backup"."""
    around = {place.item for place in places(clause, scene.ground)}
    return tuple(item for name in names_of_copy(clause) if around.isdisjoint(name) for item in name)


def _by_role(tool: ToolDefinition, args: Args) -> dict[str, Any]:
    return {role: args[param] for param, role in tool.roles.items() if param in args}


def _one(files: object) -> str | None:
    if isinstance(files, list):
        return str(files[0]) if len(files) == 1 else None
    return files if isinstance(files, str) else None


def _holds(clause: Clause, scene: Scene) -> bool:
    """Is the place said to be a folder: "into Backup", "to the folder Backup"?"""
    ends = [place for place in places(clause, scene.ground) if place.target]
    if not ends or ends[-1].item not in clause.items:
        return False
    near = clause.items[max(0, clause.items.index(ends[-1].item) - 2) :]
    noun = any(isinstance(item, Word) and ("folder" in item.concepts or item.folded in THERE) for item in near)
    return noun or ends[-1].after in ("into", "onto")


def _as_written(text: str, items: Sequence[Item]) -> str:
    """As it stands in the text, up to the next blank: `work-2`, of which a word is only a part."""
    rest = re.match(r"[^\s,;:!?\"'“”„«»]*", text[items[-1].end :])
    return (text[items[0].start : items[-1].end] + (rest.group() if rest else "")).rstrip(".")
