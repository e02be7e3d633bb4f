"""The points of a turn at which hooks are called, and what each gets (S0-35).

A *gate* is `async def gate(action: Action) -> str | None`: None lets the action go on to the next check, a text refuses
it with that reason. A gate never widens: all other checks hold as well. It may be asked again about the same action.
It fails closed: an exception, another result, or no answer in time refuses. `Unavailable` has the action tried again
for a minute.

An *observer* is `async def observer(seen: Observed) -> None`. It is called after the event was committed, in the order
of the session, at least once: use `id` to recognise a repetition. An exception has it called again, later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import orjson

ARGS_MOST = 16 * 1024
"""Bytes of JSON up to which a gate sees the args of a call; of larger ones it sees the digest."""
TEXT_MOST = 4_000


class Point(StrEnum):
    TASK_START = "on_task_start"
    PLAN_CREATED = "on_plan_created"
    PLAN_APPROVED = "on_plan_approved"
    PLAN_REJECTED = "on_plan_rejected"
    TOOL_CALL = "on_tool_call"
    TOOL_RESULT = "on_tool_result"
    TASK_COMPLETE = "on_task_complete"
    TASK_FAILED = "on_task_failed"


GATED = (Point.TASK_START, Point.PLAN_APPROVED, Point.TOOL_CALL)
"""The points before an action; only there can something still be refused."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action that waits for its gates. It holds no secrets, and nothing in it can be changed."""

    point: Point
    tenant: str
    session: str
    turn: str
    principal: str
    text: str = ""
    """At the start of a task: the beginning of its message."""
    tools: tuple[str, ...] = ()
    """The tools of the plan's steps, in order; of a call, the one."""
    step: str = ""
    args: Mapping[str, Any] | None = None
    """The resolved args of a call; None if they are large."""
    args_digest: str = ""
    effect_class: str = ""
    risks: tuple[str, ...] = ()
    destination: str | None = None
    """The host that receives the args, if one does."""

    @property
    def tool(self) -> str:
        return self.tools[0] if self.point is Point.TOOL_CALL else ""


@dataclass(frozen=True, slots=True)
class Observed:
    """A committed event. `data` is as in proto/events."""

    point: Point
    id: str
    tenant: str
    session: str
    turn: str
    at: datetime
    data: Mapping[str, Any]


def shown_args(args: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the args for a gate: a copy that cannot be changed, or None if they are large."""
    if args is None or len(orjson.dumps(dict(args))) > ARGS_MOST:
        return None
    shown: Mapping[str, Any] = frozen(dict(args))
    return shown


def frozen(value: Any) -> Any:
    """Return a JSON value that cannot be changed."""
    match value:
        case dict():
            return MappingProxyType({name: frozen(part) for name, part in value.items()})
        case list() | tuple():
            return tuple(map(frozen, value))
        case _:
            return value
