"""The rows that the conversation worker writes: one class for each paragraph of `apply.sql`."""

from __future__ import annotations

import orjson

from libs.changes import Row, row

SCHEMA = "conversation"


@row(SCHEMA, "session.put")
class SessionRow(Row):
    """The session, as the guard of every changeset: `version` is the next one, or the changeset conflicts."""

    session_id: str
    version: int
    epoch: int
    root: str | None
    active_turn: str | None
    doc: orjson.Fragment


@row(SCHEMA, "turn.put")
class TurnRow(Row):
    """A turn; `ended` sets the time of its end."""

    session_id: str
    turn_id: str
    state: str
    reason: str | None
    ended: bool
    doc: orjson.Fragment


@row(SCHEMA, "step.put")
class StepRow(Row):
    """A step of a plan, with its present state."""

    session_id: str
    turn_id: str
    step_id: str
    round: int
    ordinal: int
    tool: str
    state: str
    doc: orjson.Fragment


@row(SCHEMA, "approval.put")
class ApprovalRow(Row):
    """A question to a person; its outcome is empty while it is open."""

    session_id: str
    turn_id: str
    approval_id: str
    kind: str
    outcome: str | None
    doc: orjson.Fragment


@row(SCHEMA, "session.erase")
class SessionErased(Row):
    """A session, of which nothing is kept."""

    session_id: str
