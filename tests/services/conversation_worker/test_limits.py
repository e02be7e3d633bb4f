"""A turn stops for a named reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from libs.database import Dsns
from libs.events import ToolRequested, TurnQueued
from libs.events.values import Plan
from tests.support.platform import plan, run_platform, scripted_model

LIST = ("manage-files.list", {"path": "."})


def look(name: str) -> tuple[str, dict[str, Any]]:
    return "manage-files.get_metadata", {"path": name}


CASES: dict[str, tuple[dict[str, float], list[Plan]]] = {
    "MAX_ROUNDS": ({"rounds": 2}, [plan(look("a"), complete=False), plan(look("b"), complete=False)]),
    "CONSECUTIVE_ERRORS": ({"errors": 2}, [plan(look("x"), look("y"), complete=False)]),
    "MAX_TOOL_CALLS": ({"calls": 2}, [plan(look("a"), look("b"), look("c"))]),
    "MAX_WALL_TIME": ({"seconds": 1e-9}, [plan(LIST)]),
    "REPEATED_CALL": ({}, [plan(LIST, complete=False), plan(LIST)]),
}


@pytest.mark.requirement("S2-04", "S2-05", "S2-06")
@pytest.mark.parametrize("reason", CASES)
async def test_a_turn_that_goes_too_far_ends_with_the_reason(home: Dsns, tmp_path: Path, reason: str) -> None:
    limits, plans = CASES[reason]
    settings = {"conversation_worker": {"limits": limits}}
    async with run_platform(home, tmp_path, model=scripted_model(*plans), settings=settings) as at:
        turn = await at.say("look", session="s", root=at.folder("a", "b", "c"))
        end = await at.ended(turn, session="s")
        assert (end.state, end.reason) == ("failed", reason)
        await at.quiet()


async def test_steps_of_a_stopped_turn_never_run_in_the_next(home: Dsns, tmp_path: Path) -> None:
    make = ("manage-files.create", {"path": ".", "name": "n", "type": "directory"})
    repeated = plan(look("a"), make, look("a"), look("b"))
    async with run_platform(home, tmp_path, model=scripted_model(repeated, plan(LIST))) as at:
        first = await at.say("look", session="s", root=at.folder("a", "b"))
        question = await at.asked(session="s")
        second = await at.say("list", session="s")
        await at.until(TurnQueued, session="s")
        await at.decide(question, "deny", session="s")
        assert (await at.ended(first, session="s")).reason == "REPEATED_CALL"
        assert (await at.ended(second, session="s")).state == "completed"
        called = [e.tool for e in await at.logged("s") if isinstance(e, ToolRequested) and e.turn_id == second]
        assert called == [LIST[0]]
        await at.quiet()
