"""The rows that the conversation worker writes: one class for each paragraph of `apply.sql`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import orjson

from libs.changes import Row
from libs.events import Json

SCHEMA = "conversation"


@dataclass(frozen=True, slots=True)
class SessionRow(Row):
    """The session, as the guard of every changeset: `version` is the next one, or the changeset conflicts."""

    into: ClassVar = (SCHEMA, "session.put")

    session_id: str
    version: int
    epoch: int
    root: str | None
    active_turn: str | None
    doc: orjson.Fragment


@dataclass(frozen=True, slots=True)
class TurnRow(Row):
    """A turn; `ended` sets the time of its end."""

    into: ClassVar = (SCHEMA, "turn.put")

    session_id: str
    turn_id: str
    state: str
    reason: str | None
    ended: bool
    doc: orjson.Fragment


@dataclass(frozen=True, slots=True)
class PlanRow(Row):
    """A plan, written once."""

    into: ClassVar = (SCHEMA, "plan.add")

    plan_id: str
    session_id: str
    turn_id: str
    round: int
    doc: Json


@dataclass(frozen=True, slots=True)
class StepRow(Row):
    """A step of a plan, with its present state."""

    into: ClassVar = (SCHEMA, "step.put")

    session_id: str
    turn_id: str
    step_id: str
    round: int
    ordinal: int
    tool: str
    state: str
    doc: orjson.Fragment


@dataclass(frozen=True, slots=True)
class ApprovalRow(Row):
    """A question to a person; its outcome is empty while it is open."""

    into: ClassVar = (SCHEMA, "approval.put")

    session_id: str
    turn_id: str
    approval_id: str
    kind: str
    outcome: str | None
    doc: orjson.Fragment


@dataclass(frozen=True, slots=True)
class MessageRow(Row):
    """A message of a person or of the assistant, written once."""

    into: ClassVar = (SCHEMA, "message.add")

    session_id: str
    message_id: str
    turn_id: str
    role: str
    text: str
