"""The bus alone: the echo turn, with a lease around each call of a model or tool, through all six services.

Real events, real changesets, policy of one rule, audit records counted; no planning, no grants, no traces.
"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import replace

from typing_extensions import override

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.errors import SumaError
from libs.events import (
    MessageCompleted,
    MessageReceived,
    PlanApproved,
    PlanRejected,
    PlanRequested,
    RememberRequested,
    ToolSucceeded,
    TurnEnded,
)
from libs.events.envelope import Envelope
from libs.events.values import Plan, Step
from libs.leases.ports import Lease, NewLease
from libs.runtime.host import host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Kind, Service, Subscription
from libs.telemetry import logs
from tests import infrastructure
from tests.benchmarks import load
from tests.benchmarks.contenders.buses import carried
from tests.support.echo_service import Echo, record
from tests.support.rows import any_row

MANY = 256
"""Leases side by side: more than sessions, in every contender."""


class Calling(Echo):
    """The echo turn whose plan and answer take as long as a model, and whose tool has no effect."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform, "")
        self.answered: dict[str, asyncio.Future[None]] = {}

    @override
    async def planned(self, cause: Cause, event: Envelope[PlanRequested]) -> Changeset:
        work = {"request": event.data.request_id, "turn": event.data.turn_id}
        return Changeset(cause).start(NewLease(ids.derived(cause.id, "draft"), "draft", work))

    async def call(self, lease: Lease) -> str:
        await load.call()
        return "hello"

    async def drafted(self, lease: Lease, result: str) -> Changeset:
        cause = Cause.of_lease(lease)
        step = Step(step_id=ids.derived(cause.id, "step"), ordinal=1, description=result, tool="echo")
        plan = Plan(plan_id=ids.derived(cause.id, "plan"), steps=(step,))
        approved = PlanApproved(request_id=lease.input["request"], turn_id=lease.input["turn"], round=1, plan=plan)
        return Changeset(cause).emit(record("committee.required", "allow", "r"), approved)

    async def no_draft(self, lease: Lease, error: SumaError) -> Changeset:
        why = PlanRejected(
            request_id=lease.input["request"], turn_id=lease.input["turn"], round=1, code=error.code, reason=str(error)
        )
        return Changeset(Cause.of_lease(lease)).emit(why)

    @override
    async def succeeded(self, cause: Cause, event: Envelope[ToolSucceeded]) -> Changeset:
        work = {"turn": event.data.turn_id}
        return Changeset(cause).start(NewLease(ids.derived(cause.id, "answer"), "answer", work))

    async def answer(self, lease: Lease, result: str) -> Changeset:
        cause, turn = Cause.of_lease(lease), lease.input["turn"]
        return (
            Changeset(cause)
            .put(any_row("echo", "turn.move", turn_id=turn, state="completed", seen="acting"))
            .emit(RememberRequested(memory_id=ids.derived(cause.id), kind="answer", text=result, user="tester"))
            .emit(MessageCompleted(turn_id=turn, message_id=ids.derived(cause.id, "answer"), text=result))
        )

    async def no_answer(self, lease: Lease, error: SumaError) -> Changeset:
        return Changeset(Cause.of_lease(lease)).emit(
            TurnEnded(turn_id=lease.input["turn"], state="failed", reason=error.code)
        )

    async def seen(self, cause: Cause, event: Envelope[MessageCompleted]) -> Changeset:
        waiting = self.answered.pop(event.data.turn_id)
        return (await self.noted(cause, event)).on_commit(lambda: waiting.set_result(None))

    async def turn(self, session: str) -> None:
        turn = ids.new()
        answered = self.answered[turn] = asyncio.get_running_loop().create_future()
        cause = Cause.request(
            "gateway", id=ids.new(), tenant="local", key=f"local:{session}", session=session, turn=turn
        )
        message = MessageReceived(message_id=turn, turn_id=turn, text="Say hello to the tool.", principal="tester")
        await self.platform.writer.apply(Changeset(cause).emit(message))
        await answered

    @override
    def services(self) -> list[Service]:
        """As the echo services, with the leases of a model beside the tool's."""
        kinds = {
            "conversation_worker": [Kind("answer", self.call, self.answer, self.no_answer, room=MANY, per_tenant=MANY)],
            "committee_worker": [Kind("draft", self.call, self.drafted, self.no_draft, room=MANY, per_tenant=MANY)],
            "tool_executor": [Kind("tool", self.call, self.effected, self.failed, room=MANY, per_tenant=MANY)],
        }
        made = [replace(service, kinds=kinds.get(service.name, ())) for service in super().services()]
        return [*made[:-1], replace(made[-1], subscriptions=[Subscription(MessageCompleted, self.seen)])]


async def behind(platform: Platform) -> float:
    """Wait until the audit worker and the memory have handled everything; how long that took after the last answer."""
    began = time.perf_counter()
    pool = await platform.database.bus()
    query = """
        select count(*) from bus.log l where topic in ('audit.events', 'memory.events')
        and not exists (select from bus.inbox i where i.id = l.event_id)
        and not exists (
            select from bus.projections join bus.offsets o using (grp, topic)
            where topic = l.topic and o.part = l.part and o.position >= l.position
        )
    """
    while await pool.fetchval(query):
        await asyncio.sleep(0.005)
    return time.perf_counter() - began


async def main(where: Dsns, bootstrap: str | None) -> None:
    logs.configure(json=True, level="ERROR")
    async with infrastructure.platform(where) as made:
        platform = carried(made, bootstrap)
        echo = Calling(platform)
        await prepare(platform, echo.services())
        async with host(platform, echo.services()):
            await load.serve(echo.turn, lambda: behind(platform))


if __name__ == "__main__":
    load.run(main(Dsns(*sys.argv[1:4]), next(iter(sys.argv[4:]), None)))
