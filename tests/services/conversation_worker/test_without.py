"""What a turn does without, when a part of the platform is away: it goes on, and says so."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from libs.database import Dsns
from libs.events import TurnDegraded
from tests.support.platform import plan, run_platform, scripted_model

READ = plan(("manage-files.list", {"path": "."}))


@pytest.mark.requirement("A17", "S3-58")
async def test_without_the_memory_service_a_turn_goes_on_and_says_so(home: Dsns, tmp_path: Path) -> None:
    def away(request: httpx.Request) -> httpx.Response:
        return httpx.Response(503)

    def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(away), base_url="http://memory")

    async with run_platform(home, tmp_path, model=scripted_model(READ), clients_of={"memory_service": client}) as at:
        turn = await at.say("look", session="s", root=at.folder("a"))
        assert (await at.finish(turn, session="s")).state == "completed"
        (told,) = [event for event in await at.logged("s") if isinstance(event, TurnDegraded)]
    assert (told.turn_id, told.missing) == (turn, "memory")
