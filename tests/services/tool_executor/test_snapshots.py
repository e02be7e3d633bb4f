"""The snapshots of a stage are listed for as long as its turn can be rolled back to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.clients.calls import call
from libs.database import Dsns
from libs.events.topics import EXECUTOR
from libs.events.values import Hitl
from services.gateway.sessions.catalogue_models import Graph
from tests.support.platform import TENANT, RunningPlatform, plan, run_platform, scripted_model

MAKE = plan(
    ("manage-files.create", {"path": ".", "name": "n", "type": "directory"}),
    ("manage-files.create", {"path": ".", "name": "m", "type": "directory"}),
)


async def listed(at: RunningPlatform) -> dict[str, int]:
    """The session's snapshots, each with its version."""
    found = await call(at.platform, EXECUTOR, "GET", "/internal/v1/sessions/s/snapshots", tenant=TENANT, session="s")
    return {snapshot["snapshot_id"]: snapshot["version"] for snapshot in found["snapshots"]}


@pytest.mark.parametrize("verdict", ["approve", "deny"])
async def test_an_ended_turn_has_no_snapshots(home: Dsns, tmp_path: Path, verdict: str) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(MAKE)) as at:
        turn = await at.say("make", session="s", root=at.folder("a.txt"), hitl=Hitl.BYPASS)
        asked = await at.asked(session="s")
        assert sorted((await listed(at)).values()) == [0, 1]
        await at.decide(asked, verdict, session="s")
        await at.ended(turn, session="s")
        assert await listed(at) == {}


async def test_graph_with_staged_entries_keeps_its_contract(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(MAKE)) as at:
        root = at.folder("a.txt")
        await at.say("make", session="s", root=root, hitl=Hitl.BYPASS)
        await at.asked(session="s")
        where, asked = "/internal/v1/sessions/s/graph", {"root": str(root)}
        found = await call(at.platform, EXECUTOR, "GET", where, tenant=TENANT, session="s", params=asked)
        shown = Graph.model_validate(found)
        assert {node.name: node.mtime_ns is None for node in shown.nodes if node.name in ("a.txt", "n", "m")} == {
            "a.txt": False,
            "n": True,
            "m": True,
        }


async def test_the_first_snapshot_survives_a_rollback_to_it(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(MAKE)) as at:
        turn = await at.say("make", session="s", root=at.folder("a.txt"), hitl=Hitl.KEY)
        await at.decide(await at.asked(session="s"), session="s")
        await at.asked(session="s")
        (snapshot,) = await listed(at)
        wish = await at.roll_back(session="s", snapshot=snapshot)
        assert (await at.ended(wish, session="s")).reason == "ROLLBACK"
        assert await listed(at) == {snapshot: 0}
        assert (await at.finish(turn, session="s")).state == "completed"
