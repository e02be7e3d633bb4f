"""The real services with one slot for turns, as a scenario for the kill driver: what is said meanwhile waits for it.

A turn whose text is `hold` takes the slot and keeps it, writing its answer, until it is released. A process can be told
to stall at a point, until someone lets it go on.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
from typing_extensions import override

from libs.database import Dsns
from libs.events.committee import Task
from libs.events.values import Plan
from libs.models.ports import ModelText, PlanDraft, PlannerOutcome
from libs.skills import ToolDefinition
from tests.chaos.driver import DOOMED, TICK, WITHIN, Point, Stage
from tests.chaos.turn_scenario import STALLED, Steady
from tests.support.platform import build_platform, law, plan

HOLD, WAIT = "hold", "wait"
HOLDING, RELEASED = "holding", "released"
ONE_SLOT = {"conversation_worker": {"turns_at_once_per_tenant": 1}}
LOOK = plan(("manage-files.list", {"path": "."}))
WAITING = "select count(*) from bus.leases where grp = 'conversation_worker' and kind = 'turn' and owner = $1"
ENDED = "select count(*) from bus.log where type = 'suma.turn.ended.v1' and data ->> 'turn_id' = any ($1)"


@dataclass
class Holding(Steady):
    """Looks, and answers; to `hold` only once it is released."""

    folder: Path

    @override
    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        return PlanDraft(LOOK)

    @override
    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        return ModelText('{"approved": true}')

    @override
    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        if task.text == HOLD:
            (self.folder / HOLDING).touch()
            while not (self.folder / RELEASED).exists():
                await asyncio.sleep(TICK)
        yield ModelText("Seen.")


@asynccontextmanager
async def slot_scenario(where: Dsns, world: str, member: str, point: Point, *, stall: str = "") -> AsyncIterator[Stage]:
    folder = Path(world)

    def reached(at: str) -> None:
        if at == stall and not (folder / STALLED).exists():
            (folder / STALLED).write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGSTOP)
        point(at)

    ports: dict[str, Any] = {"policy": await law(), "model": Holding(folder), "member": member, "point": reached}
    async with build_platform(where, folder, settings=ONE_SLOT, **ports) as stage:
        yield stage


async def until(where: Dsns, query: str, count: int, about: object) -> None:
    """Until so many of them are there."""
    eye = await asyncpg.connect(where.owner.replace("suma_owner", "postgres"))
    try:
        async with asyncio.timeout(WITHIN):
            while await eye.fetchval(query, about) != count:
                await asyncio.sleep(TICK)
    finally:
        await eye.close()


async def waiting(where: Dsns, count: int) -> None:
    """Until so many turns stand at the slot of the process that is going to die."""
    await until(where, WAITING, count, DOOMED)


async def ended(where: Dsns, turns: Sequence[str]) -> None:
    await until(where, ENDED, len(turns), list(turns))
