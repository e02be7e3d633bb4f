"""Reading one skill folder: SKILL.md by the format's own parser and rules, tools.yaml by ours (S4-11, S4-13)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from skills_ref import validate
from skills_ref.parser import find_skill_md, parse_frontmatter

from libs.errors import Rejected
from libs.skills.definitions import Effect, Need, Primitive, SkillDefinition, ToolDefinition

LARGEST = 1_000_000
"""Bytes of one file of a skill. What is larger is not instructions."""


class BadSkill(Rejected):
    """The folder is no valid skill; `problems` says what to mend."""

    code = "BAD_SKILL"

    def __init__(self, folder: Path, problems: tuple[str, ...]) -> None:
        super().__init__(f"{folder.name}: {'; '.join(problems)}")
        self.problems = problems


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Need(_Strict):
    tool: str
    field: str
    param: str


class _Tool(_Strict):
    """One entry of tools.yaml. Graph tools name a method, retrieval tools a query type in the same place."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str = Field(min_length=1)
    primitive: Primitive
    method: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    mutates: bool
    effect: Effect
    params: dict[str, Any]
    returns: dict[str, Any]
    roles: dict[str, str] = Field(default_factory=dict)
    phrases: tuple[str, ...] = ()
    needs: tuple[_Need, ...] = ()


class _Metadata(BaseModel):
    """Our keys in SKILL.md's `metadata`; the format keeps every value as a string."""

    id: str
    version: str
    tags: str = ""
    kb_chunk_strategy: Literal["fixed", "sentence", "paragraph"] = "fixed"
    kb_chunk_size: int = Field(default=512, ge=16, le=100_000)


class _Tools(_Strict):
    tools: tuple[_Tool, ...]


def read_skill(folder: Path) -> SkillDefinition:
    """The skill of this folder. Raises `BadSkill` with every problem of the first check that found one."""
    _refuse(folder, _unfit(folder))
    _refuse(folder, tuple(validate(folder)))
    page = find_skill_md(folder)
    header, body = parse_frontmatter(page.read_text("utf-8"))
    try:
        about = _Metadata.model_validate(header.get("metadata", {}))
        declared = _Tools.model_validate(_tools_file(folder))
    except (ValidationError, yaml.YAMLError, UnicodeDecodeError) as wrong:
        raise BadSkill(folder, _told(wrong)) from wrong
    _refuse(folder, tuple(problem for tool in declared.tools for problem in _problems(tool)))
    _refuse(folder, _repeated([tool.name for tool in declared.tools]))
    digest = digest_of(folder)
    return SkillDefinition(
        name=header["name"],
        id=about.id,
        version=about.version,
        description=" ".join(header["description"].split()),
        folder=folder,
        tags=tuple(tag.strip() for tag in about.tags.split(",") if tag.strip()),
        tools=tuple(_definition(header["name"], tool, digest) for tool in declared.tools),
        instructions=body,
        kb_chunk_strategy=about.kb_chunk_strategy,
        kb_chunk_size=about.kb_chunk_size,
        digest=digest,
    )


def digest_of(folder: Path) -> str:
    """SHA-256 over the names and contents of all files of the folder, so that approval by hash covers every byte."""
    whole = hashlib.sha256()
    for path in _files(folder):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return whole.hexdigest()


def _definition(skill: str, tool: _Tool, digest: str) -> ToolDefinition:
    return ToolDefinition(
        name=f"{skill}.{tool.name}",
        skill=skill,
        description=" ".join(tool.description.split()),
        primitive=tool.primitive,
        method=tool.method,
        mutates=tool.mutates,
        effect=tool.effect,
        params=tool.params,
        returns=tool.returns,
        roles=tool.roles,
        phrases=tool.phrases,
        needs=tuple(Need(need.tool, need.field, need.param) for need in tool.needs),
        digest=digest,
    )


def _problems(tool: _Tool) -> list[str]:
    properties = tool.params.get("properties")
    if tool.params.get("type") != "object" or not isinstance(properties, Mapping):
        return [f"{tool.name}: params must be a JSON Schema of an object with properties"]
    told = [f"{tool.name}: unknown parameter {name}" for name in _strangers(tool) if name not in properties]
    if tool.primitive is Primitive.RETRIEVAL and tool.mutates:
        told.append(f"{tool.name}: a retrieval tool never mutates")
    if tool.mutates is (tool.effect in (Effect.READ, Effect.REPORT)):
        told.append(f"{tool.name}: the effect {tool.effect} disagrees with mutates")
    if tool.effect is Effect.ACT:
        told.append(f"{tool.name}: a skill's tool touches the stage alone; the effect act is for tools from outside")
    if tool.params.get("additionalProperties") is not False:
        told.append(f"{tool.name}: params must set additionalProperties to false")
    try:
        Draft202012Validator.check_schema(tool.params)
    except SchemaError as wrong:
        told.append(f"{tool.name}: params are no JSON Schema: {wrong.message}")
    return told


def _strangers(tool: _Tool) -> list[str]:
    return [*tool.roles, *(need.param for need in tool.needs), *tool.params.get("required", ())]


def _repeated(names: list[str]) -> tuple[str, ...]:
    return tuple(f"{name} is declared twice" for name in sorted({name for name in names if names.count(name) > 1}))


def _refuse(folder: Path, problems: tuple[str, ...]) -> None:
    if problems:
        raise BadSkill(folder, problems)


def _unfit(folder: Path) -> tuple[str, ...]:
    """A link could bring in what approval by hash never saw, and what is huge is no instruction."""
    links = [f"{path.relative_to(folder)} is a link" for path in sorted(folder.rglob("*")) if path.is_symlink()]
    large = [path for path in _files(folder) if path.stat().st_size > LARGEST]
    return (*links, *(f"{path.relative_to(folder)} is larger than {LARGEST} bytes" for path in large))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _tools_file(folder: Path) -> Any:
    path = folder / "tools.yaml"
    return yaml.safe_load(path.read_text("utf-8")) if path.is_file() else {"tools": ()}


def _told(wrong: Exception) -> tuple[str, ...]:
    if not isinstance(wrong, ValidationError):
        return (f"tools.yaml: {wrong}",)
    return tuple(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in wrong.errors())
