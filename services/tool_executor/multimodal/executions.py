"""The attempts at a task (S3-38): each is written before its producer is called, and closed with its outcome.

A process that dies in between leaves the attempt open. Its successor then knows that a provider may have been paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from libs.changes import Changeset, Row
from libs.errors import Conflict
from libs.events import ActionRecorded, Event
from libs.multimodal.ports import Capability
from libs.runtime import Platform
from services.tool_executor import calls
from services.tool_executor.calls import LeaseLost
from services.tool_executor.multimodal.tasks import Task
from services.tool_executor.rows import ExecutionClosed, ExecutionOpened
from services.tool_executor.workspaces import GROUP, queries

RUNNING, SUCCEEDED, REWORK, FAILED = "running", "succeeded", "rework", "failed"


@dataclass(frozen=True, slots=True)
class Execution:
    """An attempt as it was written."""

    attempt: int
    tool_id: str
    provider: str
    status: str
    paid: bool
    critique: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.tool_id}"


class Executions:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def of_call(self, task: Task) -> Sequence[Execution]:
        """Return the earlier attempts of a call, in order."""
        rows = await self._platform.database.rows(
            GROUP, task.lease.tenant, queries.executions_of_call, call=task.request.call_id
        )
        return [Execution(**{**row, "critique": _texts(row["critique"])}) for row in map(dict, rows)]

    async def of_turn(self, tenant: str, turn: str) -> list[dict[str, Any]]:
        """Return the attempts of a turn as JSON, in order."""
        rows = await self._platform.database.rows(GROUP, tenant, queries.executions_of_turn, turn=turn)
        return [
            {**row, "critique": list(_texts(row["critique"])), "at": row["at"].isoformat()} for row in map(dict, rows)
        ]

    async def paid(self, tenant: str, since: datetime, until: datetime) -> int:
        """Return how many paid attempts a tenant made in a time."""
        row = await self._platform.database.row(GROUP, tenant, queries.paid_executions, since=since, until=until)
        return int(row)

    async def begin(
        self, task: Task, attempt: int, capability: Capability, records: tuple[ActionRecorded, ...]
    ) -> ExecutionOpened:
        """Write that an attempt begins, with the decisions that allow it.

        Raises:
            LeaseLost: another holder of the lease has begun it, or ended it.
        """
        request = task.request
        row = ExecutionOpened(
            id=f"{request.call_id}:{attempt}",
            session_id=task.session,
            plan_id=request.plan_id or "",
            turn_id=request.turn_id,
            call_id=request.call_id,
            step_id=request.step_id,
            step_index=request.ordinal,
            attempt=attempt,
            token=task.lease.token,
            tool_id=capability.tool_id,
            provider=capability.provider,
            paid=capability.cost_micros > 0,
        )
        await self._apply(task, f"attempt{attempt}", (row,), *records)
        return row

    async def end(self, task: Task, closed: ExecutionClosed, *events: Event) -> None:
        """Write the end of an attempt after which the call goes on, or fails."""
        await self._apply(task, f"ended{closed.id.rpartition(':')[2]}", (closed,), *events)

    async def record(self, task: Task, attempt: int, records: Sequence[ActionRecorded]) -> None:
        """Write policy's decisions where no attempt follows them."""
        if records:
            await self._apply(task, f"refused{attempt}", (), *records)

    async def _apply(self, task: Task, what: str, rows: Sequence[Row], *events: Event) -> None:
        cause = calls.cause_within(task.lease, f"multimodal:{what}")
        try:
            await self._platform.writer.apply(Changeset(cause).put(*rows).emit(*events))
        except Conflict as error:
            raise LeaseLost from error


def _texts(value: str | None) -> tuple[str, ...]:
    return tuple(orjson.loads(value)) if value else ()
