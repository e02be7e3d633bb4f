"""The real services as a scenario for the kill driver, with tools that act on another database.

A turn's text names its tool. A process can be told to die, or to stall, at a point of a tool's work: `run:acting` is
between the leave to act and the effect, `run:open` between the effect and its commit, `run:after` behind both.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
from typing_extensions import override

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events import MessageReceived, TurnCancelRequested
from libs.events.committee import Task
from libs.events.values import Plan
from libs.models.ports import ModelText, PlanDraft, PlannerOutcome
from libs.runtime.platform import Platform
from libs.skills import ToolDefinition
from libs.tools import Intent
from tests import infrastructure
from tests.chaos.driver import TICK, WITHIN, Point, Stage
from tests.chaos.turn_scenario import STALLED, Steady, approving
from tests.support import effect_tools
from tests.support.platform import TENANT, WHO, build_platform, keys_of, law

LOCKED, WOKEN = "locked", "woken"
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "tool_executor": {"settle_seconds": 0},
    "conversation_worker": {"unknown_seconds": 30.0},
}
TOLD = """
select log.type from bus.log where log.type in ('suma.tool.succeeded.v1', 'suma.tool.failed.v1', 'suma.tool.unknown.v1')
and log.key = $1
"""


class Acting(Steady):
    """Plans the tool that the request names."""

    @override
    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        return PlanDraft(effect_tools.plan(task.text))

    @override
    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        return ModelText('{"approved": true}')


def place(folder: Path, dsn: str, *, at: str = "", how: str = "") -> str:
    """Return what a scenario knows of its world: its folder, and the one fault there: `die`, `stall`, or `cancel`."""
    return json.dumps({"folder": str(folder), "dsn": dsn, "at": at, "how": how})


@asynccontextmanager
async def outside_scenario(where: Dsns, world: str, member: str, point: Point) -> AsyncIterator[Stage]:
    about = json.loads(world)
    trouble = Befalling(Path(about["folder"]), about["at"], about["how"])
    there = effect_tools.World(about["dsn"], trouble, trouble.locked)
    ports: dict[str, Any] = {"policy": await law(), "model": Acting(), "member": member, "point": point}
    home = build_platform(where, trouble.folder, settings=SETTINGS, tools=effect_tools.tools(there), **ports)
    async with home as stage, approving(stage[0]):
        trouble.platform = stage[0]
        yield stage


@dataclass
class Befalling:
    """The trouble of a process: what happens at one point of a tool's work, and what the test is told of it."""

    folder: Path
    at: str
    how: str
    platform: Platform | None = None

    async def __call__(self, point: str, intent: Intent) -> None:
        if point in ("run:wrote", "late") and self.how == "stall" and (self.folder / STALLED).exists():
            (self.folder / WOKEN).touch()
        if point == "run:after" and self.at == "undo:acting":
            raise ConnectionResetError("the line went dead")
        if point == self.at and not (self.folder / STALLED).exists():
            (self.folder / STALLED).write_text(str(os.getpid()))
            await self._befall(intent)

    async def _befall(self, intent: Intent) -> None:
        if self.how == "cancel":
            assert self.platform is not None
            asked = TurnCancelRequested(turn_id=intent.turn, principal=WHO)
            await self.platform.writer.apply(Changeset(_cause(intent.session)).emit(asked))
            await asyncio.Event().wait()
        os.kill(os.getpid(), signal.SIGKILL if self.how == "die" else signal.SIGSTOP)

    async def locked(self) -> None:
        (self.folder / LOCKED).touch()


async def noticed(file: Path) -> None:
    """Until a process has left this note."""
    async with asyncio.timeout(WITHIN):
        while not file.exists():
            await asyncio.sleep(TICK)


async def accept(where: Dsns, folder: Path, tool: str) -> str:
    """A message that was answered with 202, by a process that is gone; its session, which names its turn too."""
    session = f"{tool}-{ids.new()}"
    said = MessageReceived(message_id=session, turn_id=session, text=tool, principal=WHO, scopes=("*",))
    async with infrastructure.platform(where, keys=keys_of(folder)) as platform:
        writing = asyncio.ensure_future(platform.writer.run())
        await asyncio.sleep(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            await platform.writer.apply(Changeset(_cause(session)).emit(said))
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    return session


async def told(where: Dsns, session: str) -> list[str]:
    """What the executor said of the session's calls: `succeeded`, `failed` or `unknown`."""
    eye = await asyncpg.connect(where.bus)
    try:
        return [str(row["type"]).split(".")[2] for row in await eye.fetch(TOLD, f"{TENANT}:{session}")]
    finally:
        await eye.close()


def _cause(session: str) -> Cause:
    """A request about a session whose only turn has its name."""
    key = f"{TENANT}:{session}"
    return Cause.request("gateway", id=ids.new(), tenant=TENANT, key=key, session=session, turn=session)
