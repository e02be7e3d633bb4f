"""The messages between host and container: `input.json`, the bodies of requests, and `output.json`.

The container is not trusted. Each size is checked before a body is parsed, each field before it is used.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from libs import ids
from libs.errors import Rejected
from libs.events.committee import Task
from libs.events.values import Observation, Plan, Step
from libs.skills import ToolDefinition, sources
from libs.workspace.safe_dir import SafeDir

BODY_MOST, OUTPUT_MOST = 64 * 1024, 256 * 1024
"""Bytes of a request's body (a plan has at most 48 KiB), and of `output.json`."""
TEXT_MOST = 40_000
"""Characters of an answer."""
INPUT, OUTPUT = "input.json", "output.json"


class BadBody(Rejected):
    """The body is not what this path takes; correct it."""

    code = "BAD_BODY"


class Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Call(Said):
    """One call of a tool. Its args may refer to earlier calls of the same request, as `$step(1).field`."""

    tool: str = Field(min_length=1, max_length=200)
    args: dict[str, Any] = Field(default_factory=dict)
    description: str = Field(default="", max_length=300)


class Calls(Said):
    """POST /tool: calls that the turn needs next."""

    calls: tuple[Call, ...] = Field(min_length=1, max_length=50)
    reasoning: str = Field(default="", max_length=2000)
    final: bool = False
    """Nothing comes after these; the answer is written from their results."""


class Thought(Said):
    """POST /model: ask the configured model what comes next."""


class Output(BaseModel):
    """`output.json` (S1-15)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str = Field(min_length=1, max_length=TEXT_MOST)
    usage: dict[str, Any] | None = None
    """The program's own count, for people who read what was kept. Models are called by the host, which counts."""


REQUESTS: Mapping[str, type[Calls | Thought]] = {"/tool": Calls, "/model": Thought}


def request(path: str, body: bytes) -> Calls | Thought:
    """Parse a request's body. Raises `BadBody`."""
    try:
        return REQUESTS[path].model_validate(_parsed(body))
    except ValidationError as wrong:
        said = [f"{'.'.join(map(str, error['loc'])) or 'body'}: {error['msg']}" for error in wrong.errors()[:3]]
        raise BadBody("; ".join(said)) from None


def output(folder: Path) -> Output | None:
    """Return what a container reported; None if it reported nothing of use. No link is followed."""
    try:
        with SafeDir.open(folder) as safe_dir:
            # Without waiting: it may be a pipe that no process writes to.
            fd = safe_dir.at(OUTPUT, os.O_RDONLY | os.O_NONBLOCK)
            with os.fdopen(fd, "rb") as file:
                about = os.fstat(fd)
                if not stat.S_ISREG(about.st_mode) or about.st_size > OUTPUT_MOST:
                    return None
                return Output.model_validate(_parsed(file.read(OUTPUT_MOST)))
    except (OSError, Rejected, ValidationError):
        return None


def _parsed(raw: bytes) -> Any:
    # orjson refuses NaN, lone surrogates and depth; a database takes no NUL.
    if b"\\u0000" in raw:
        raise BadBody("a text contains a NUL")
    try:
        return orjson.loads(raw)
    except ValueError:
        raise BadBody("it is not JSON") from None


def plan_of(said: Calls, tools: Mapping[str, ToolDefinition]) -> Plan:
    """Return the calls as a plan. Each step's properties come from its tool, not from the container."""
    steps = tuple(_step(n, call, tools[call.tool]) for n, call in enumerate(said.calls, 1))
    return Plan(plan_id=ids.new(), reasoning=said.reasoning, steps=steps, complete=said.final)


def _step(ordinal: int, call: Call, tool: ToolDefinition) -> Step:
    return Step(
        step_id=ids.new(),
        ordinal=ordinal,
        description=(call.description.strip() or tool.description)[:300],
        skill=tool.skill,
        tool=tool.name,
        args=call.args,
        depends_on=sources(call.args),
        mutates=tool.mutates,
    )


def as_calls(plan: Plan) -> dict[str, Any]:
    """Return a model's plan as the answer to POST /model."""
    calls = [{"tool": step.tool, "args": step.args, "description": step.description[:300]} for step in plan.steps]
    return {"calls": calls, "reasoning": plan.reasoning[:2000], "final": plan.complete}


def results(observations: Sequence[Observation]) -> list[dict[str, Any]]:
    """Return finished calls, in order, as a model sees them."""
    return [
        {
            "tool": seen.tool,
            "description": seen.description,
            "status": seen.state.value,
            "result": seen.excerpt if seen.data is None else seen.data,
            "summary": seen.summary,
            "error": seen.error,
        }
        for seen in observations
    ]


def turn_of(turn: str, task: Task) -> dict[str, Any]:
    """Return the turn as the container sees it: the request, and what the session remembers (S1-14)."""
    shown = {"history", "memories", "passages", "workspace", "replies", "clarification", "attachments"}
    return {"id": turn, "prompt": task.text, **task.model_dump(mode="json", include=shown)}


def tool_list(tools: Mapping[str, ToolDefinition]) -> list[dict[str, Any]]:
    return [
        {"name": tool.name, "description": tool.description, "params": dict(tool.params), "mutates": tool.mutates}
        for tool in tools.values()
    ]
