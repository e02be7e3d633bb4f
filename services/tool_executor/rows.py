"""The rows that the tool executor writes: one class for each paragraph of `apply.sql`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from libs.changes import Row
from libs.events import Args, Json

SCHEMA = "executor"


@dataclass(frozen=True, slots=True)
class CallOpened(Row):
    """A call, before anything happens; a known one conflicts, and so does one of a cancelled turn where it says so."""

    into: ClassVar = (SCHEMA, "call.open")

    call_id: str
    session_id: str
    turn_id: str
    step_id: str
    tool: str
    state: str
    args: Args
    outcome: Mapping[str, Any] | None = None
    unless_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class CallClosed(Row):
    """The outcome of a running call."""

    into: ClassVar = (SCHEMA, "call.close")

    call_id: str
    state: str
    outcome: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallDead(Row):
    """A request that cannot be handled, so that no replay runs it."""

    into: ClassVar = (SCHEMA, "call.dead")

    call_id: str
    session_id: str
    turn_id: str
    step_id: str
    tool: str


@dataclass(frozen=True, slots=True)
class TurnCancelled(Row):
    """A cancelled turn: calls of it that arrive later do not begin."""

    into: ClassVar = (SCHEMA, "turn.cancel")

    turn_id: str


@dataclass(frozen=True, slots=True)
class EffectIntended(Row):
    """The intent of an effect, before anything happens."""

    into: ClassVar = (SCHEMA, "effect.intend")

    intent_id: str
    call_id: str
    session_id: str
    turn_id: str
    step_id: str
    tool: str
    effect_class: str


@dataclass(frozen=True, slots=True)
class EffectBegun(Row):
    """The next attempt at an effect; it conflicts when another process has begun it."""

    into: ClassVar = (SCHEMA, "effect.begin")

    intent_id: str
    call_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class EffectSettled(Row):
    """An attempt after which nothing is in doubt."""

    into: ClassVar = (SCHEMA, "effect.settle")

    intent_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class EffectClosed(Row):
    """The outcome of an effect."""

    into: ClassVar = (SCHEMA, "effect.close")

    intent_id: str
    state: str
    outcome: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StageHead(Row):
    """The head of a stage: `revision` guards it, operations after `base` are dropped, at its end all snapshots too.
    `contents` says whether its turn has stored any beside the log.
    """

    into: ClassVar = (SCHEMA, "stage.move")

    session_id: str
    revision: int
    length: int
    base: int
    ended: bool
    root: str | None
    turn_id: str
    contents: bool


@dataclass(frozen=True, slots=True)
class StageOperation(Row):
    """An operation of a stage."""

    into: ClassVar = (SCHEMA, "stage.append")

    session_id: str
    version: int
    step_id: str
    operation: Json


@dataclass(frozen=True, slots=True)
class SnapshotAdded(Row):
    """A snapshot: a version of a stage that a person can return to."""

    into: ClassVar = (SCHEMA, "snapshot.add")

    session_id: str
    snapshot_id: str
    version: int
    step_id: str


@dataclass(frozen=True, slots=True)
class JournalEntry(Row):
    """A commit or rollback, as the mirror of the journal on disk."""

    into: ClassVar = (SCHEMA, "journal.put")

    commit_id: str
    session_id: str
    turn_id: str
    root: str
    state: str
    operations: int
    diff: Json


@dataclass(frozen=True, slots=True)
class JournalFreed(Row):
    """A commit whose history was removed from disk."""

    into: ClassVar = (SCHEMA, "journal.free")

    commit_id: str


@dataclass(frozen=True, slots=True)
class SkillApproved(Row):
    """A version of a workspace skill that a person turned on."""

    into: ClassVar = (SCHEMA, "skill.approve")

    root: str
    name: str
    digest: str
    principal: str


@dataclass(frozen=True, slots=True)
class SkillRevoked(Row):
    """A workspace skill that a person turned off."""

    into: ClassVar = (SCHEMA, "skill.revoke")

    root: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolApproved(Row):
    """A description of a remote tool that an operator approved, for the whole deployment."""

    into: ClassVar = (SCHEMA, "tool.approve")

    tool: str
    digest: str
    definition: Json
    principal: str


@dataclass(frozen=True, slots=True)
class ToolRevoked(Row):
    """A remote tool that is not offered any more."""

    into: ClassVar = (SCHEMA, "tool.revoke")

    tool: str
