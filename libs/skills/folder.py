"""The reader of one skill: SKILL.md by the format's own parser and rules, tools.yaml by Suma's (S4-11, S4-13).

Everything is read from the bytes that `files` read once, so that what was checked is what is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import re2
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import BaseModel, Field, ValidationError
from skills_ref.errors import ParseError
from skills_ref.parser import parse_frontmatter
from skills_ref.validator import validate_metadata

from libs.skills.definitions import (
    PAGE,
    PICTURES,
    TOOLS,
    Effect,
    Kind,
    Need,
    Primitive,
    SkillDefinition,
    Source,
    ToolDefinition,
    linear,
)
from libs.skills.files import LOADER, BadSkill, digest_of, read_files
from libs.skills.intents import Declared, Intent
from libs.skills.programs import RETURNS, interpreter, is_program, result_schema

PAGE_MOST = 100_000
"""Maximum characters of SKILL.md, which a model reads at once. Longer text belongs in references."""
DEPTH_MOST, NODES_MOST = 50, 20_000
METHOD = re.compile(r"[a-z][a-z0-9_]*")
REFERRING = ("$ref", "$dynamicRef", "$recursiveRef", "$id")
RESERVED = ("skills", "workspace")
"""Names of the platform's own tool families."""
UNFIT = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that YAML must not contain (YAML 1.2, 5.1); the format's parser fails on them."""


class _Tool(Declared):
    """One entry of tools.yaml. Graph tools name a method, retrieval tools a query type in the same place."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str = Field(min_length=1)
    primitive: Literal[
        Primitive.GRAPH,
        Primitive.RETRIEVAL,
        Primitive.WEB,
        Primitive.MEMORY,
        Primitive.MULTIMODAL,
        Primitive.COMMAND,
        Primitive.PROGRAM,
    ]
    method: str = Field(min_length=1, max_length=400)
    mutates: bool
    effect: Effect
    params: dict[str, Any]
    returns: dict[str, Any]
    roles: dict[str, str] = Field(default_factory=dict)
    intents: tuple[Intent, ...] = ()
    examples: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    deletes_with: str = ""


class _Metadata(BaseModel):
    """Suma's keys in SKILL.md's `metadata`; the format keeps every value as a string. A skill written for other
    platforms has none of them.
    """

    id: str = ""
    version: str = "0.1.0"
    tags: str = ""
    uses_retrieval: Literal["true", "false"] = "false"
    kb_chunk_strategy: Literal["fixed", "sentence", "paragraph", "semantic"] = "fixed"
    kb_chunk_size: int = Field(default=512, ge=100, le=8_000)


class _Tools(Declared):
    tools: tuple[_Tool, ...]


def read_skill(folder: Path, source: Source = Source.BUNDLED) -> SkillDefinition:
    """Read the skill of this folder.

    Raises:
        BadSkill: with every problem of its files, or otherwise of their contents.
    """
    files = read_files(folder)
    problems: list[str] = []
    header, body = _page(folder, files, problems)
    about = _about(header, problems)
    # A folder of unknown origin may not bring tools, so its declarations are ignored.
    declared = _declared(files, problems) if source is not Source.WORKSPACE else ()
    kind, digest = _kind(files), digest_of(files)
    if kind is not Kind.PRIMITIVE and not body and not declared and not problems:
        problems.append(f"{PAGE} contains no instructions, and the skill has no tools; add either")
    if problems:
        raise BadSkill(folder, tuple(problems))
    name = header["name"]
    return SkillDefinition(
        name=name,
        id=about.id or f"skill-{name}",
        version=about.version,
        description=" ".join(header["description"].split()),
        folder=folder,
        tags=tuple(tag.strip() for tag in about.tags.split(",") if tag.strip()),
        tools=tuple(_definition(name, tool, digest) for tool in declared),
        instructions=body,
        digest=digest,
        kind=kind,
        source=source,
        files=files,
        uses_retrieval=about.uses_retrieval == "true",
        kb_chunk_strategy=about.kb_chunk_strategy,
        kb_chunk_size=about.kb_chunk_size,
    )


def _page(folder: Path, files: Mapping[str, bytes], problems: list[str]) -> tuple[dict[str, Any], str]:
    """Return SKILL.md's header and body, parsed by the format's rules (`agentskills validate`)."""
    if PAGE not in files:
        problems.append(f"Missing required file: {PAGE}")
        return {}, ""
    try:
        text = files[PAGE].decode()
        if control := UNFIT.search(text):
            problems.append(f"{PAGE} contains the control character {control[0]!r}")
            return {}, ""
        header, body = parse_frontmatter(text)
    except (UnicodeDecodeError, ParseError, RecursionError) as wrong:
        problems.append(f"{PAGE}: {wrong}")
        return {}, ""
    problems.extend(validate_metadata(header, folder))
    if len(text) > PAGE_MOST:
        problems.append(f"{PAGE} is longer than {PAGE_MOST} characters: move the rest into references/")
    if header.get("name") in RESERVED:
        problems.append(f"the name {header['name']} is reserved for the platform; choose another")
    return header, body


def _about(header: Mapping[str, Any], problems: list[str]) -> _Metadata:
    try:
        return _Metadata.model_validate(header.get("metadata", {}))
    except ValidationError as wrong:
        problems.extend(_faults("metadata", wrong))
        return _Metadata()


def _declared(files: Mapping[str, bytes], problems: list[str]) -> tuple[_Tool, ...]:
    """Return the tools of tools.yaml; a skill without that file has none."""
    if TOOLS not in files:
        return ()
    try:
        tools = _Tools.model_validate(_yaml(files[TOOLS].decode())).tools
    except ValidationError as wrong:
        problems.extend(_faults(TOOLS, wrong))
        return ()
    except (yaml.YAMLError, UnicodeDecodeError) as wrong:
        problems.append(f"{TOOLS}: {wrong}")
        return ()
    problems.extend(problem for tool in tools for problem in (*_problems(tool), *_faults_of_call(tool, files)))
    problems.extend(_repeated([tool.name for tool in tools]))
    return tools


def _yaml(text: str) -> Any:
    """Parse YAML after a check of its events: deep nesting would exhaust the stack of the fast loader and end the
    process, an alias within itself never ends, and aliases of aliases grow without bound.
    """
    nest: list[tuple[str | None, int]] = [(None, 0)]
    sizes: dict[str | None, int] = {}
    for event in yaml.parse(text, Loader=LOADER):
        size = 0
        match event:
            case yaml.CollectionStartEvent():
                nest.append((event.anchor, 1))
            case yaml.CollectionEndEvent():
                anchor, size = nest.pop()
                sizes[anchor] = size
            case yaml.AliasEvent():
                if any(anchor == event.anchor for anchor, _ in nest):
                    raise yaml.YAMLError(f"the alias {event.anchor} refers to itself")
                size = sizes.get(event.anchor, 1)
            case yaml.ScalarEvent():
                size = 1
        nest[-1] = nest[-1][0], nest[-1][1] + size
        if len(nest) > DEPTH_MOST or nest[-1][1] > NODES_MOST:
            raise yaml.YAMLError(f"it is nested deeper than {DEPTH_MOST}, or contains more than {NODES_MOST} values")
    return yaml.load(text, Loader=LOADER)  # noqa: S506 - both loaders are safe ones


def _kind(files: Mapping[str, bytes]) -> Kind:
    """Return the kind of a skill. With programs it is code, whatever else it declares: its tools and instructions rely
    on them.
    """
    if any(map(is_program, files)):
        return Kind.CODE
    return Kind.PRIMITIVE if TOOLS in files else Kind.PROMPT


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
        intents=tool.intents,
        examples=tool.examples,
        needs=tool.needs,
        deletes_with=tool.deletes_with,
        leaves_machine=tool.primitive is Primitive.WEB or _buys_pictures(tool),
        costs_money=_buys_pictures(tool),
        digest=digest,
    )


def _buys_pictures(tool: _Tool) -> bool:
    return tool.primitive is Primitive.MULTIMODAL and tool.method == PICTURES


def _problems(tool: _Tool) -> list[str]:
    properties = tool.params.get("properties")
    if tool.params.get("type") != "object" or not isinstance(properties, Mapping):
        return [f"{tool.name}: params must be a JSON Schema of an object with properties"]
    problems = [f"{tool.name}: unknown parameter {name}" for name in _named_params(tool) if name not in properties]
    if tool.primitive in (Primitive.RETRIEVAL, Primitive.WEB) and tool.mutates:
        problems.append(f"{tool.name}: a {tool.primitive} tool never mutates")
    if tool.primitive is Primitive.WEB and "url" not in tool.params.get("required", ()):
        problems.append(f"{tool.name}: a web tool must require the parameter url, whose host policy is asked about")
    if tool.mutates is (tool.effect in (Effect.READ, Effect.REPORT)):
        problems.append(f"{tool.name}: the effect {tool.effect} disagrees with mutates")
    if (tool.effect is Effect.REMEMBER) is not (tool.primitive is Primitive.MEMORY):
        problems.append(f"{tool.name}: the effect remember and the primitive memory go together")
    if tool.effect is Effect.ACT:
        problems.append(f"{tool.name}: a skill's tool may only use the stage; the effect act is for external tools")
    if tool.params.get("additionalProperties") is not False:
        problems.append(f"{tool.name}: params must set additionalProperties to false")
    try:
        Draft202012Validator.check_schema(tool.params)
    except SchemaError as wrong:
        problems.append(f"{tool.name}: params are not a JSON Schema: {wrong.message}")
    problems += [f"{tool.name}: {problem}" for intent in tool.intents for problem in intent.problems()]
    return [*problems, *(f"{tool.name}: params {hazard}" for hazard in _hazards(tool.params))]


def _faults_of_call(tool: _Tool, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what is wrong with the primitive's method, and with the result of a program."""
    if tool.primitive is not Primitive.PROGRAM:
        if METHOD.fullmatch(tool.method) is None:
            yield f"{tool.name}: {tool.method} is not the name of a method"
        return
    if tool.method not in files or interpreter(tool.method, files[tool.method]) is None:
        yield f"{tool.name}: {tool.method} is not skill.py or a file of scripts/ for Python or a shell"
    if tool.effect is not Effect.RUN:
        yield f"{tool.name}: a program may change any file, so its effect is run"
    if taken := RETURNS.keys() & tool.returns.keys():
        yield f"{tool.name}: returns may not name {', '.join(sorted(taken))}, which each program's result has"
    try:
        Draft202012Validator.check_schema(fields := result_schema(tool.returns))
    except SchemaError as wrong:
        yield f"{tool.name}: returns are not JSON Schemas: {wrong.message}"
    else:
        yield from (f"{tool.name}: returns {hazard}" for hazard in _hazards(fields))


def _hazards(schema: Any) -> Iterator[str]:
    """Yield the parts of a schema on which a validator would fail, or for which it would fetch another schema."""
    if isinstance(schema, list):
        for part in schema:
            yield from _hazards(part)
    if not isinstance(schema, dict):
        return
    for name, value in schema.items():
        if name in REFERRING and isinstance(value, str):
            yield f"may not refer to other schemas ({name})"
        if name == "pattern" and isinstance(value, str) and not _compiles(value):
            yield f"contain a pattern that is not a regular expression of RE2: {value}"
        if name == "patternProperties" and isinstance(value, dict):
            yield f"may not contain {name}"
        yield from _hazards(value)


def _compiles(pattern: str) -> bool:
    try:
        linear(pattern)
    except re2.error:
        return False
    return True


def _named_params(tool: _Tool) -> list[str]:
    flag = (tool.deletes_with,) if tool.deletes_with else ()
    # A slot may fill a parameter of the read that the tool needs, which another skill declares.
    slots = (slot for intent in tool.intents for slot in intent.slots.values())
    filled = (slot.param for slot in slots if slot.param and not tool.needs)
    return [*tool.roles, *filled, *(need.param for need in tool.needs), *tool.params.get("required", ()), *flag]


def _repeated(names: list[str]) -> list[str]:
    return [f"{name} is declared twice" for name in sorted({name for name in names if names.count(name) > 1})]


def _faults(file: str, wrong: ValidationError) -> list[str]:
    return [f"{file}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in wrong.errors()]
