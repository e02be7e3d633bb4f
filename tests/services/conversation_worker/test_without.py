"""What a turn does without, when a part of the platform is away: it goes on, and says so."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from libs.database import Dsns
from libs.events import TurnDegraded
from tests.support.platform import plan, run_platform, scripted_model

READ = plan(("manage-files.list", {"path": "."}))


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


async def test_late_context_is_awaited_by_a_lease_and_requested_once(home: Dsns, tmp_path: Path) -> None:
    asked = 0
    async with run_platform(home, tmp_path, model=scripted_model(READ)) as at:

        async def recall(tenant: str, **about: Any) -> list[str]:
            nonlocal asked
            asked += 1
            while not any("context" in what for what in await at.open()):
                await asyncio.sleep(0.01)
            return []

        cast("dict[str, Any]", at.platform.near)["memory_service"] = {"recall": recall}
        turn = await at.say("look", session="s", root=at.folder("a"))
        assert (await at.finish(turn, session="s")).state == "completed"
    assert asked == 1
