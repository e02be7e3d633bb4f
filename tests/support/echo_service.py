"""The echo turn of bus.md: six small services that carry one message through every topic to one effect elsewhere.

message.received → plan.requested → plan.approved → tool.requested (`echo`, a row in another database) → tool.succeeded
→ remember.requested and message.completed; the audit worker counts. They keep their state in one schema, `echo`.

How a turn goes is in the beginning of its id: `fail-` has a tool that refuses, `later-` one that is swept rather than
claimed at birth, `bad-` is refused at once, and in `stumble-` every handler finds the world away the first time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import asyncpg

from libs import ids
from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.database import Dsns, Schema
from libs.errors import Rejected, SumaError, Unavailable
from libs.events import (
    ActionRecorded,
    ActionsRecorded,
    MessageCompleted,
    MessageReceived,
    PlanApproved,
    PlanRequested,
    RememberRequested,
    ToolFailed,
    ToolRequested,
    ToolSucceeded,
    TurnEnded,
)
from libs.events.committee import Task
from libs.events.envelope import Envelope
from libs.events.topics import INBOUND, MEMORY_EVENTS
from libs.events.values import Body, Plan, Step
from libs.leases.ports import Lease, NewLease
from libs.runtime.platform import Platform
from libs.runtime.service import Kind, Projection, Service, Subscription
from tests.support.rows import any_row

FOLDER = Path(__file__).parent / "echo_sql"


PROJECTOR = Service("projector", projections=[Projection(INBOUND), Projection(MEMORY_EVENTS)])
"""Projects these topics by `echo.project`, once that is declared."""
CURSORS = "select from bus.offsets where grp = 'projector' for update"
"""Held in a transaction, these rows keep commits from projecting."""


async def declare_projections(where: Dsns, group: str = PROJECTOR.name) -> None:
    owner = await asyncpg.connect(where.owner)
    try:
        async with owner.transaction():
            for topic in (INBOUND, MEMORY_EVENTS):
                await owner.fetchval("select bus.declare_projection($1, $2, 'echo.project')", group, topic.name)
    finally:
        await owner.close()


def record(action: str, verdict: str, revision: str) -> ActionRecorded:
    return ActionRecorded(action=action, phase="decision", verdict=verdict, principal="tester", revision=revision)


class Echo:
    """Return the handlers of all six services. `world` is the second database, where the effect is made."""

    def __init__(self, platform: Platform, world: str) -> None:
        self.platform = platform
        self.world = world
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._stumbled: set[tuple[str, str]] = set()

    async def received(self, cause: Cause, event: Envelope[MessageReceived]) -> Changeset:
        self._stumble(cause)
        if event.data.turn_id.startswith("bad-"):
            raise Rejected("it says so itself")
        decision = await self.platform.policy.decide("conversation.send", {"tenant": cause.tenant})
        turn = event.data.turn_id
        task = Task(text=event.data.text, intent="statement")
        return (
            Changeset(cause)
            .put(any_row("echo", "turn.start", turn_id=turn, session_id=cause.session, text=event.data.text))
            .emit(record("conversation.send", "allow", decision.revision))
            .emit(PlanRequested(request_id=turn, turn_id=turn, round=1, task=task))
        )

    async def planned(self, cause: Cause, event: Envelope[PlanRequested]) -> Changeset:
        self._stumble(cause)
        step = Step(step_id=ids.derived(cause.id, "step"), ordinal=1, description="echo", tool="echo")
        plan = Plan(plan_id=ids.derived(cause.id, "plan"), steps=(step,))
        return Changeset(cause).emit(
            record("committee.required", "allow", "r"),
            record("committee.review", "allow", "r"),
            PlanApproved(request_id=event.data.request_id, turn_id=event.data.turn_id, round=1, plan=plan),
        )

    async def approved(self, cause: Cause, event: Envelope[PlanApproved]) -> Changeset:
        self._stumble(cause)
        decision = await self.platform.policy.decide("tool.execute", {"tenant": cause.tenant, "tool": "echo"})
        call = ToolRequested(
            call_id=ids.derived(cause.id, "call"),
            turn_id=event.data.turn_id,
            plan_id=event.data.plan.plan_id,
            step_id=event.data.plan.steps[0].step_id,
            ordinal=1,
            tool="echo",
            epoch=0,
            deadline=30,
            principal="tester",
            grant="",
        )
        moved = Changeset(cause).put(
            any_row("echo", "turn.move", turn_id=call.turn_id, state="acting", seen="thinking")
        )
        return moved.emit(record("tool.execute", "allow", decision.revision), call)

    async def requested(self, cause: Cause, event: Envelope[ToolRequested]) -> Changeset:
        self._stumble(cause)
        call = event.data
        delay = 0.0 if call.turn_id.startswith("later-") else None
        work = {"call_id": call.call_id, "turn_id": call.turn_id, "step_id": call.step_id}
        return (
            Changeset(cause)
            .start(NewLease(call.call_id, "tool", work, delay))
            .emit(record("tool.execute", "intent", "r"))
        )

    async def effect(self, held: Lease) -> str:
        """Idempotent by its key, as an effect that may run again must be."""
        if held.input["turn_id"].startswith("fail-"):
            raise Rejected("it says so itself")
        pool = await self._elsewhere()
        await pool.execute("insert into effects (key) values ($1) on conflict do nothing", held.id)
        return "done"

    async def effected(self, held: Lease, result: str) -> Changeset:
        data = held.input
        return Changeset(Cause.of_lease(held)).emit(
            ToolSucceeded(
                call_id=data["call_id"], turn_id=data["turn_id"], step_id=data["step_id"], data=Body(json=result)
            )
        )

    async def failed(self, held: Lease, error: SumaError) -> Changeset:
        data = held.input
        return Changeset(Cause.of_lease(held)).emit(
            ToolFailed(
                call_id=data["call_id"],
                turn_id=data["turn_id"],
                step_id=data["step_id"],
                code=error.code,
                error=str(error),
            )
        )

    async def succeeded(self, cause: Cause, event: Envelope[ToolSucceeded]) -> Changeset:
        self._stumble(cause)
        turn = event.data.turn_id
        return (
            Changeset(cause)
            .put(any_row("echo", "turn.move", turn_id=turn, state="completed", seen="acting"))
            .emit(RememberRequested(memory_id=ids.derived(cause.id), kind="answer", text="echo", user="tester"))
            .emit(MessageCompleted(turn_id=turn, message_id=ids.derived(cause.id, "answer"), text="echo"))
        )

    async def gave_up(self, cause: Cause, event: Envelope[ToolFailed]) -> Changeset:
        turn = event.data.turn_id
        moved = Changeset(cause).put(any_row("echo", "turn.move", turn_id=turn, state="failed", seen="acting"))
        return moved.emit(TurnEnded(turn_id=turn, state="failed", reason=event.data.code))

    async def noted(self, cause: Cause, event: Envelope[Any]) -> Changeset:
        self._stumble(cause)
        return Changeset(cause).put(
            any_row(
                "echo",
                "noted",
                grp=cause.group,
                event_id=cause.id,
                type=event.type,
                key=cause.key,
                turn_id=cause.turn,
            )
        )

    def never_started(self, cause: Cause, dead: Record, error: SumaError) -> Changeset:
        turn = dead.header("turnid") or ""
        return Changeset(cause).emit(TurnEnded(turn_id=turn, state="failed", reason=error.code))

    def _stumble(self, cause: Cause) -> None:
        if (cause.turn or "").startswith("stumble-") and (cause.group, cause.id) not in self._stumbled:
            # Left out of a chain it is not parked yet: it stumbles in its lane, too.
            if not cause.uncommitted:
                self._stumbled.add((cause.group, cause.id))
            raise Unavailable()

    async def _elsewhere(self) -> asyncpg.Pool[asyncpg.Record]:
        if self._pool is None:
            self._pool = await asyncpg.create_pool(self.world, min_size=0, max_size=8)
        return self._pool

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()

    def services(self) -> list[Service]:
        tool = Kind("tool", self.effect, self.effected, self.failed)
        schema = Schema("echo", FOLDER / "migrations", [FOLDER / "apply.sql"])
        return [
            Service(
                "conversation_worker",
                [
                    Subscription(MessageReceived, self.received, self.never_started, fuses=True),
                    Subscription(PlanApproved, self.approved, fuses=True),
                    Subscription(ToolSucceeded, self.succeeded, fuses=True),
                    Subscription(ToolFailed, self.gave_up, fuses=True),
                ],
                schema=schema,
            ),
            Service("committee_worker", [Subscription(PlanRequested, self.planned, fuses=True)]),
            Service("tool_executor", [Subscription(ToolRequested, self.requested, fuses=True)], [tool]),
            Service("memory_service", [Subscription(RememberRequested, self.noted, fuses=True)]),
            Service(
                "audit_worker",
                [Subscription(event, self.noted) for event in (ActionRecorded, ActionsRecorded)],
            ),
            Service(
                "gateway",
                [
                    Subscription(MessageCompleted, self.noted, fuses=True),
                    Subscription(TurnEnded, self.noted, fuses=True),
                ],
            ),
        ]
