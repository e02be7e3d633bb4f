"""Skills and their tools after reading and checking: frozen, with a digest that identifies exactly this version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import re2
from jsonschema import Draft202012Validator, ValidationError, validators

from libs.skills.intents import Declared, Intent
from libs.skills.references import is_reference
from libs.tools import Effect as EffectClass

Schema = Mapping[str, Any]
PAGE, TOOLS = "SKILL.md", "tools.yaml"


class Kind(StrEnum):
    """The content of a skill (S2-23)."""

    PRIMITIVE = "primitive"
    """Tools (tools.yaml), each one primitive of the executor."""
    PROMPT = "prompt"
    """Only instructions, for a model that requests them with `skills.use`."""
    CODE = "code"
    """Programs (skill.py or scripts/), which run only in a sandbox."""


class Source(StrEnum):
    """The place where a skill was found, highest precedence first (S2-24)."""

    WORKSPACE = "workspace"
    USER = "user"
    BUNDLED = "bundled"


class Primitive(StrEnum):
    """The primitives that a tool can call: all but the last are available to skills (S4-38)."""

    GRAPH = "graph"
    RETRIEVAL = "retrieval"
    WEB = "web"
    """Reading a page, whose URL leaves this machine."""
    MEMORY = "memory"
    """Facts about the person, which the memory service keeps."""
    MULTIMODAL = "multimodal"
    """Making a picture or a document by a capability of the registry, where the deployment enables it (S3-13)."""
    COMMAND = "command"
    """A program in the session's sandbox."""
    PROGRAM = "program"
    """A program of the skill itself, in the session's sandbox."""
    SKILL = "skill"
    """Reading a skill itself (`skills.use`), which needs no folder."""


PICTURES = "generate_image"
"""The multimodal task whose prompt leaves this machine, for a provider that may charge for it."""
ATTACHMENTS = "import_attachments"
"""The primitive that takes files from outside the workspace: those that messages named."""


class Effect(StrEnum):
    """A tool's effect on files, in the default order of execution in a plan."""

    READ = "read"
    DELETE = "delete"
    CREATE = "create"
    WRITE = "write"
    """New contents of files."""
    RENAME = "rename"
    MOVE = "move"
    RUN = "run"
    """A program that may change any file of the workspace."""
    REMEMBER = "remember"
    """A change of what is remembered about the person."""
    ACT = "act"
    """An action outside the workspace."""
    REPORT = "report"
    """A read whose result is for the person, so it comes last."""

    @property
    def rank(self) -> int:
        return list(Effect).index(self)


@lru_cache(maxsize=256)
def linear(pattern: str) -> Any:
    """Compile a pattern that others wrote: RE2 matches in linear time, where `re` may never end. Raises `re2.error`."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _fits(_: object, pattern: str, value: object, __: object) -> Iterator[ValidationError]:
    try:
        if isinstance(value, str) and linear(pattern).search(value) is None:
            yield ValidationError(f"{value!r} does not match {pattern!r}")
    except re2.error:
        yield ValidationError(f"the pattern {pattern!r} of this parameter is not supported")


Rules = validators.extend(Draft202012Validator, {"pattern": _fits})  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """Whether args fit a tool (S4-43). The person is asked for `missing` ones; `extra` and `problems` are mistakes."""

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        return not (self.missing or self.extra or self.problems)


class Risk(StrEnum):
    """A thing that a call of a tool does or needs, for people and gates."""

    READS = "reads"
    CHANGES = "changes"
    NETWORK = "network"
    COST = "cost"
    SECRET = "secret"  # noqa: S105 - the name of a risk


class Need(Declared):
    """A read that must precede this tool, and the parameter that takes a field of its result."""

    tool: str
    field: str
    param: str


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool: exactly one primitive (S4-10, S4-39), or an external tool. `name` is `<skill>.<tool>`."""

    name: str
    skill: str
    description: str
    primitive: Primitive | None
    """None for an external tool, which runs by its own code (libs.tools)."""
    method: str
    mutates: bool
    effect: Effect
    params: Schema
    returns: Schema
    roles: Mapping[str, str] = field(default_factory=dict)
    """The meaning of each parameter (`folder`, `files`, `keep` …), for filling it from words."""
    intents: tuple[Intent, ...] = ()
    """Requests that mean this tool, for the offline planner."""
    examples: tuple[str, ...] = ()
    """Requests that mean only this tool, for tests and searches."""
    needs: tuple[Need, ...] = ()
    digest: str = ""
    declared: EffectClass | None = None
    """The effect class that an external tool declares."""
    leaves_machine: bool = False
    destination: str | None = None
    """The host that receives the args of a remote tool; policy may block it."""
    costs_money: bool = False
    """Whether a call is charged for, as its author or the settings of its server say."""
    tenants: tuple[str, ...] = ()
    """The tenants that may use the tool; empty: all."""
    remote: bool = False
    """Whether a server of tools runs it."""
    deletes_with: str = ""
    """The boolean parameter, if any, that makes the tool delete or overwrite as well."""
    _rules: Draft202012Validator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Built once: building a validator costs more than using it. Required parameters are checked apart, as missing.
        rules = {name: rule for name, rule in self.params.items() if name != "required"}
        object.__setattr__(self, "_rules", Rules(rules))

    @property
    def effect_class(self) -> EffectClass:
        """How to recover from a crash during a call. A skill's tools only read, or change the stage or
        the person's facts (S4-13)."""
        if self.primitive is Primitive.MEMORY:
            return EffectClass.IDEMPOTENT
        return self.declared or (EffectClass.STAGED if self.mutates else EffectClass.PURE)

    @property
    def risks(self) -> tuple[Risk, ...]:
        """The tool's risks. A parameter whose schema says `writeOnly` takes a secret."""
        found = {
            Risk.READS: not self.mutates,
            Risk.CHANGES: self.mutates,
            Risk.NETWORK: self.leaves_machine or self.primitive is Primitive.WEB,
            Risk.COST: self.costs_money,
            Risk.SECRET: any(schema.get("writeOnly") is True for schema in self.properties.values()),
        }
        return tuple(risk for risk, there in found.items() if there)

    @property
    def source(self) -> str:
        """Where the tool comes from: a skill, a package of the settings, or a server of tools."""
        if not self.from_outside:
            return "skill"
        return "server" if self.remote else "package"

    def deletes(self, args: Mapping[str, Any]) -> bool:
        """Return whether a call with these args would delete something. Any flag value except False counts as true."""
        flagged = bool(self.deletes_with) and args.get(self.deletes_with, False) is not False
        return self.effect is Effect.DELETE or flagged

    def destination_of(self, args: Mapping[str, Any]) -> str | None:
        """Return the host that receives the args of a call: that of the page, or of the tool's server."""
        if self.primitive is not Primitive.WEB:
            return self.destination
        try:
            return urlsplit(str(args.get("url", ""))).hostname
        except ValueError:
            # No URL; the executor refuses it.
            return None

    def overwrites(self, args: Mapping[str, Any]) -> bool:
        """Return whether a call with these args would delete or change the content of something that exists."""
        return self.deletes(args) or (self.effect is Effect.WRITE and not self.deletes_with)

    def open_to(self, tenant: str) -> bool:
        """Return whether this tenant may use the tool."""
        return not self.tenants or tenant in self.tenants

    @property
    def in_workspace(self) -> bool:
        """True if it works on the session's folder."""
        if self.primitive is Primitive.MULTIMODAL:
            # The others make something of words, and of assets that need no folder.
            return not self.properties.keys().isdisjoint(("path", "page"))
        return self.primitive in (Primitive.GRAPH, Primitive.RETRIEVAL) or self.runs_program

    @property
    def runs_program(self) -> bool:
        """True if its result is the output of a program in the session's sandbox."""
        return self.primitive in (Primitive.COMMAND, Primitive.PROGRAM)

    @property
    def draws(self) -> bool:
        """True if nothing runs its words: a picture or a document may show a command."""
        return self.primitive is Primitive.MULTIMODAL

    @property
    def from_outside(self) -> bool:
        """True for an external tool (libs.tools)."""
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
        """Check args as planned or as resolved. A reference counts as present; its value is checked once it is
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
    digest: str = ""
    """SHA-256 over every file of the folder."""
    kind: Kind = Kind.PRIMITIVE
    source: Source = Source.BUNDLED
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    """The bytes that the digest covers, by path in the folder: what was checked is what is used later."""
    uses_retrieval: bool = False
    """Whether the files of its folder `kb/` are searched for each request."""
    kb_chunk_strategy: str = "fixed"
    kb_chunk_size: int = 512
    """Letters of a chunk of these files."""

    @property
    def references(self) -> tuple[str, ...]:
        """The files that its instructions may refer to, by path in its folder."""
        return tuple(path for path in self.files if path not in (PAGE, TOOLS))
