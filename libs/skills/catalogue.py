"""The skills that are there: found in folders, each checked, the nearer folder winning (S2-24: workspace > user >
bundled).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from libs.errors import NotFound
from libs.skills.definitions import SkillDefinition, ToolDefinition
from libs.skills.folder import BadSkill, read_skill
from libs.skills.plugged import definition
from libs.tools import BadTool, Tool


class UnknownTool(NotFound):
    """No skill declares this tool."""

    code = "UNKNOWN_TOOL"


@dataclass(frozen=True, slots=True)
class Skills:
    """A fixed view of the skills; load again to see what changed on disk. `problems` names each folder left out, and
    why.
    """

    skills: Mapping[str, SkillDefinition] = field(default_factory=dict)
    problems: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    plugged: tuple[ToolDefinition, ...] = ()
    """Tools from outside, which belong to no skill."""

    @classmethod
    def load(cls, dirs: Iterable[Path]) -> Skills:
        """Read every skill under `dirs`, highest precedence first. A bad skill is left out; a folder that is not
        there is empty.
        """
        skills: dict[str, SkillDefinition] = {}
        problems: dict[Path, tuple[str, ...]] = {}
        for folder in (found for top in dirs for found in _folders(top)):
            try:
                skills.setdefault(folder.name, read_skill(folder))
            except BadSkill as bad:
                problems[folder] = bad.problems
        return cls(dict(sorted(skills.items())), problems)

    def plus(self, tools: Iterable[Tool]) -> Skills:
        """The same, and these tools from outside. Raises `BadTool` for one whose name is taken."""
        more, known = tuple(map(definition, tools)), {tool.name for tool in self.tools}
        if taken := [tool.name for tool in more if tool.name in known]:
            raise BadTool(f"{', '.join(taken)}: a skill's tool has this name")
        return replace(self, plugged=(*self.plugged, *more))

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        return (*(tool for skill in self.skills.values() for tool in skill.tools), *self.plugged)

    def tool(self, name: str) -> ToolDefinition:
        """Raises `UnknownTool`."""
        found = next((tool for tool in self.tools if tool.name == name), None)
        if found is None:
            raise UnknownTool(f"no skill declares the tool {name}")
        return found


def _folders(top: Path) -> list[Path]:
    if not top.is_dir():
        return []
    return sorted(folder for folder in top.iterdir() if folder.is_dir() and not folder.name.startswith((".", "_")))
