"""The tools of this surface: a whole task, its follow-ups, and every primitive of the installed skills."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_types import Tool, ToolAnnotations

from libs.skills import Effect, Skills, ToolDefinition
from libs.tools import Effect as EffectClass

Schema = dict[str, Any]

RUN, FOLLOW, CANCEL = "suma_run", "suma_follow", "suma_cancel"
SESSION, ROOT = "session_id", "root"
"""Names of a primitive's session and folder, beside its own parameters."""
ID: Schema = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}
PLACE: Mapping[str, Schema] = {
    SESSION: {**ID, "description": "A session to go on in; its folder stays the same"},
    ROOT: {
        "type": "string",
        "minLength": 1,
        "maxLength": 4096,
        "pattern": "^/",
        "description": "The absolute path of a folder, for a new session in it",
    },
}
CHOICES, RULES = ("anyOf", "oneOf", "allOf"), ("not", "if", "then", "else", "dependentRequired", "dependentSchemas")
TYPES = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object", type(None): "null"}
TURN: Schema = {
    "type": "object",
    "required": ["session_id", "turn_id", "state"],
    "properties": {
        "session_id": {"type": "string"},
        "turn_id": {"type": "string"},
        "state": {"type": "string", "description": "completed, refused, failed, cancelled; or what it waits for"},
        "answer": {"type": ["string", "null"]},
        "reason": {"type": ["string", "null"]},
        "detail": {"type": "string"},
        "question": {"type": ["object", "null"], "description": "What an open turn waits for from a person"},
    },
}


def tools(skills: Skills, tenant: str) -> Sequence[Tool]:
    """Return all tools of a tenant, whole tasks first."""
    return [*_whole(), *(_primitive(tool) for tool in skills.tools_for(tenant))]


def primitive(skills: Skills, tenant: str, name: str) -> ToolDefinition | None:
    """Return the primitive behind a tool's name here."""
    return next((tool for tool in skills.tools_for(tenant) if name_of(tool) == name), None)


def name_of(tool: ToolDefinition) -> str:
    """Return a primitive's name here: models of some hosts accept no dots."""
    return tool.name.replace(".", "__")


def _whole() -> Iterator[Tool]:
    yield Tool(
        name=RUN,
        title="Run a task",
        description="Do a task in words, such as sorting a folder: Suma plans it, has the plan reviewed, asks a person "
        "where policy wants one, runs it and answers. With session_id, go on in that session; if its turn waits for an "
        "answer to a question, the text is that answer.",
        input_schema={
            "type": "object",
            "additionalProperties": False,
            "required": ["text"],
            "properties": {
                "text": {"type": "string", "minLength": 1, "maxLength": 100_000, "description": "The task"},
                **PLACE,
                "skill": {**ID, "description": "A skill to use"},
                "agent": {**ID, "description": "An agent of the platform's settings"},
                "hitl": {
                    "type": "string",
                    "enum": ["all", "key", "bypass"],
                    "description": "When to ask a person: at every step, at changes, or only about the final diff",
                },
                "attachments": {
                    "type": "array",
                    "items": ID,
                    "maxItems": 10,
                    "description": "Ids of uploads, for tools to read",
                },
            },
        },
        output_schema=TURN,
        annotations=ToolAnnotations(destructive_hint=True, open_world_hint=True),
    )
    yield Tool(
        name=FOLLOW,
        title="Follow a task",
        description="Wait for the end of a turn that an earlier call began, or for its next question to a person.",
        input_schema=_of_turn(),
        output_schema=TURN,
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )
    reason = {"type": "string", "maxLength": 2000}
    yield Tool(
        name=CANCEL,
        title="Cancel a task",
        description="Cancel a turn. What is staged is discarded; no file changes.",
        input_schema=_of_turn(reason=reason),
        output_schema=TURN,
        annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False),
    )


def _of_turn(**more: Schema) -> Schema:
    properties = {"turn_id": {**ID, "description": "The turn, from an earlier result"}, **more}
    return {"type": "object", "additionalProperties": False, "required": ["turn_id"], "properties": properties}


def _primitive(tool: ToolDefinition) -> Tool:
    return Tool(
        name=name_of(tool),
        description=tool.description,
        input_schema=_with_place(tool),
        annotations=ToolAnnotations(
            read_only_hint=not tool.mutates and tool.effect_class is EffectClass.PURE,
            destructive_hint=tool.effect in (Effect.DELETE, Effect.WRITE, Effect.ACT) or bool(tool.deletes_with),
            idempotent_hint=tool.effect_class in (EffectClass.PURE, EffectClass.IDEMPOTENT),
            open_world_hint=tool.leaves_machine,
        ),
    )


def _with_place(tool: ToolDefinition) -> Schema:
    """Return the tool's own schema with the place where it works."""
    shown = _plain({**tool.params, "properties": {**tool.properties, **PLACE}})
    return {name: part for name, part in shown.items() if name not in CHOICES}


def _plain(schema: Any) -> Any:
    """Return a schema without the rules that some hosts' models refuse, with all other tools. The call is checked
    against all of them.
    """
    if not isinstance(schema, dict):
        return schema
    kept = {name: part for name, part in schema.items() if name not in RULES}
    kept |= {name: _plain(kept[name]) for name in ("items", "additionalProperties") if name in kept}
    kept |= {name: [_plain(part) for part in kept[name]] for name in CHOICES if name in kept}
    if "properties" in kept:
        kept["properties"] = {name: _plain(part) for name, part in kept["properties"].items()}
    if not (values := kept.pop("enum", ())):
        return kept
    texts = [value for value in values if isinstance(value, str)]
    options = [{"type": "string", "enum": texts}] if texts else []
    options += [
        {"type": kind} for kind in dict.fromkeys(TYPES[type(value)] for value in values if type(value) is not str)
    ]
    return {**kept, **(options[0] if len(options) == 1 else {"anyOf": options})}
