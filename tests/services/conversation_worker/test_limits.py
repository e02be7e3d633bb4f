"""A turn stops for a named reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from libs.database import Dsns
from libs.events import MessageCompleted, ToolRequested, TurnQueued
from libs.events.values import Hitl, Plan
from libs.models.ports import PlanDraft
from tests.support.platform import plan, run_platform, scripted_model
from tests.support.scripted import Scripted

LIST = ("manage-files.list", {"path": "."})


def look(name: str) -> tuple[str, dict[str, Any]]:
    return "manage-files.get_metadata", {"path": name}


TOO_LONG = plan(look("a"), look("b"), look("c"))
MAKE = plan(LIST, ("manage-files.create", {"path": ".", "name": "n", "type": "directory"}), complete=False)
CASES: dict[str, tuple[dict[str, float], list[Plan]]] = {
    "MAX_ROUNDS": ({"rounds": 2}, [plan(look("a"), complete=False), plan(look("b"), complete=False)]),
    "CONSECUTIVE_ERRORS": ({"errors": 2}, [plan(look("x"), look("y"), complete=False)]),
    "MAX_TOOL_CALLS": ({"calls": 2}, [TOO_LONG]),
    "MAX_WALL_TIME": ({"seconds": 1e-9}, [plan(LIST)]),
    "REPEATED_CALL": ({}, [plan(LIST, complete=False), plan(LIST)]),
}


def drafting(*plans: Plan) -> Scripted:
    """Return a model that drafts these plans, insists on the last one, and answers `done`."""
    return Scripted(
        plans=map(PlanDraft, plans),
        reviews=['{"approved": true}'] * 5,
        resolutions=[plans[-1]] * 2,
        answers=[("done",)],
    )


@pytest.mark.requirement("S2-04", "S2-05", "S2-06")
@pytest.mark.parametrize("reason", CASES)
async def test_turn_beyond_a_limit_fails_with_the_setting_to_raise(home: Dsns, tmp_path: Path, reason: str) -> None:
    limits, plans = CASES[reason]
    settings = {"conversation_worker": {"limits": limits}}
    async with run_platform(home, tmp_path, model=drafting(*plans), settings=settings) as at:
        turn = await at.say("look", session="s", root=at.folder("a", "b", "c"))
        end = await at.ended(turn, session="s")
        assert (end.state, end.reason) == ("failed", reason)
        for name in limits:
            assert f"raise SUMA_CONVERSATION_WORKER__LIMITS__{name.upper()}" in end.detail
        await at.quiet()


@pytest.mark.requirement("S2-04", "S0-23")
@pytest.mark.parametrize(
    ("limits", "drafts", "reason", "says"),
    [
        (
            {"calls": 4},
            [MAKE, TOO_LONG],
            "MAX_TOOL_CALLS",
            "The plan has 3 steps, and 2 of this turn's 4 calls are left.",
        ),
        ({"rounds": 1}, [MAKE], "MAX_ROUNDS", "A turn plans at most 1 times."),
    ],
)
async def test_limit_between_plans_keeps_the_staged_changes(
    home: Dsns, tmp_path: Path, limits: dict[str, float], drafts: list[Plan], reason: str, says: str
) -> None:
    settings = {"conversation_worker": {"limits": limits}}
    async with run_platform(home, tmp_path, model=drafting(*drafts), settings=settings) as at:
        turn = await at.say("make", session="s", root=at.folder(), hitl=Hitl.BYPASS)
        question = await at.asked(session="s")
        assert (question.kind, says in question.detail) == ("commit", True)
        await at.decide(question, session="s")
        answer = await at.until(MessageCompleted, session="s")
        assert says in answer.text
        end = await at.ended(turn, session="s")
        assert (end.state, end.reason) == ("completed", reason)
        assert (at.root / "work" / "n").is_dir()


async def test_no_plan_is_revised_once_no_call_is_left(home: Dsns, tmp_path: Path) -> None:
    model, settings = drafting(MAKE, TOO_LONG), {"conversation_worker": {"limits": {"calls": 2}}}
    async with run_platform(home, tmp_path, model=model, settings=settings) as at:
        turn = await at.say("make", session="s", root=at.folder(), hitl=Hitl.BYPASS)
        await at.finish(turn, session="s")
        assert model.asked == ["plan", "review", "plan", "answer"]


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
