"""The rows that the tool executor writes: one class for each paragraph of `apply.sql`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from libs.changes import Row, row
from libs.events import Args, Json

SCHEMA = "executor"


@row(SCHEMA, "call.open")
class CallOpened(Row):
    """A call, before anything happens; a known one conflicts, and so does one of a cancelled turn where it says so."""

    call_id: str
    session_id: str
    turn_id: str
    step_id: str
    tool: str
    state: str
    args: Args
    outcome: Mapping[str, Any] | None = None
    unless_cancelled: bool = False


@row(SCHEMA, "call.close")
class CallClosed(Row):
    """The outcome of a running call."""

    call_id: str
    state: str
    outcome: Mapping[str, Any]


@row(SCHEMA, "call.dead")
class CallDead(Row):
    """A request that cannot be handled, so that no replay runs it."""

    call_id: str
    session_id: str
    turn_id: str
    step_id: str
    tool: str


@row(SCHEMA, "turn.cancel")
class TurnCancelled(Row):
    """A cancelled turn: calls of it that arrive later do not begin."""

    turn_id: str


@row(SCHEMA, "effect.intend")
class EffectIntended(Row):
    """The intent of an effect, before anything happens."""

    intent_id: str
    call_id: str
    session_id: str
    turn_id: str
    step_id: str
    tool: str
    effect_class: str


@row(SCHEMA, "effect.begin")
class EffectBegun(Row):
    """The next attempt at an effect; it conflicts when another process has begun it."""

    intent_id: str
    call_id: str
    attempt: int


@row(SCHEMA, "effect.settle")
class EffectSettled(Row):
    """An attempt after which nothing is in doubt."""

    intent_id: str
    attempt: int


@row(SCHEMA, "effect.close")
class EffectClosed(Row):
    """The outcome of an effect."""

    intent_id: str
    state: str
    outcome: Mapping[str, Any]


@row(SCHEMA, "stage.move")
class StageHead(Row):
    """The head of a stage: `revision` guards it, operations after `base` are dropped, at its end all snapshots too.
    `contents` says whether its turn has stored any beside the log.
    """

    session_id: str
    revision: int
    length: int
    base: int
    ended: bool
    root: str | None
    turn_id: str
    contents: bool


@row(SCHEMA, "stage.append")
class StageOperation(Row):
    """An operation of a stage."""

    session_id: str
    version: int
    step_id: str
    operation: Json


@row(SCHEMA, "snapshot.add")
class SnapshotAdded(Row):
    """A snapshot: a version of a stage that a person can return to."""

    session_id: str
    snapshot_id: str
    version: int
    step_id: str


@row(SCHEMA, "journal.put")
class JournalEntry(Row):
    """A commit or rollback, as the mirror of the journal on disk."""

    commit_id: str
    session_id: str
    turn_id: str
    root: str
    state: str
    operations: int
    diff: Json


@row(SCHEMA, "journal.free")
class JournalFreed(Row):
    """A commit whose history was removed from disk."""

    commit_id: str


@row(SCHEMA, "skill.approve")
class SkillApproved(Row):
    """A version of a workspace skill that a person turned on."""

    root: str
    name: str
    digest: str
    principal: str


@row(SCHEMA, "skill.revoke")
class SkillRevoked(Row):
    """A workspace skill that a person turned off."""

    root: str
    name: str


@row(SCHEMA, "tool.approve")
class ToolApproved(Row):
    """A description of a remote tool that an operator approved, for the whole deployment."""

    tool: str
    digest: str
    definition: Json
    principal: str


@row(SCHEMA, "tool.revoke")
class ToolRevoked(Row):
    """A remote tool that is not offered any more."""

    tool: str


@row(SCHEMA, "capability.check")
class CapabilityChecked(Row):
    """The health of a capability of the registry, as a process found it last."""

    tool_id: str
    provider: str
    modalities: list[str]
    formats: list[str]
    constraints: Json
    cost_tier: str
    health_status: str
    problem: str


@row(SCHEMA, "execution.open")
class ExecutionOpened(Row):
    """An attempt of a multimodal call, before its producer is called; it conflicts where it has ended, or where a newer
    holder of the lease has begun it.
    """

    id: str
    session_id: str
    plan_id: str
    turn_id: str
    call_id: str
    step_id: str
    step_index: int
    attempt: int
    token: int
    tool_id: str
    provider: str
    paid: bool


@row(SCHEMA, "execution.close")
class ExecutionClosed(Row):
    """The outcome of an attempt, by the holder of the lease that began it."""

    id: str
    token: int
    status: str
    latency_ms: int
    cost_micros: int
    asset_id: str | None = None
    quality_score: float | None = None
    critique: Json = None
    error: str | None = None


@row(SCHEMA, "execution.leave")
class ExecutionsLeft(Row):
    """The attempts of a call that ended in between, such as by a cancel."""

    call_id: str
    error: str


@row(SCHEMA, "session.erase")
class SessionErased(Row):
    """A session, of which nothing is kept."""

    session_id: str
