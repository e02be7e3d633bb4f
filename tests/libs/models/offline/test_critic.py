"""The offline critic disagrees with plans that do not fit the request, whoever made them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.events.values import Plan, Step
from libs.models import Drafted
from libs.models.offline import OfflineModel
from libs.skills import ToolDefinition
from tests.libs.models.offline.phrasings import NAMES, PHRASINGS

Catalogue = Sequence[ToolDefinition]


def plan(*steps: tuple[str, dict[str, Any]]) -> Plan:
    made = (
        Step(step_id=f"s{n}", ordinal=n, description=tool, skill=tool.split(".")[0], tool=tool, args=args)
        for n, (tool, args) in enumerate(steps, start=1)
    )
    return Plan(plan_id="p", steps=tuple(made))


async def verdict(model: OfflineModel, catalogue: Catalogue, text: str, proposed: Plan) -> dict[str, Any]:
    task = Task(text=text, intent="", workspace={"names": list(NAMES)})
    said: dict[str, Any] = json.loads((await model.review(task, proposed, catalogue)).text)
    return said


@pytest.mark.requirement("S0-12", "S0-16")
@pytest.mark.parametrize("text", [text for text, expected in PHRASINGS if not isinstance(expected, str)])
async def test_a_plan_that_fits_its_request_is_approved(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    task = Task(text=text, intent="", root="/home/u/Downloads", workspace={"names": list(NAMES)})
    outcome = await model.plan(task, catalogue)
    assert isinstance(outcome, Drafted)
    said = json.loads((await model.review(task, outcome.plan, catalogue)).text)
    assert said == {"approved": True, "reason": ""}


@pytest.mark.requirement("S0-16", "S0-17")
async def test_a_change_that_nobody_asked_for_is_rejected_by_its_step(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    proposed = plan(("manage-files.get_metadata", {"path": "a.txt"}), ("manage-files.delete", {"paths": ["a.txt"]}))
    said = await verdict(model, catalogue, "tell me what is here", proposed)
    assert said == {
        "approved": False,
        "reason": "Step 2 would delete files, which the request does not ask for.",
        "step": 2,
    }


@pytest.mark.requirement("S0-16")
@pytest.mark.parametrize("text", ["sort by type but don't move anything", "organize, and change nothing"])
async def test_a_change_that_the_request_rules_out_is_rejected(
    model: OfflineModel, catalogue: Catalogue, text: str
) -> None:
    proposed = plan(("organize-by-type.sort", {"source": ["a.txt"], "by": "extension_category", "target": "."}))
    said = await verdict(model, catalogue, text, proposed)
    assert (said["approved"], said["step"]) == (False, 1)
    assert "rules out" in said["reason"]


@pytest.mark.requirement("S0-16")
async def test_what_is_to_be_left_alone_may_not_be_listed_for_a_change(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    sort = ("organize-by-type.sort", {"source": "$step(1).nodes", "by": "extension_category", "target": "."})
    careless = plan(("manage-files.list", {"path": "."}), sort)
    said = await verdict(model, catalogue, "sort by type but leave the PDFs alone", careless)
    assert (said["approved"], said["step"]) == (False, 1)
    careful = plan(("manage-files.list", {"path": ".", "exclude": ["*.pdf"]}), sort)
    assert (await verdict(model, catalogue, "sort by type but leave the PDFs alone", careful))["approved"]


@pytest.mark.requirement("S0-16")
async def test_a_step_that_names_what_is_to_be_left_alone_is_rejected(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    proposed = plan(("manage-files.delete", {"paths": ["a.txt", "report.pdf"]}))
    said = await verdict(model, catalogue, "delete a.txt, but keep the PDFs", proposed)
    assert not said["approved"]
    assert "report.pdf" in said["reason"]


@pytest.mark.requirement("S0-12")
@pytest.mark.parametrize("proposed", [plan(), plan(("shell.run", {"command": "ls"}))])
async def test_an_empty_plan_and_an_unknown_tool_are_rejected(
    model: OfflineModel, catalogue: Catalogue, proposed: Plan
) -> None:
    assert not (await verdict(model, catalogue, "remove duplicates", proposed))["approved"]
