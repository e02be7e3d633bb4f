"""An effect whose answer was lost, from the request to the person who finds out: over HTTP, through every service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from libs.database import Dsns
from libs.identity.keys import mint
from tests.infrastructure.wish import get, post
from tests.support import effect_tools, platform
from tests.support.effect_tools import Breaking, Send, World
from tests.support.platform import SERVICES, WITHIN, RunningPlatform

LOST = ConnectionResetError("the line went dead")


@asynccontextmanager
async def living(where: Dsns, folder: Path, there: World) -> AsyncIterator[tuple[RunningPlatform, httpx.AsyncClient]]:
    """Gateway and all, and the owner over HTTP."""
    key = mint("local", "owner", scopes=["*"])[0]
    settings: dict[str, Any] = {"gateway": {"local_key": key, "command_wait": WITHIN}}
    await there.prepare()
    running = platform.run_platform(
        where,
        folder,
        model=platform.scripted_model(effect_tools.plan(Send.name)),
        names=(*SERVICES, "gateway"),
        settings=settings,
        tools=effect_tools.tools(there),
    )
    async with running as at, at.platform.clients["gateway"]() as http:
        http.headers.update({"Authorization": f"Bearer {key}", "Host": "localhost"})
        yield at, http


async def listed(at: RunningPlatform, http: httpx.AsyncClient, path: str, name: str) -> dict[str, Any]:
    """The first thing on a list that is empty until something has come through."""
    async with asyncio.timeout(WITHIN):
        while not (found := (await http.get(path)).json().get(name)):
            await at.platform.bus.waiting()
    return dict(found[0])


@pytest.mark.requirement("P2", "P5", "A17a")
@pytest.mark.parametrize("verdict", ["happened", "did_not_happen"])
async def test_resolved_unknown_effect_ends_the_turn(where: Dsns, tmp_path: Path, world: str, verdict: str) -> None:
    there = World(world, Breaking("run:after", [LOST]))
    async with living(where, tmp_path, there) as (at, http):
        said = await post(http, "/v1/sessions/message", {"text": "send it"})
        asked = await listed(at, http, "/v1/approvals", "approvals")
        assert "at_most_once" in asked["data"]["undo"]
        yes = {"verdict": "approve", "digest": asked["digest"]}
        assert (await http.post(f"/v1/approvals/{asked['approval_id']}", json=yes)).status_code == 200

        effect = await listed(at, http, "/v1/effects", "effects")
        finding = {"verdict": verdict, "digest": effect["digest"], "reason": "I looked"}
        done = await http.post(f"/v1/effects/{effect['approval_id']}", json=finding)
        assert (done.status_code, done.json()["outcome"]["data"]["outcome"]) == (200, verdict)
        assert (await at.ended(said["turn_id"], session=said["session_id"])).state == "completed"
        assert (await get(http, "/v1/effects"))["effects"] == []
    assert len(await there.made(said["session_id"])) == 1
