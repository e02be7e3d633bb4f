"""Calls of a skill's program: what is started, and what its output means (S2-22).

A tool of a skill gets its context on the standard input, as JSON: its args, the folders, the session; no secret. What
it prints as JSON is its result, checked against the tool's `returns`. `skills.run` gives words and returns the output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from libs.errors import Rejected
from libs.sandbox import WORKSPACE, Command
from libs.skills import SkillDefinition, ToolDefinition, result_fault, started
from services.tool_executor.command_runs import SKILL, Done, summary
from services.tool_executor.tools.tool_context import Args

LAST = 1_000
"""Characters of a failed program's output that the error shows."""


class ProgramFailed(Rejected):
    """The program of a skill ended with an error or at a limit; nothing was staged."""

    code = "PROGRAM_FAILED"


class BadResult(Rejected):
    """The program of a skill printed another result than its tool declares; nothing was staged."""

    code = "BAD_RESULT"


@dataclass(frozen=True, slots=True)
class Program:
    """A command with the name by which people know it, and the skill that brings its program."""

    name: str
    command: Command
    skill: SkillDefinition | None = None
    tool: ToolDefinition | None = None
    """The tool whose declared result it prints."""

    def fields(self, done: Done) -> Mapping[str, Any]:
        """Return the declared fields of its result; none if nothing is declared.

        Raises:
            ProgramFailed: it ended with an error or at a limit. BadResult: it printed something else.
        """
        if self.tool is None:
            return {}
        if done.ended.limit or done.ended.code:
            raise ProgramFailed(f"{summary(self.name, done.ended, 0)} {done.output.strip()[-LAST:]}".strip())
        return _result(self.tool, done.result) if self.tool.returns else {}


def of_tool(tool: ToolDefinition, skill: SkillDefinition, args: Args, session: str) -> Program:
    """Return the program of a tool that a skill declares."""
    context = {"args": dict(args), "workspace": WORKSPACE, "skill": SKILL, "session": session}
    command = Command((*started(skill, tool.method), f"{SKILL}/{tool.method}"), stdin=orjson.dumps(context))
    return Program(tool.name, command, skill, tool)


def of_words(skill: SkillDefinition, args: Args) -> Program:
    """Return the program that `skills.run` names. Raises NoSuchProgram."""
    path, words = args["program"], args["arguments"]
    argv = (*started(skill, path), f"{SKILL}/{path}", *words)
    command = Command(argv, cwd=args["path"], stdin=args["input"].encode(), seconds=args["seconds"])
    return Program(" ".join((f"{skill.name}/{path}", *words)), command, skill)


def _result(tool: ToolDefinition, printed: str) -> Mapping[str, Any]:
    try:
        # PostgreSQL's JSON holds no NUL, not even as an escape.
        found = orjson.loads(printed.replace("\\u0000", "\\ufffd"))
    except orjson.JSONDecodeError:
        found = printed
    fields = found if isinstance(found, dict) else {"result": found}
    if (fault := result_fault(tool.returns, fields)) is not None:
        raise BadResult(f"{tool.name} printed {printed.strip()[:100]!r}: {fault[:500]}")
    return fields
