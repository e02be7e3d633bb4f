"""What a turn does without, when a part of the platform is away: it goes on, and says so."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from libs import ids
from libs.changes import Cause
from libs.changes.batch import envelope
from libs.clients.calls import ServiceDown
from libs.database import Dsns
from libs.events import MessageReceived, PlanRequested, TurnDegraded
from libs.identity import proofs
from libs.scheduling import FairSemaphore
from tests.support.platform import (
    TENANT,
    WHO,
    RunningPlatform,
    build_platform,
    law,
    plan,
    run_platform,
    scripted_model,
)

READ = plan(("manage-files.list", {"path": "."}))
LOOK = plan(("manage-files.list", {"path": "."}), complete=False)


@pytest.mark.requirement("A17", "S3-58")
async def test_turn_without_the_memory_service_completes_and_reports_it(home: Dsns, tmp_path: Path) -> None:
    def away(request: httpx.Request) -> httpx.Response:
        return httpx.Response(503)

    def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(away), base_url="http://memory")

    async with run_platform(home, tmp_path, model=scripted_model(READ), clients_of={"memory_service": client}) as at:
        turn = await at.say("look", session="s", root=at.folder("a"))
        assert (await at.finish(turn, session="s")).state == "completed"
        (told,) = [event for event in await at.logged("s") if isinstance(event, TurnDegraded)]
    assert (told.turn_id, told.missing) == (turn, "memory")


async def unknown(tenant: str, **about: Any) -> list[Any]:
    return []


async def plainly(tenant: str, **about: Any) -> str:
    return ""


NOTHING = {"known": unknown, "knowledge": unknown, "manner": plainly}
"""The memory service's other queries, of a person about whom it knows nothing."""


async def leased(at: RunningPlatform) -> None:
    """Wait until a lease waits for the context."""
    while not any("context" in what for what in await at.open()):
        await asyncio.sleep(0.01)


async def test_late_context_is_awaited_by_a_lease_and_requested_once(home: Dsns, tmp_path: Path) -> None:
    asked = 0
    async with run_platform(home, tmp_path, model=scripted_model(READ)) as at:

        async def recall(tenant: str, **about: Any) -> list[str]:
            nonlocal asked
            asked += 1
            await leased(at)
            return []

        cast("dict[str, Any]", at.platform.near)["memory_service"] = {"recall": recall, **NOTHING}
        turn = await at.say("look", session="s", root=at.folder("a"))
        assert (await at.finish(turn, session="s")).state == "completed"
    assert asked == 1


@pytest.mark.parametrize("late", [False, True], ids=["at_once", "late"])
async def test_facts_that_fail_are_asked_again_by_a_lease(home: Dsns, tmp_path: Path, late: bool) -> None:
    asked = 0
    async with run_platform(home, tmp_path, model=scripted_model(READ)) as at:
        near = cast("dict[str, Any]", at.platform.near)
        facts_of = near["tool_executor"]["facts"]

        async def facts(tenant: str, **about: Any) -> dict[str, Any]:
            nonlocal asked
            asked += 1
            if asked > 1:
                return cast("dict[str, Any]", await facts_of(tenant, **about))
            if late:
                await leased(at)
            raise ServiceDown("the executor is restarting")

        near["tool_executor"] = {**near["tool_executor"], "facts": facts}
        turn = await at.say("look", session="s", root=at.folder("a"))
        assert (await at.finish(turn, session="s")).state == "completed"
    assert asked == 2


async def test_context_after_a_step_is_gathered_once_that_has_committed(home: Dsns, tmp_path: Path) -> None:
    leases: list[bool] = []
    async with run_platform(home, tmp_path, model=scripted_model(LOOK, READ)) as at:

        async def recall(tenant: str, **about: Any) -> list[str]:
            return []

        near = cast("dict[str, Any]", at.platform.near)
        facts_of = near["tool_executor"]["facts"]

        async def facts(tenant: str, **about: Any) -> dict[str, Any]:
            leases.append(any("context" in what for what in await at.open()))
            return cast("dict[str, Any]", await facts_of(tenant, **about))

        near["memory_service"] = {"recall": recall, **NOTHING}
        near["tool_executor"] = {**near["tool_executor"], "facts": facts}
        turn = await at.say("look, then look again", session="s", root=at.folder("a"))
        await at.ended(turn, session="s")
    assert len(leases) > 1
    assert leases[-1]


async def test_gathering_holds_no_place_in_the_gate(home: Dsns, tmp_path: Path) -> None:
    gate = FairSemaphore(1, each=1)

    async def recall(tenant: str, **about: Any) -> list[str]:
        async with gate.through(TENANT):
            return []

    near: dict[str, Any] = {"memory_service": {"recall": recall, **NOTHING}, "tool_executor": {}}
    names = ("conversation_worker",)
    async with build_platform(home, tmp_path, names=names, near=near, policy=await law()) as (platform, [service]):
        message = MessageReceived(message_id=ids.new(), turn_id=ids.new(), text="look", principal=WHO, scopes=("*",))
        cause = Cause.request("conversation_worker", id=ids.new(), tenant=TENANT, key="s", session="s")
        on = next(each for each in service.subscriptions if each.event is MessageReceived)
        async with gate.through(TENANT):
            said = envelope(cause, message, now=platform.clock.now(), traceparent=None)
            handled = await on.handle(cause, proofs.sign(platform.keys, said))
        assert any(isinstance(event, PlanRequested) for event in handled.events)
