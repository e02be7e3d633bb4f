"""A planner's skill agrees with what its own words mean, or the person is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs import ids
from libs.clock import SystemClock
from libs.events.committee import Task
from libs.events.values import Plan, Step
from libs.models.offline.agreement import Agreeing
from libs.models.offline.planner import Planner
from libs.models.ports import ClarificationNeeded, PlanDraft
from libs.skills import Categories, ToolDefinition
from tests.support.scripted import Scripted

Catalogue = Sequence[ToolDefinition]
HONEST = ("Delete the images.", "manage-files.delete", {"paths": ["a.png"]})
ASTRAY = ("Remove the duplicates.", "organize-by-type.sort", {"source": ["a.png"], "by": "extension_category"})
LOOKING = ("Remove the duplicates.", "manage-files.list", {"path": "."})


def plan(words: str, tool: str, args: dict[str, Any], catalogue: Catalogue) -> Plan:
    definition = next(each for each in catalogue if each.name == tool)
    step = Step(
        step_id="s",
        ordinal=1,
        description=words,
        skill=definition.skill,
        tool=tool,
        args=args,
        mutates=definition.mutates,
    )
    return Plan(plan_id="p", steps=(step,))


@pytest.fixture
def planner(categories: Categories) -> Planner:
    return Planner(categories, new_id=ids.new, now=SystemClock().now)


def agreeing(planner: Planner, *plans: Plan, resolutions: Sequence[Plan] = ()) -> Agreeing:
    model = Scripted(plans=[PlanDraft(each) for each in plans], resolutions=resolutions)
    return Agreeing(model, planner)


def task(**more: Any) -> Task:
    return Task(text="tidy up, please", intent="action_request", **more)


@pytest.mark.requirement("S4-46", "S2-22")
async def test_change_described_as_another_tool_is_asked_about(planner: Planner, catalogue: Catalogue) -> None:
    outcome = await agreeing(planner, plan(*ASTRAY, catalogue)).plan(task(), catalogue)
    assert isinstance(outcome, ClarificationNeeded)
    assert [each.skill for each in outcome.candidates] == ["remove-duplicates", "organize-by-type"]
    assert "Which one" in outcome.question


@pytest.mark.parametrize("call", [HONEST, LOOKING], ids=["a change that says what it is", "a look"])
async def test_agreeing_change_or_look_goes_on(
    planner: Planner, catalogue: Catalogue, call: tuple[str, str, dict[str, Any]]
) -> None:
    drafted = plan(*call, catalogue)
    assert await agreeing(planner, drafted).plan(task(), catalogue) == PlanDraft(drafted)


@pytest.mark.parametrize("said", [{"skill": "organize-by-type"}, {"clarification": "organize-by-type"}])
async def test_choice_of_the_person_is_not_asked_again(
    planner: Planner, catalogue: Catalogue, said: dict[str, str]
) -> None:
    drafted = plan(*ASTRAY, catalogue)
    assert await agreeing(planner, drafted).plan(task(**said), catalogue) == PlanDraft(drafted)


async def test_disagreeing_resolution_returns_the_rejected_plan(planner: Planner, catalogue: Catalogue) -> None:
    rejected, mended = plan(*HONEST, catalogue), plan(*ASTRAY, catalogue)
    model = agreeing(planner, resolutions=[mended])
    assert (await model.resolve(task(), rejected, "no", catalogue)).plan == rejected
