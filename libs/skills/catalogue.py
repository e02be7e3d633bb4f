"""A view of the skills that are there: the nearer of two with one name wins (S2-24: workspace > user > bundled).

A workspace's own are not of this view: they belong to one folder of one session, and are off until approved by hash
(the executor's `approvals`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from libs.errors import NotFound
from libs.skills import using
from libs.skills.definitions import Kind, SkillDefinition, ToolDefinition
from libs.skills.files import BadSkill
from libs.skills.folder import read_skill
from libs.skills.plugged import definition
from libs.tools import BadTool, Tool


class UnknownTool(NotFound):
    """No skill declares this tool."""

    code = "UNKNOWN_TOOL"


class NeedsSandbox(UnknownTool):
    """This skill is code, which runs only in a sandbox, and there is none here."""

    code = "NO_SANDBOX"


@dataclass(frozen=True, slots=True)
class Skills:
    """A fixed view of the skills. `problems` names each folder with something wrong, and what."""

    skills: Mapping[str, SkillDefinition] = field(default_factory=dict)
    problems: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    plugged: tuple[ToolDefinition, ...] = ()
    """Tools from outside, which belong to no skill."""
    hidden: tuple[SkillDefinition, ...] = ()
    """Those that lose to a nearer one of the same name."""

    @classmethod
    def load(cls, dirs: Iterable[Path]) -> Skills:
        """Read every skill under `dirs`, highest precedence first. A bad skill is left out; a folder that is not
        there is empty.
        """
        found: list[SkillDefinition] = []
        problems: dict[Path, tuple[str, ...]] = {}
        for folder in (folder for top in dirs for folder in folders(top)):
            try:
                found.append(read_skill(folder))
            except BadSkill as bad:
                problems[folder] = bad.problems
        return cls.of(found, problems)

    @classmethod
    def of(cls, found: Iterable[SkillDefinition], problems: Mapping[Path, tuple[str, ...]]) -> Skills:
        """The view of these skills, highest precedence first."""
        winners: dict[str, SkillDefinition] = {}
        every = list(found)
        for skill in every:
            winners.setdefault(skill.name, skill)
        hidden = tuple(skill for skill in every if winners[skill.name] is not skill)
        return cls(dict(sorted(winners.items())), problems, hidden=hidden)

    def plus(self, tools: Iterable[Tool]) -> Skills:
        """The same, and these tools from outside. Raises `BadTool` for one whose name is taken."""
        more, known = tuple(map(definition, tools)), {tool.name for tool in self.tools}
        if taken := [tool.name for tool in more if tool.name in known]:
            raise BadTool(f"{', '.join(taken)}: a skill's tool has this name")
        return replace(self, plugged=(*self.plugged, *more))

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """All that can be called: tools of skills but of code, the look into a skill itself, tools from outside."""
        own = (tool for skill in self.skills.values() if skill.kind is not Kind.CODE for tool in skill.tools)
        look = (using.definition(self.skills.values()),) if self.skills else ()
        return (*own, *look, *self.plugged)

    def tool(self, name: str) -> ToolDefinition:
        """Raises `UnknownTool`, or `NeedsSandbox` for one of a skill that is code."""
        found = next((tool for tool in self.tools if tool.name == name), None)
        if found is not None:
            return found
        if any(tool.name == name for skill in self.skills.values() for tool in skill.tools):
            raise NeedsSandbox(f"{name} is of a skill that is code, which runs only in a sandbox, and there is none")
        raise UnknownTool(f"no skill declares the tool {name}")


def folders(top: Path) -> list[Path]:
    """The folders of a place that are to be skills: none that is hidden, or begins with `_` as templates do.

    Raises OSError where there is a place and it cannot be looked into: that it has none is not known then.
    """
    try:
        with os.scandir(top) as entries:
            found = [entry.name for entry in entries if _is_meant(entry.name) and entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [top / name for name in sorted(found)]


def _is_meant(name: str) -> bool:
    """What no terminal and no JSON can show is no skill's name."""
    return name.isprintable() and not name.startswith((".", "_"))
