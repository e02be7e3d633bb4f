"""One tenant's backlog with a slow tool, another tenant's single turn behind it on the same partitions, and their order
of ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import asyncpg

from libs import ids
from libs.changes import Cause, Changeset
from libs.events import MessageReceived
from libs.events.committee import Task
from libs.events.topics import INBOUND
from libs.events.values import Plan
from libs.models.ports import ModelText, PlanDraft, PlannerOutcome
from libs.skills import ToolDefinition
from libs.tools import Effect, Intent, Outcome
from tests.support.platform import RunningPlatform, plan

WAIT = "test.wait"
TEXT: Mapping[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
HOG, GUEST = "hog", "guest"
ENDED = "select count(*) from bus.log where type = 'suma.turn.ended.v1' and tenant = $1"
AT_WORK = "select count(*) from bus.leases where kind = 'effect' and tenant = $1 and owner is not null"


class Caller:
    """A model whose every plan is one call of the slow tool with the message's text."""

    name = "caller"

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        return PlanDraft(plan((WAIT, {"text": task.text})))

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        return ModelText('{"approved": true}')

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        return PlanDraft(plan)

    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        yield ModelText("done")


@dataclass
class Slow:
    """A tool that takes `seconds` for slow text, or until it is released."""

    seconds: float | None = None
    released: asyncio.Event = field(default_factory=asyncio.Event)
    name: str = WAIT
    description: str = "Waits when the text is slow."
    parameters: Mapping[str, Any] = field(default_factory=lambda: TEXT)
    effect: Effect = Effect.PURE
    leaves_machine: bool = False

    async def run(self, intent: Intent) -> Outcome:
        if "slow" in intent.args["text"]:
            await (self.released.wait() if self.seconds is None else asyncio.sleep(self.seconds))
        return Outcome({}, "waited")


@dataclass
class Backlog:
    """The requests of two tenants in a running platform."""

    at: RunningPlatform
    part: int = 0

    async def hog(self, turns: int) -> None:
        """Start so many turns with a slow tool, each in its own session, all on one partition."""
        await asyncio.gather(*(self._say(HOG, "something slow", session) for session in self._sessions(HOG, turns)))

    async def one_session(self, messages: int) -> None:
        (session,) = self._sessions(HOG, 1)
        for _ in range(messages):
            await self._say(HOG, "something slow", session)

    async def guest(self) -> None:
        """Run one quick turn of the other tenant on the same partition to its end."""
        (session,) = self._sessions(GUEST, 1)
        done = await self.ended(GUEST)
        await self._say(GUEST, "something quick", session)
        await self.until_ended(GUEST, done + 1)

    async def ended(self, tenant: str) -> int:
        return await self._ask(ENDED, tenant)

    async def until_ended(self, tenant: str, turns: int, *, seconds: float = 180.0) -> None:
        await self._until(ENDED, tenant, turns, seconds)

    async def until_at_work(self, tenant: str, calls: int) -> None:
        await self._until(AT_WORK, tenant, calls, 180.0)

    async def _until(self, question: str, tenant: str, count: int, seconds: float) -> None:
        async with asyncio.timeout(seconds), self._eye() as eye:
            while int(await eye.fetchval(question, tenant)) < count:
                await self.at.platform.bus.waiting()

    async def _ask(self, question: str, tenant: str) -> int:
        async with self._eye() as eye:
            return int(await eye.fetchval(question, tenant))

    @asynccontextmanager
    async def _eye(self) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
        """Open a separate connection that no service waits for."""
        database = self.at.platform.database
        connection: asyncpg.Connection[asyncpg.Record] = await database.pinned(database.dsns.bus)
        try:
            yield connection
        finally:
            await connection.close()

    async def _say(self, tenant: str, text: str, session: str) -> None:
        turn = ids.new()
        said = MessageReceived(message_id=ids.new(), turn_id=turn, text=text, principal="p", scopes=("*",))
        key = f"{tenant}:{session}"
        cause = Cause.request("gateway", id=ids.new(), tenant=tenant, key=key, session=session, turn=turn)
        await self.at.platform.writer.apply(Changeset(cause).emit(said))

    def _sessions(self, tenant: str, wanted: int) -> Iterator[str]:
        run = ids.new()
        names = (f"{run}-{n}" for n in count())
        ours = (name for name in names if INBOUND.partition_of(f"{tenant}:{name}") == self.part)
        for _ in range(wanted):
            yield next(ours)
