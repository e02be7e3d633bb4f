"""Programs of skills: `skill.py` and the files of `scripts/`, which run in a session's sandbox alone (S2-22).

A tool that a skill declares runs one of them with its args (`primitive: program`). `skills.run` runs any, as the
instructions of a skill say. A program is started by an interpreter of this table, never by what its first line names.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from libs.errors import NotFound
from libs.keys.canonical import canonical
from libs.skills.definitions import Effect, Kind, Primitive, Rules, Schema, SkillDefinition, ToolDefinition

RUN = "skills.run"
PROGRAM, PROGRAMS = "skill.py", "scripts/"
INTERPRETERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"python3": ("python3", "-B"), "python": ("python3", "-B"), "sh": ("sh",), "bash": ("bash",)}
)
SUFFIXES: Mapping[str, str] = MappingProxyType({"py": "python3", "sh": "sh", "bash": "bash"})
DEEPEST = 32
"""Deepest nesting of a result."""
SHEBANG = re.compile(r"#!\s*(?:/usr(?:/local)?)?/bin/(?:env\s+)?(\w+)\s*")

PARAMS: Schema = MappingProxyType(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["skill", "program"],
        "properties": {
            "skill": {"type": "string", "minLength": 1, "maxLength": 64},
            "program": {"type": "string", "maxLength": 400, "description": "such as scripts/convert.py"},
            "arguments": {"type": "array", "maxItems": 100, "items": {"type": "string"}, "default": []},
            "path": {"type": "string", "format": "workspace-path", "default": ".", "description": "where to run it"},
            "input": {"type": "string", "maxLength": 100_000, "default": "", "description": "the standard input"},
            "seconds": {"type": "integer", "minimum": 1, "maximum": 120, "default": 60},
        },
    }
)
RETURNS: Schema = MappingProxyType(
    {
        "exit_code": {"type": "integer"},
        "seconds": {"type": "number"},
        "output": {"type": "string"},
        "truncated": {"type": "boolean"},
        "limit": {"type": ["string", "null"]},
        "sandbox": {"type": "string"},
        "changed": {"type": "array"},
        "refused": {"type": "array"},
        "left_out": {"type": "array"},
        "excerpt": {"type": "object"},
    }
)
"""Fields of the result of each run, which a tool's own `returns` may not name."""


class NoSuchProgram(NotFound):
    """The skill has no such program."""

    code = "NO_SUCH_PROGRAM"


def is_program(path: str) -> bool:
    """Return whether a file of this path makes its skill one of code."""
    return path == PROGRAM or path.startswith(PROGRAMS)


def interpreter(path: str, content: bytes) -> tuple[str, ...] | None:
    """Return the words that start a program: by its first line, or without one by its suffix. None if it is none."""
    first = content[:200].split(b"\n", 1)[0].decode("utf-8", "replace")
    found = SHEBANG.fullmatch(first)
    name = found[1] if found else "" if first.startswith("#!") else SUFFIXES.get(path.rpartition(".")[2], "")
    return INTERPRETERS.get(name) if is_program(path) else None


def started(skill: SkillDefinition, path: str) -> tuple[str, ...]:
    """Return the interpreter of a skill's program. Raises NoSuchProgram."""
    found = interpreter(path, skill.files[path]) if path in skill.files else None
    if found is None:
        known = ", ".join(one for one, content in skill.files.items() if interpreter(one, content)) or "none"
        raise NoSuchProgram(f"{skill.name} has no program {path}; its programs are: {known}")
    return found


def result_schema(returns: Schema) -> dict[str, Any]:
    """Return the schema of a result with these fields: each is the name of a JSON type, or a schema."""
    fields = {name: {"type": each} if isinstance(each, str) else each for name, each in returns.items()}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def result_fault(returns: Schema, fields: Mapping[str, Any]) -> str | None:
    """Return why a result is not as declared, at its first fault; None if it is."""
    if _depth(fields) > DEEPEST:
        return f"it is nested more than {DEEPEST} levels deep"
    faults = Rules(result_schema(returns)).iter_errors(fields)
    first = min(faults, key=lambda fault: fault.json_path, default=None)
    return f"{first.json_path}: {first.message}" if first is not None else None


def _depth(value: Any) -> int:
    # Level by level: recursion would end at a hostile depth.
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level, depth = [one for each in inner for one in each], depth + 1
    return depth


def tool_definition(skills: Iterable[SkillDefinition]) -> ToolDefinition:
    """Return the tool. Its digest covers all programs, so that a plan is bound to the versions it was made for."""
    code = {one.name: one.digest for one in skills if one.kind is Kind.CODE}
    return ToolDefinition(
        name=RUN,
        skill=RUN.partition(".")[0],
        description="Run a program that a skill brings, over the folder's files in a sandbox without network. Read the "
        "skill with skills.use first: it says which of its programs to run, and with which arguments.",
        primitive=Primitive.PROGRAM,
        method="run",
        mutates=True,
        effect=Effect.RUN,
        params=PARAMS,
        returns=RETURNS,
        digest=hashlib.sha256(canonical([RUN, dict(PARAMS), dict(RETURNS), code])).hexdigest(),
    )
