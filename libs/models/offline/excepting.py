"""A folder of which something stays out: "copy the folder Trips without the films".

No tool takes a folder but for some of it, so what is in it goes instead, level by level, each from a list that leaves
these out. Where all of a folder goes, it goes whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from libs.models.offline.ground import Ground
from libs.models.offline.paths import below
from libs.models.offline.scenes import Scene
from libs.models.offline.selection import escaped
from libs.skills import Effect, ToolDefinition, selected


@dataclass(frozen=True, slots=True)
class Part:
    """What is right in a folder, but for these, and where it goes; `deep` is all below it, at once."""

    folder: str
    exclude: tuple[str, ...]
    target: str | None = None
    deep: bool = False

    def listing(self, roles: Mapping[str, str]) -> dict[str, Any]:
        """The args of the list. `roles` are its parameters by what they are for."""
        kind = "file" if self.deep else "any"
        told = {"folder": self.folder, "exclude": list(self.exclude), "recursive": self.deep, "node_kind": kind}
        return {roles[role]: value for role, value in told.items() if value}


def parts(tool: ToolDefinition, args: Mapping[str, Any], scene: Scene) -> list[Part]:
    """Nothing where nothing stays out of the one folder that the tool is given, or nobody said what is in it."""
    given = {role: args.get(param) for param, role in tool.roles.items()}
    files = given.get("files") or given.get("listed")
    named = [files] if isinstance(files, str) else list(files or ())
    if len(named) != 1 or not any(need.field == "nodes" for need in tool.needs) or not _loses(named[0], scene):
        return []
    if "listed" in given:
        return [Part(named[0], scene.exclude, deep=any(_loses(one, scene) for one in inside(named[0], scene.ground)))]
    return list(_levels(named[0], _end(tool, named[0], given, ground=scene.ground), scene))


def _levels(folder: str, end: str | None, scene: Scene) -> Iterator[Part]:
    """Those below of which something stays out follow by themselves."""
    losing = [one for one in inside(folder, scene.ground) if _loses(one, scene)]
    yield Part(folder, (*scene.exclude, *map(escaped, losing)), end)
    for one in losing:
        yield from _levels(one, None if end is None else f"{end}/{one.rpartition('/')[2]}", scene)


def _end(tool: ToolDefinition, folder: str, given: Mapping[str, Any], *, ground: Ground) -> str | None:
    """Where the contents go: into a folder of the same name where that went into one, else to its new place."""
    target, name = given.get("target"), given.get("copy_name")
    if target is None and name is None:
        return None
    above = target or folder.rpartition("/")[0] or "."
    inside = tool.effect is Effect.MOVE or above == "." or ground.below(above) or ground.has(above) is not None
    name = name or (folder.rpartition("/")[2] if inside else None)
    return above if name is None else below(above, name)


def _loses(folder: str, scene: Scene) -> bool:
    held = scene.ground.below(folder)
    stays = selected(folder, exclude=scene.exclude)
    return stays and not all(selected(path, exclude=scene.exclude) for path in held)


def inside(folder: str, ground: Ground) -> list[str]:
    """The folders right in it that hold something."""
    start = 0 if folder == "." else len(folder) + 1
    tops = (path[start:].partition("/")[0] for path in ground.below(folder) if "/" in path[start:])
    return list(dict.fromkeys(f"{folder}/{top}" if start else top for top in tops))
