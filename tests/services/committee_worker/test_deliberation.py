"""Planner, critic and resolver at work, with models that misbehave."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.errors import Rejected
from libs.events import PlanProposed, PlanRejected, ToolRequested
from libs.events.values import Hitl
from libs.models.ports import Drafted
from libs.models.scripted import Scripted
from tests.house import House, house, plan

MAKE = plan(("manage-files.create", {"path": ".", "name": "n", "type": "directory"}))
OUTSIDE = plan(("manage-files.create", {"path": "../x", "name": "n", "type": "directory"}))
NO, YES = '{"approved": false, "reason": "It does not fit."}', '{"approved": true}'


async def asked(at: House) -> tuple[str | None, str | None]:
    turn = await at.say("make", session="s", root=at.folder(), hitl=Hitl.BYPASS)
    end = await at.finish(turn, session="s")
    return end.state, end.reason


async def calls(at: House) -> int:
    return sum(isinstance(event, ToolRequested) for event in await at.logged("s"))


@pytest.mark.requirement("A1", "A2", "S0-20")
@pytest.mark.parametrize("words", ["Looks good to me!", "", '{"approved": tru', NO])
async def test_three_rejections_run_no_tool(home: Dsns, tmp_path: Path, words: str) -> None:
    model = Scripted(plans=[Drafted(MAKE)], reviews=[words] * 3, resolutions=[MAKE] * 3)
    async with house(home, tmp_path, model=model) as at:
        assert await asked(at) == ("refused", "COMMITTEE_REJECTED")
        assert await calls(at) == 0
        assert model.asked == ["plan", "review", "resolve", "review", "resolve", "review"]


@pytest.mark.requirement("A2", "S0-18", "S0-19")
async def test_a_rejected_plan_that_comes_back_is_seen_by_the_critic_again(home: Dsns, tmp_path: Path) -> None:
    model = Scripted(plans=[Drafted(MAKE)], reviews=[NO, YES], resolutions=[MAKE], answers=[("done",)])
    async with house(home, tmp_path, model=model) as at:
        assert await asked(at) == ("completed", None)
        proposed = next(e for e in await at.logged("s") if isinstance(e, PlanProposed))
        assert [review.approved for review in proposed.reviews] == [False, True]


@pytest.mark.requirement("S0-13", "S0-20")
async def test_an_approving_critic_cannot_let_pass_what_the_checks_refuse(home: Dsns, tmp_path: Path) -> None:
    model = Scripted(plans=[Drafted(OUTSIDE)], reviews=[YES] * 9, resolutions=[OUTSIDE] * 9)
    async with house(home, tmp_path, model=model) as at:
        assert await asked(at) == ("refused", "COMMITTEE_REJECTED")
        assert await calls(at) == 0
        assert "review" not in model.asked


async def test_a_model_that_fails_is_no_approval(home: Dsns, tmp_path: Path) -> None:
    model = Scripted(plans=[Drafted(MAKE)], reviews=[Rejected("no sense", code="MODEL_NONSENSE")])
    async with house(home, tmp_path, model=model) as at:
        assert await asked(at) == ("failed", "MODEL_NONSENSE")
        assert any(isinstance(e, PlanRejected) for e in await at.logged("s"))
        assert await calls(at) == 0


@pytest.mark.requirement("S0-09")
async def test_what_only_reads_needs_no_critic(home: Dsns, tmp_path: Path) -> None:
    model = Scripted(plans=[Drafted(plan(("manage-files.list", {"path": "."})))], answers=[("done",)])
    async with house(home, tmp_path, model=model) as at:
        assert await asked(at) == ("completed", None)
        assert model.asked == ["plan", "answer"]
