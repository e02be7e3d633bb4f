"""Suma's processes: the executor, which is killed, and the driver, where the other services run. Real services, real
policy, a model that plans the one step that it is asked for.

A new executor is the next boot of the dead ones' machine: it frees what they held, as `services.start` does. The driver
takes turns as the gateway would and tells how they ended; as a person it says yes to every question, and where nobody
knows whether an effect happened it looks at the world.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import asyncpg
import orjson
import uvloop

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events import ApprovalDecided, ApprovalRequested, EffectResolved, MessageReceived, StepChanged, TurnEnded
from libs.events.base import Event, registry
from libs.events.committee import Task
from libs.events.values import Plan, Step, StepState
from libs.models.ports import ModelText, PlanDraft, PlannerOutcome
from libs.runtime.host import Pace, host, prepare
from libs.runtime.platform import Platform
from libs.skills import ToolDefinition
from libs.telemetry import logs

# Here, so that the process that the others are forked from has them already.
from services.audit_worker import service as _audit  # noqa: F401
from services.committee_worker import service as _committee  # noqa: F401
from services.conversation_worker import service as _conversation  # noqa: F401
from services.memory_service import service as _memory  # noqa: F401
from services.tool_executor import service as _executor  # noqa: F401
from tests.support.platform import TENANT, WHO, build_platform, law, skills
from tests.trial import world
from tests.trial.count import State
from tests.trial.tools import Hands, tools
from tests.trial.wire import Wire

OTHERS = ("conversation_worker", "committee_worker", "memory_service", "audit_worker")
PACE = Pace(own=1.0, sweep=0.1)
"""A dead process's work is looked for ten times a second: the trial waits for many deaths."""
LOOK_SECONDS = 0.02
SAID = """
select type, data::text as data, key, part, position from bus.log l join unnest($1::int[], $2::bigint[])
as seen(part, after) using (part) where l.topic = 'conversation.outbound' and l.position > seen.after
order by l.part, l.position
"""
PARTS = "select part from bus.heads where topic = 'conversation.outbound'"
UNKNOWN = "EFFECT_UNKNOWN"


class Script:
    """Plans the effect that the message names: `idempotent 0.0042`."""

    name = "scripted:trial"

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        effect, seconds = task.text.split()
        tool = f"trial.{effect}"
        args = {"seconds": float(seconds)}
        step = Step(step_id=ids.new(), ordinal=1, description="Make the effect", tool=tool, args=args, mutates=True)
        return PlanDraft(Plan(plan_id=ids.new(), reasoning="It was asked for.", steps=(step,)))

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        return ModelText('{"approved": true}')

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        return PlanDraft(plan)

    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        yield ModelText("It is done.")


class Driver:
    """Takes turns, answers what people are asked, and tells the trial how the turns ended."""

    def __init__(self, platform: Platform, wire: Wire, outside: asyncpg.Pool[asyncpg.Record]) -> None:
        self._platform, self._wire, self._world = platform, wire, outside
        self._steps: dict[str, StepState] = {}

    async def take(self) -> None:
        while True:
            asked = await self._wire.take()
            turn = asked["turn"]
            text = f"{asked['effect']} {asked['seconds']:.6f}"
            said = MessageReceived(message_id=ids.new(), turn_id=turn, text=text, principal=WHO, scopes=("*",))
            await self._say(said, id=f"message:{turn}", session=f"s-{turn}")

    async def watch(self) -> None:
        pool = await self._platform.database.bus()
        after = {row["part"]: 0 for row in await pool.fetch(PARTS)}
        while True:
            rows = await pool.fetch(SAID, list(after), list(after.values()))
            for row in rows:
                after[row["part"]] = row["position"]
                event = registry[row["type"]].model_validate(orjson.loads(row["data"]))
                await self._heard(event, str(row["key"]).partition(":")[2])
            if not rows:
                await asyncio.sleep(LOOK_SECONDS)

    async def _heard(self, event: Event, session: str) -> None:
        match event:
            case StepChanged():
                self._steps[event.turn_id] = event.state
            case TurnEnded():
                self._ended(event)
            case ApprovalRequested(kind="effect"):
                self._wire.say(unknown=event.turn_id)
                await self._say(await self._looked(event), id=f"found:{event.approval_id}", session=session)
            case ApprovalRequested():
                await self._say(_yes(event), id=f"yes:{event.approval_id}", session=session)
            case _:
                pass

    def _ended(self, event: TurnEnded) -> None:
        words = f"{event.state} {event.reason} {event.detail}"
        self._wire.say(ended=event.turn_id, state=self._state(event), words=words)

    def _state(self, event: TurnEnded) -> State:
        if event.reason == UNKNOWN:
            return "unknown"
        done = event.state == "completed" and self._steps.get(event.turn_id) is StepState.SUCCEEDED
        return "completed" if done else "failed"

    async def _looked(self, asked: ApprovalRequested) -> EffectResolved:
        """A person looks at the world, and says what is there."""
        happened = await self._world.fetchval(world.HAPPENED, asked.intent)
        verdict = "happened" if happened else "did_not_happen"
        return EffectResolved(
            approval_id=asked.approval_id, verdict=verdict, digest=asked.digest, principal=WHO, scopes=("*",)
        )

    async def _say(self, event: Event, *, id: str, session: str) -> None:
        cause = Cause.request("gateway", id=id, tenant=TENANT, key=f"{TENANT}:{session}", session=session)
        await self._platform.writer.apply(Changeset(cause).emit(event))


def _yes(asked: ApprovalRequested) -> ApprovalDecided:
    return ApprovalDecided(
        approval_id=asked.approval_id, verdict="approve", digest=asked.digest, principal=WHO, scopes=("*",)
    )


async def driver(socket: str, dsns: Sequence[str], elsewhere: str, folder: str) -> None:
    """The other services, and the driver."""
    ports: dict[str, Any] = {"policy": await law(), "model": Script(), "member": "driver"}
    async with (
        asyncpg.create_pool(elsewhere, min_size=1, max_size=1) as outside,
        build_platform(Dsns(*dsns), Path(folder), names=OTHERS, tools=tools(), **ports) as (platform, services),
    ):
        await prepare(platform, services)
        async with host(platform, services, pace=PACE) as running:
            counter = Driver(platform, Wire(socket, "driver"), outside)
            async with asyncio.TaskGroup() as group:
                group.create_task(counter.take())
                group.create_task(counter.watch())
                await running.failed


async def executor(
    socket: str, name: str, dsns: Sequence[str], elsewhere: str, folder: str, dead: Sequence[str]
) -> None:
    """The executor, alone in its process, until it is killed."""
    wire = Wire(socket, name)
    async with asyncpg.create_pool(elsewhere, min_size=2, max_size=16) as pool:
        hands = Hands(wire, pool)
        ports: dict[str, Any] = {"policy": await law(), "member": name, "tools": tools(hands)}
        async with build_platform(Dsns(*dsns), Path(folder), names=("tool_executor",), **ports) as (platform, services):
            await platform.leases.free(list(dead))
            async with host(platform, services, pace=PACE) as running:
                wire.say(versions={"suma": "this checkout"})
                await running.failed


def ready() -> None:
    """What every process of ours would read for itself: the rules and the skills."""
    logs.configure(json=False, level="ERROR")
    skills()
    asyncio.run(law())


def main(role: str, *arguments: Any) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(driver(*arguments) if role == "driver" else executor(*arguments))
