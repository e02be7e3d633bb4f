"""A rejected plan comes back mended, or unchanged where nothing can be mended."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.events.committee import Task
from libs.events.values import Plan, Step
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]
CLEAN = Task(text="remove duplicates, sort by type and tell me what is there", intent="")


async def drafted(model: OfflineModel, catalogue: Catalogue) -> Plan:
    outcome = await model.plan(CLEAN, catalogue)
    assert isinstance(outcome, Drafted)
    return outcome.plan


@pytest.mark.requirement("S0-18")
async def test_another_plan_than_the_models_own_is_drafted_anew(model: OfflineModel, catalogue: Catalogue) -> None:
    strange = Plan(plan_id="p", steps=(Step(step_id="s", ordinal=1, description="", tool="manage-files.delete"),))
    mended = (await model.resolve(CLEAN, strange, "Step 1 deletes without a prior read.", catalogue)).plan
    assert [step.tool for step in mended.steps] == [step.tool for step in (await drafted(model, catalogue)).steps]


@pytest.mark.requirement("S0-18")
async def test_the_step_objected_to_is_left_out_with_all_that_need_it(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    mended = (await model.resolve(CLEAN, await drafted(model, catalogue), "Step 1 is not wanted.", catalogue)).plan
    assert [step.tool for step in mended.steps] == [
        "manage-files.list",
        "organize-by-type.sort",
        "analyze-directory.report",
    ]
    assert mended.steps[1].args["source"] == "$step(1).nodes"
    assert [step.ordinal for step in mended.steps] == [1, 2, 3]
    assert "Left out: Step 1 is not wanted." in mended.reasoning


@pytest.mark.requirement("S0-18", "S0-19")
async def test_a_reason_that_names_no_step_returns_the_plan_unchanged(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    plan = await drafted(model, catalogue)
    assert (await model.resolve(CLEAN, plan, "It does not fit.", catalogue)).plan == plan
