"""The ledger of effects: each intent, the attempts that were begun on it, and its outcome.

An attempt is begun by a commit of its own, before it may touch the world: where a process dies afterwards, the next one
finds an attempt that was begun and not ended, and knows what it does not know. The numbers are handed out by
compare-and-set, so that of two processes that both believe in their lease one does not begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from libs.changes import Cause, Changeset, Writer
from libs.database import Database
from libs.errors import Conflict
from libs.events import ToolRequested
from libs.leases import Lease
from libs.telemetry import metrics
from libs.tools import Effect
from services.tool_executor import calls
from services.tool_executor.calls import LeaseLost
from services.tool_executor.effects.recovery import RecoveryAction
from services.tool_executor.rows import EffectBegun, EffectClosed, EffectIntended, EffectSettled
from services.tool_executor.workspaces import GROUP, queries

OPEN, HAPPENED, DID_NOT_HAPPEN, UNDONE, UNKNOWN = "open", "happened", "did_not_happen", "undone", "unknown"


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """The state of an intent."""

    intent: str
    call: str
    state: str
    begun: int
    settled: int
    outcome: dict[str, Any] | None

    @property
    def in_doubt(self) -> bool:
        """Return whether an attempt may have had an effect that was not reported."""
        return self.begun > self.settled


class Ledger:
    def __init__(self, database: Database, writer: Writer) -> None:
        self._database, self._writer = database, writer

    async def look(self, tenant: str, intent: str) -> EffectRecord | None:
        row = await self._database.row(GROUP, tenant, queries.effect, intent=intent)
        if row is None:
            return None
        outcome = orjson.loads(row["outcome"]) if row["outcome"] else None
        return EffectRecord(row["intent_id"], row["call_id"], row["state"], row["begun"], row["settled"], outcome)

    async def record(self, lease: Lease) -> EffectRecord:
        """Return the state of a lease's intent; its row was written with the lease."""
        found = await self.look(lease.tenant, lease.input["intent"])
        if found is None:
            raise LookupError("the intent was never written")
        return found

    async def begin(self, lease: Lease, record: EffectRecord, action: RecoveryAction) -> int:
        """Begin the next attempt and return its number; each further attempt is recorded with its action.

        Raises:
            LeaseLost: another process has begun it, or ended it.
        """
        request, attempt = calls.request_of(lease), record.begun + 1
        changeset = Changeset(calls.cause_within(lease, f"begin{attempt}")).put(
            EffectBegun(intent_id=record.intent, call_id=request.call_id, attempt=attempt)
        )
        if attempt > 1:
            changeset = changeset.emit(calls.recorded(request, "intent", action.value))
        try:
            await self._writer.apply(changeset)
        except Conflict:
            raise LeaseLost() from None
        return attempt

    async def settle(self, lease: Lease, attempt: int) -> None:
        """Record that nothing is in doubt after this attempt, unless another has begun meanwhile."""
        row = EffectSettled(intent_id=lease.input["intent"], attempt=attempt)
        changeset = Changeset(calls.cause_within(lease, f"settle{attempt}")).put(row)
        try:
            await self._writer.apply(changeset)
        except Conflict:
            # A later attempt has begun, and the doubt is about that one.
            return


def intended(cause: Cause, request: ToolRequested, *, intent: str, effect: Effect) -> Changeset:
    """Return the row of the intent, written before anything happens."""
    row = EffectIntended(
        intent_id=intent,
        call_id=request.call_id,
        session_id=cause.session or "",
        turn_id=request.turn_id,
        step_id=request.step_id,
        tool=request.tool,
        effect_class=effect.value,
    )
    return Changeset(cause).put(row)


def ended(cause: Cause, intent: str, *, effect: Effect, state: str, outcome: Mapping[str, Any]) -> Changeset:
    """Return the outcome of an effect."""
    row = EffectClosed(intent_id=intent, state=state, outcome=outcome)
    counted = metrics.effects.labels(effect.value, state).inc
    return Changeset(cause).put(row).on_commit(counted)
