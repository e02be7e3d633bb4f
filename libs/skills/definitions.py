"""What a skill and its tools are, once read and checked: frozen, with a digest that names exactly this version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from libs.skills.references import is_reference
from libs.tools import Effect as EffectClass

Schema = Mapping[str, Any]
PAGE, TOOLS = "SKILL.md", "tools.yaml"


class Kind(StrEnum):
    """What a skill is made of (S2-23)."""

    PRIMITIVE = "primitive"
    """Tools (tools.yaml), each one primitive of the executor's own."""
    PROMPT = "prompt"
    """Instructions alone, for a model that asks for them with `skills.use`."""
    CODE = "code"
    """Programs (skill.py or scripts/): they run only in a sandbox."""


class Source(StrEnum):
    """Where a skill was found, the nearest first (S2-24)."""

    WORKSPACE = "workspace"
    USER = "user"
    BUNDLED = "bundled"


class Primitive(StrEnum):
    """The kinds of things that a tool can call: the first two are those of skills (S4-38)."""

    GRAPH = "graph"
    RETRIEVAL = "retrieval"
    SKILL = "skill"
    """A look into a skill itself (`skills.use`), which needs no folder."""


class Effect(StrEnum):
    """What a tool does to files, in the order in which a plan without an order of its own does it."""

    READ = "read"
    DELETE = "delete"
    CREATE = "create"
    RENAME = "rename"
    MOVE = "move"
    ACT = "act"
    """Something outside the workspace."""
    REPORT = "report"
    """A read that is meant for the person, so it comes last."""

    @property
    def rank(self) -> int:
        return list(Effect).index(self)


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """Whether args fit a tool (S4-43). `missing` is asked for, `extra` and `problems` are mistakes."""

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        return not (self.missing or self.extra or self.problems)


@dataclass(frozen=True, slots=True)
class Need:
    """A read that must come before this tool, and the parameter that takes a field of its result."""

    tool: str
    field: str
    param: str


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool: exactly one primitive (S4-10, S4-39), or a tool from outside. `name` is `<skill>.<tool>`."""

    name: str
    skill: str
    description: str
    primitive: Primitive | None
    """None for a tool from outside, which is run as it comes (libs.tools)."""
    method: str
    mutates: bool
    effect: Effect
    params: Schema
    returns: Schema
    roles: Mapping[str, str] = field(default_factory=dict)
    """What each parameter means (`folder`, `files`, `keep` …), for filling it from words."""
    phrases: tuple[str, ...] = ()
    """Requests that mean this tool, in any language."""
    needs: tuple[Need, ...] = ()
    digest: str = ""
    declared: EffectClass | None = None
    """The class that a tool from outside declares."""
    leaves_machine: bool = False
    deletes_with: str = ""
    """The parameter, if there is one, that makes a delete of it as well."""
    _rules: Draft202012Validator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Made once: a validator costs more to make than to ask. What is required is told apart, as missing.
        rules = {name: rule for name, rule in self.params.items() if name != "required"}
        object.__setattr__(self, "_rules", Draft202012Validator(rules))

    @property
    def effect_class(self) -> EffectClass:
        """What a crash in its middle means. A skill's tools change the stage or read it; nothing else (S4-13)."""
        return self.declared or (EffectClass.STAGED if self.mutates else EffectClass.PURE)

    def deletes(self, args: Mapping[str, Any]) -> bool:
        """Would a call with these args take something away? A flag that is anything but a plain no counts as yes."""
        flagged = bool(self.deletes_with) and args.get(self.deletes_with, False) is not False
        return self.effect is Effect.DELETE or flagged

    @property
    def in_workspace(self) -> bool:
        """Does it work on the session's folder?"""
        return self.primitive in (Primitive.GRAPH, Primitive.RETRIEVAL)

    @property
    def from_outside(self) -> bool:
        """Is it run as it comes (libs.tools)?"""
        return self.primitive is None

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(self.params.get("required", ()))

    @property
    def properties(self) -> Mapping[str, Schema]:
        found: Mapping[str, Schema] = self.params.get("properties", {})
        return found

    def defaults(self) -> dict[str, Any]:
        return {name: schema["default"] for name, schema in self.properties.items() if "default" in schema}

    def validate(self, args: Mapping[str, Any]) -> ValidationResult:
        """Check args as planned or as resolved. A reference counts as present; what it brings is checked when
        resolved.
        """
        known = {name: value for name, value in args.items() if name in self.properties and not is_reference(value)}
        faults = sorted(self._rules.iter_errors(known), key=lambda fault: list(map(str, fault.path)))
        return ValidationResult(
            missing=tuple(name for name in self.required if name not in args),
            extra=tuple(sorted(set(args) - set(self.properties))),
            problems=tuple(f"{fault.json_path}: {fault.message}" for fault in faults),
        )


@dataclass(frozen=True, slots=True)
class SkillDefinition:
    """A skill as its folder declares it (S4-42). `instructions` is the body of SKILL.md."""

    name: str
    id: str
    version: str
    description: str
    folder: Path
    tags: tuple[str, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    instructions: str = ""
    kb_chunk_strategy: str = "fixed"
    kb_chunk_size: int = 512
    digest: str = ""
    """SHA-256 over every file of the folder."""
    kind: Kind = Kind.PRIMITIVE
    source: Source = Source.BUNDLED
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    """The very bytes that the digest is of, by path in the folder: what is used later is what was read and checked."""

    @property
    def references(self) -> tuple[str, ...]:
        """The files that its instructions may point at, by path in its folder."""
        return tuple(path for path in self.files if path not in (PAGE, TOOLS))

    @property
    def uses_retrieval(self) -> bool:
        return any(tool.primitive is Primitive.RETRIEVAL for tool in self.tools)
