"""The real services as a scenario for the kill driver: whole turns, on a real folder, with a person who approves.

How a turn goes is in its session's name: `tidy-` scans, removes, sorts and commits, `many-` sorts a thousand files,
`unpack-` unpacks an archive,
`ignored-` is never approved, `unclear-` is asked back and not answered. The model judges by what it is shown and not by
what it was asked before, so that another process goes on where one was killed; it mends each first draft once.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events import ApprovalDecided, ApprovalRequested
from libs.events.committee import Task
from libs.events.values import Plan
from libs.leases.ports import Lease
from libs.models.ports import ClarificationNeeded, ModelText, PlanDraft, PlannerOutcome
from libs.runtime.platform import Platform
from libs.runtime.service import Kind
from libs.skills import ToolDefinition

# Here, so that the process that children are forked from has them already.
from services.committee_worker import service as _committee  # noqa: F401
from services.conversation_worker import service as _conversation  # noqa: F401
from services.tool_executor import service as _executor  # noqa: F401
from tests.chaos.driver import TICK, WITHIN, Point, Stage
from tests.support.platform import WHO, build_platform, law, plan

TIDY = plan(
    ("remove-duplicates.scan", {"path": ".", "strategy": "hash"}),
    ("remove-duplicates.remove", {"groups": "$step(1).groups"}),
    ("manage-files.list", {"path": "."}),
    ("organize-by-type.sort", {"source": "$step(3).nodes", "by": "extension_category", "target": "."}),
)
MANY = plan(
    ("manage-files.list", {"path": "."}),
    ("organize-by-type.sort", {"source": "$step(1).nodes", "by": "extension_category", "target": "."}),
)
UNPACK = plan(("manage-files.list", {"path": "."}), ("archive-files.unpack", {"path": "all.zip"}))
PLANS = {"many": MANY, "unpack": UNPACK}
MENDED = "mended"
DAY = 24 * 3600.0
ASKED = """
select log.key, log.data from bus.log where log.type = 'suma.approval.requested.v1' and not exists
(select from bus.inbox where inbox.id = 'yes:' || (log.data ->> 'approval_id'))
"""
STALLED, WOKEN = "stalled", "woken"


class Steady:
    """A model whose answers depend on nothing but the question."""

    name = "steady"

    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        if task.text == "unclear":
            return ClarificationNeeded("Which of them?", missing=("which",))
        return PlanDraft(PLANS.get(task.text, TIDY))

    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        good = plan.reasoning == MENDED or task.text == "many"
        return ModelText('{"approved": true}' if good else '{"approved": false, "reason": "Say why."}')

    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        return PlanDraft(plan.model_copy(update={"reasoning": MENDED}))

    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        yield ModelText("It is tidy.")


@asynccontextmanager
async def turn_scenario(
    where: Dsns, world: str, member: str, point: Point, *, patience: float = DAY
) -> AsyncIterator[Stage]:
    """The three services; `world` is the folder of their root and data, `patience` how long they wait for people."""
    settings = {"conversation_worker": {"approval_seconds": patience, "clarification_seconds": patience}}
    ports: dict[str, Any] = {"policy": await law(), "model": Steady(), "member": member, "point": point}
    async with build_platform(where, Path(world), settings=settings, **ports) as stage, approving(stage[0]):
        yield stage


@asynccontextmanager
async def approving(platform: Platform) -> AsyncIterator[None]:
    """With a person who says yes to whatever is asked."""
    person = asyncio.ensure_future(_approve(platform))
    try:
        yield
    finally:
        person.cancel()
        await asyncio.gather(person, return_exceptions=True)


@asynccontextmanager
async def stalling_scenario(
    where: Dsns, world: str, member: str, point: Point, *, at: str, hit: int
) -> AsyncIterator[Stage]:
    """The same, in a process that stalls at the nth time that it comes to a point, until someone lets it go on; it
    says when it stalls, and when the call that it worked on has ended after all."""
    seen = 0

    def stall(reached: str) -> None:
        nonlocal seen
        seen += reached == at
        if reached == at and seen == hit:
            (Path(world) / STALLED).write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGSTOP)
        point(reached)

    async def run(kind: Kind[Any], lease: Lease) -> Any:
        try:
            return await kind.run(lease)
        finally:
            if seen >= hit:
                (Path(world) / WOKEN).touch()

    async with turn_scenario(where, world, member, stall) as (platform, services):
        yield platform, [replace(s, kinds=[replace(k, run=partial(run, k)) for k in s.kinds]) for s in services]


async def stalled(world: Path) -> None:
    """Until the stalling process stands still."""
    async with asyncio.timeout(WITHIN):
        while not _stands(world / STALLED):
            await asyncio.sleep(TICK)


async def woken(world: Path) -> None:
    """Until the process that stalled has gone on and come to the end of its call."""
    async with asyncio.timeout(WITHIN):
        while not (world / WOKEN).exists():
            await asyncio.sleep(TICK)


def _stands(note: Path) -> bool:
    if not note.exists() or not (pid := note.read_text()):
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state == "T"


async def _approve(platform: Platform) -> None:
    """A person who says yes to every question, once, except in the sessions that nobody looks after."""
    pool = await platform.database.bus()
    while True:
        for row in await pool.fetch(ASKED):
            tenant, session = str(row["key"]).split(":", 1)
            if not session.startswith("ignored-"):
                asked = ApprovalRequested.model_validate(orjson.loads(row["data"]))
                await platform.writer.apply(_yes(tenant, session, asked))
        await asyncio.sleep(TICK)


def _yes(tenant: str, session: str, asked: ApprovalRequested) -> Changeset:
    cause = Cause.request(
        "gateway", id=f"yes:{asked.approval_id}", tenant=tenant, key=f"{tenant}:{session}", session=session
    )
    answer = ApprovalDecided(
        approval_id=asked.approval_id, verdict="approve", digest=asked.digest, principal=WHO, scopes=("*",)
    )
    return Changeset(cause).emit(answer)
