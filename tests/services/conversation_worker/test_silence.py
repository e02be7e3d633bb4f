"""Policy that does not answer, or a hook that raises: nothing runs, and every turn still ends (A7, A8)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import ApprovalClosed, ToolRequested, ToolSucceeded, TurnEnded
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

MAKE = ("manage-files.create", {"path": ".", "name": "n", "type": "directory"})
POINTS = ["conversation.send", "committee.exempt", "tool.execute"]


async def parked(at: RunningPlatform, action: str) -> None:
    """Until it has been asked in vain."""
    while action not in at.judge.asked:
        await at.platform.bus.waiting()


async def passes(at: RunningPlatform, action: str, seconds: float) -> None:
    """Time passes; where a lease is held, only for the machine, since its heartbeats are real."""
    if action == "committee.exempt":
        at.clock.by += timedelta(seconds=seconds)
    else:
        await at.later(seconds)


async def begun(at: RunningPlatform) -> list[str]:
    return [e.call_id for e in await at.logged("s") if isinstance(e, ToolSucceeded | ToolRequested)]


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("action", POINTS)
async def test_policy_back_in_time_lets_the_turn_go_on(home: Dsns, tmp_path: Path, action: str) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        at.judge.silent.add(action)
        turn = await at.say("make", session="s", root=at.folder())
        await parked(at, action)
        assert await begun(at) == []
        at.judge.silent.clear()
        await passes(at, action, 30)
        assert (await at.finish(turn, session="s")).state == "completed"


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("action", POINTS)
async def test_policy_silent_for_a_minute_refuses_the_turn(home: Dsns, tmp_path: Path, action: str) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        at.judge.silent.add(action)
        turn = await at.say("make", session="s", root=at.folder())
        await parked(at, action)
        await passes(at, action, 61)
        end = await at.ended(turn, session="s")
        assert (end.state, end.reason) == ("refused", "POLICY_UNAVAILABLE")
        assert await begun(at) == []
        at.judge.silent.clear()
        await at.quiet()


@pytest.mark.requirement("A8")
async def test_answer_that_policy_cannot_decide_leaves_the_question_open(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        turn = await at.say("make", session="s", root=at.folder())
        step = await at.asked(session="s")
        await at.decide(step, session="s")
        commit = await at.asked(session="s")
        at.judge.silent.add("workspace.commit")
        await at.decide(commit, session="s")
        await parked(at, "approval.decide")
        await at.later(61)
        assert (await at.until(ApprovalClosed, session="s", where=lambda e: e.outcome == "stale")).reason
        at.judge.silent.clear()
        assert not (at.root / "work" / "n").exists()
        await at.decide(commit, session="s")
        assert (await at.ended(turn, session="s")).state == "completed"
        assert (at.root / "work" / "n").exists()


@pytest.mark.requirement("A7")
@pytest.mark.parametrize("action", [*POINTS, "approval.decide"])
async def test_raising_hook_runs_nothing_and_ends_the_turn(home: Dsns, tmp_path: Path, action: str) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(MAKE))) as at:
        at.judge.failing.add(action)
        turn = await at.say("make", session="s", root=at.folder())
        if action == "approval.decide":
            await at.decide(await at.asked(session="s"), session="s")
        await parked(at, action)
        # A decision that was never taken in ends its turn only when the approval expires, after a day.
        patience = 6 * 3600 if action == "approval.decide" else 15 * 60
        for _ in range(60):
            # Not "nothing is open": between the crash and its parking nothing is.
            if any(isinstance(event, TurnEnded) for event in await at.logged("s")):
                break
            await at.later(patience)
            await at.platform.bus.waiting()
        await at.ended(turn, session="s")
        assert await begun(at) == []
        await at.quiet()
