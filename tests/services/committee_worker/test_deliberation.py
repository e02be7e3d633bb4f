"""Planner, critic and resolver with misbehaving models."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typing_extensions import override

from libs.database import Dsns
from libs.errors import Rejected
from libs.events import MessageCompleted, PlanCancelRequested, PlanProposed, PlanRejected, PlanRequested, ToolRequested
from libs.events.committee import Task
from libs.events.values import Hitl, Plan
from libs.models.ports import ModelText, PlanDraft, PlannerOutcome
from libs.skills import ToolDefinition
from tests.support.platform import RunningPlatform, plan, run_platform, skills
from tests.support.scripted import Scripted

MAKE = plan(("manage-files.create", {"path": ".", "name": "n", "type": "directory"}))
OUTSIDE = plan(("manage-files.create", {"path": "../x", "name": "n", "type": "directory"}))
NO, YES = '{"approved": false, "reason": "It does not fit."}', '{"approved": true}'

HEARD = """
select count(*) from bus.inbox join bus.log on log.event_id = inbox.id where inbox.grp = 'committee_worker'
and log.type = 'suma.plan.cancel_requested.v1'
"""


async def asked(at: RunningPlatform) -> tuple[str | None, str | None]:
    turn = await at.say("make", session="s", root=at.folder(), hitl=Hitl.BYPASS)
    end = await at.finish(turn, session="s")
    return end.state, end.reason


async def calls(at: RunningPlatform) -> int:
    return sum(isinstance(event, ToolRequested) for event in await at.logged("s"))


@pytest.mark.requirement("A1", "A2", "S0-09", "S0-20")
@pytest.mark.parametrize("words", ["Looks good to me!", "", '{"approved": tru', NO])
async def test_three_rejections_run_no_tool(home: Dsns, tmp_path: Path, words: str) -> None:
    model = Scripted(plans=[PlanDraft(MAKE)], reviews=[words] * 3, resolutions=[MAKE] * 3)
    async with run_platform(home, tmp_path, model=model) as at:
        assert await asked(at) == ("refused", "COMMITTEE_REJECTED")
        assert await calls(at) == 0
        assert model.asked == ["plan", "review", "resolve", "review", "resolve", "review"]


@pytest.mark.requirement("A2", "S0-18", "S0-19")
async def test_resubmitted_plan_is_reviewed_again(home: Dsns, tmp_path: Path) -> None:
    model = Scripted(plans=[PlanDraft(MAKE)], reviews=[NO, YES], resolutions=[MAKE], answers=[("done",)])
    async with run_platform(home, tmp_path, model=model) as at:
        assert await asked(at) == ("completed", None)
        proposed = next(e for e in await at.logged("s") if isinstance(e, PlanProposed))
        assert [review.approved for review in proposed.reviews] == [False, True]


async def test_viewers_see_the_plans_that_were_rejected(home: Dsns, tmp_path: Path) -> None:
    first = plan(("manage-files.create", {"path": ".", "name": "other", "type": "directory"}))
    model = Scripted(plans=[PlanDraft(first)], reviews=[NO, YES], resolutions=[MAKE], answers=[("done",)])
    async with run_platform(home, tmp_path, model=model) as at:
        await asked(at)
        proposed = next(e for e in await at.logged("s") if isinstance(e, PlanProposed))
        assert [draft.steps[0].args["name"] for draft in proposed.drafts] == ["other"]
        assert proposed.plan.steps[0].args == MAKE.steps[0].args


@pytest.mark.requirement("S0-13", "S0-20")
async def test_approving_critic_cannot_override_the_checks(home: Dsns, tmp_path: Path) -> None:
    model = Scripted(plans=[PlanDraft(OUTSIDE)], reviews=[YES] * 9, resolutions=[OUTSIDE] * 9)
    async with run_platform(home, tmp_path, model=model) as at:
        assert await asked(at) == ("refused", "COMMITTEE_REJECTED")
        assert await calls(at) == 0
        assert "review" not in model.asked


async def test_failing_critic_is_no_approval(home: Dsns, tmp_path: Path) -> None:
    model = Scripted(plans=[PlanDraft(MAKE)], reviews=[Rejected("no sense", code="MODEL_OUTPUT_INVALID")])
    async with run_platform(home, tmp_path, model=model) as at:
        assert await asked(at) == ("failed", "MODEL_OUTPUT_INVALID")
        assert any(isinstance(e, PlanRejected) for e in await at.logged("s"))
        assert await calls(at) == 0


async def test_read_only_plan_needs_no_critic(home: Dsns, tmp_path: Path) -> None:
    model = Scripted(plans=[PlanDraft(plan(("manage-files.list", {"path": "."})))], answers=[("done",)])
    async with run_platform(home, tmp_path, model=model) as at:
        assert await asked(at) == ("completed", None)
        assert model.asked == ["plan", "answer"]


DOCUMENT = """{"version": "1.0", "tasks": [{"task_id": "a", "step_type": "generate_diagram", "modality": "image",
"inputs": {"source": "flowchart TB"}}, {"task_id": "b", "step_type": "compose_srs", "modality": "document",
"depends_on": ["a"]}]}"""


@pytest.mark.requirement("S3-14", "S3-26")
async def test_a_task_document_is_the_plan_and_is_reviewed(home: Dsns, tmp_path: Path) -> None:
    model = Scripted(reviews=[NO])
    async with run_platform(home, tmp_path, model=model, skills=replace(skills(), multimodal=True)) as at:
        turn = await at.say(DOCUMENT, session="s", root=at.folder(), hitl=Hitl.BYPASS)
        assert (await at.finish(turn, session="s")).reason == "COMMITTEE_REJECTED"
        assert model.asked == ["review"]


@pytest.mark.requirement("S3-27")
async def test_a_bad_task_document_is_answered_with_its_problems(home: Dsns, tmp_path: Path) -> None:
    model = Scripted()
    async with run_platform(home, tmp_path, model=model, skills=replace(skills(), multimodal=True)) as at:
        turn = await at.say(DOCUMENT.replace('["a"]', '["x"]'), session="s", root=at.folder())
        await at.finish(turn, session="s")
        said = next(event.text for event in await at.logged("s") if isinstance(event, MessageCompleted))
        assert 'Step "b": it depends on "x", which is no task' in said
        assert model.asked == []


class Hanging(Scripted):
    """A model whose call to `verb` runs until it is cancelled."""

    def __init__(self, verb: str) -> None:
        super().__init__(plans=[PlanDraft(MAKE)], reviews=[NO], resolutions=[MAKE])
        self._verb = verb
        self.hangs, self.closed = asyncio.Event(), asyncio.Event()

    @override
    async def plan(self, task: Task, catalogue: Sequence[ToolDefinition]) -> PlannerOutcome:
        await self._hang("plan")
        return await super().plan(task, catalogue)

    @override
    async def review(self, task: Task, plan: Plan, catalogue: Sequence[ToolDefinition]) -> ModelText:
        await self._hang("review")
        return await super().review(task, plan, catalogue)

    @override
    async def resolve(self, task: Task, plan: Plan, reason: str, catalogue: Sequence[ToolDefinition]) -> PlanDraft:
        await self._hang("resolve")
        return await super().resolve(task, plan, reason, catalogue)

    async def _hang(self, verb: str) -> None:
        if verb == self._verb:
            self.hangs.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.closed.set()


@pytest.mark.requirement("A23")
@pytest.mark.parametrize("verb", ["plan", "review", "resolve"])
async def test_cancel_closes_the_running_model_call(home: Dsns, tmp_path: Path, verb: str) -> None:
    model = Hanging(verb)
    async with run_platform(home, tmp_path, model=model) as at, asyncio.timeout(60):
        turn = await at.say("make", session="s", root=at.folder())
        await model.hangs.wait()
        await at.cancel(turn, session="s")
        await model.closed.wait()
        assert (await at.ended(turn, session="s")).state == "cancelled"
        await at.quiet()
        assert await calls(at) == 0


@pytest.mark.requirement("A23")
async def test_a_cancel_of_one_turn_leaves_anothers_model_call_alone(home: Dsns, tmp_path: Path) -> None:
    model = Hanging("plan")
    async with run_platform(home, tmp_path, model=model) as at, asyncio.timeout(60):
        turn = await at.say("make", session="s", root=at.folder())
        await model.hangs.wait()
        asked = next(e for e in await at.logged("s") if isinstance(e, PlanRequested))
        foreign = PlanCancelRequested(request_id=asked.request_id, turn_id=turn)
        await at.publish(foreign, session="other")
        await at.publish(foreign, session="s", tenant="foreign")
        while await (await at.platform.database.bus()).fetchval(HEARD) < 2:
            await at.platform.bus.waiting()
        assert not model.closed.is_set()
        await at.cancel(turn, session="s")
        await model.closed.wait()
        await at.quiet()
