"""A view of the installed skills: of two with one name, the one with higher precedence wins (S2-24: workspace > user >
bundled).

A workspace's own skills are not in this view: they belong to one folder of one session, and are off until approved by
hash (the executor's `approvals`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from libs.errors import NotFound
from libs.skills import programs
from libs.skills.definitions import Primitive, SkillDefinition, ToolDefinition
from libs.skills.files import BadSkill
from libs.skills.folder import read_skill
from libs.skills.plugged import definition
from libs.skills.use import tool_definition
from libs.tools import BadTool, Tool


class UnknownTool(NotFound):
    """No skill declares this tool."""

    code = "UNKNOWN_TOOL"


@dataclass(frozen=True, slots=True)
class Skills:
    """A fixed view of the skills. `problems` holds what is wrong, by folder."""

    skills: Mapping[str, SkillDefinition] = field(default_factory=dict)
    problems: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    plugged: tuple[ToolDefinition, ...] = ()
    """External tools, which belong to no skill."""
    remote: tuple[ToolDefinition, ...] = ()
    """Approved tools of other servers."""
    hidden: tuple[SkillDefinition, ...] = ()
    """Skills hidden by one of the same name with higher precedence."""
    multimodal: bool = False
    """Whether tools that make pictures and documents are offered and run (S3-13)."""
    _known: list[tuple[tuple[ToolDefinition, ...], dict[str, ToolDefinition]]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )
    """All tools, and by name; computed once, since a turn asks six times."""

    @classmethod
    def load(cls, dirs: Iterable[Path]) -> Skills:
        """Read every skill under `dirs`, highest precedence first. A bad skill is skipped; a missing folder counts as
        empty.
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
        """Return the view of these skills, given highest precedence first."""
        winners: dict[str, SkillDefinition] = {}
        every = list(found)
        for skill in every:
            winners.setdefault(skill.name, skill)
        hidden = tuple(skill for skill in every if winners[skill.name] is not skill)
        return cls(dict(sorted(winners.items())), problems, hidden=hidden)

    def plus(self, tools: Iterable[Tool]) -> Skills:
        """Return the same view with these external tools.

        Raises:
            BadTool: the name of a tool is taken.
        """
        more, known = tuple(map(definition, tools)), {tool.name for tool in self.tools}
        if taken := [tool.name for tool in more if tool.name in known]:
            raise BadTool(f"{', '.join(taken)}: a skill's tool already has this name; rename the external one")
        return replace(self, plugged=(*self.plugged, *more))

    def with_remote(self, tools: Iterable[ToolDefinition]) -> Skills:
        """Return the same view with these remote tools. A server never takes the name of a skill or of another tool:
        such tools are left out.
        """
        return replace(self, remote=tuple(tool for tool in tools if self.admits(tool.skill)))

    def admits(self, server: str) -> bool:
        """Return whether tools of a server may have its name as prefix: no skill and no other tool has it."""
        return server not in self.skills and all(tool.name.partition(".")[0] != server for tool in self.local)

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """All tools that can be called: those of skills, `skills.use`, `skills.run`, and external tools."""
        if not self._known:
            tools = (*self.local, *self.remote)
            self._known.append((tools, {tool.name: tool for tool in reversed(tools)}))
        return self._known[0][0]

    def tools_for(self, tenant: str) -> tuple[ToolDefinition, ...]:
        """Return the tools that this tenant may use."""
        return tuple(tool for tool in self.tools if tool.open_to(tenant) and self.enabled(tool))

    def enabled(self, tool: ToolDefinition) -> bool:
        """Return whether the deployment offers this kind of tool."""
        return self.multimodal or tool.primitive is not Primitive.MULTIMODAL

    @property
    def local(self) -> tuple[ToolDefinition, ...]:
        """All tools but those of other servers."""
        every = self.skills.values()
        own = (tool for skill in every for tool in skill.tools)
        shared = (tool_definition(every), programs.tool_definition(every)) if every else ()
        return (*own, *shared, *self.plugged)

    def runs_program(self, name: str) -> bool:
        """Return whether a tool's result is the output of a program."""
        found = self._known[0][1].get(name) if self.tools else None
        return found is not None and found.runs_program

    def makes_asset(self, name: str) -> bool:
        """Return whether a tool's result names a picture or a document."""
        found = self._known[0][1].get(name) if self.tools else None
        return found is not None and found.primitive is Primitive.MULTIMODAL

    def tool(self, name: str) -> ToolDefinition:
        """Return the tool of this name.

        Raises:
            UnknownTool: no skill declares it.
        """
        found = self._known[0][1].get(name) if self.tools else None
        if found is None:
            raise UnknownTool(f"no skill declares the tool {name}")
        return found


def folders(top: Path) -> list[Path]:
    """Return a place's skill folders, without hidden ones and those that begin with `_`, such as templates.

    Raises:
        OSError: the place exists and cannot be read, so its skills are unknown.
    """
    try:
        with os.scandir(top) as entries:
            found = [entry.name for entry in entries if _may_be_skill(entry.name) and entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [top / name for name in sorted(found)]


def _may_be_skill(name: str) -> bool:
    """Return whether this may be a skill's name: not hidden, and printable, so that terminals and JSON can show it."""
    return name.isprintable() and not name.startswith((".", "_"))
