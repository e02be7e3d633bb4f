"""Asked how the names should change, a name is an answer; in which order files are numbered is no choice of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-32", "S4-46")
DESK = ("IMG_1.jpg", "urlaub.jpg", "notes.txt")


async def heard(model: OfflineModel, catalogue: Sequence[ToolDefinition], *said: str) -> PlannerOutcome:
    text, *replies = said
    told = {"replies": tuple(replies[:-1]), "clarification": replies[-1] if replies else None}
    return await model.plan(task(text, DESK).model_copy(update=told), catalogue)


@pytest.mark.parametrize(
    ("text", "reply", "base"),
    [
        ("rename the photos", "Beach", "Beach"),
        ("number the photos, oldest first", "Trip 1, Trip 2", "Trip"),
        ("nummerier die fotos, älteste zuerst", "Urlaub 1, Urlaub 2", "Urlaub"),
        ("nummerier die fotos", "einfach Strand", "Strand"),
        ("numera las fotos, primero las más viejas", "Viaje 1", "Viaje"),
    ],
)
async def test_a_name_is_the_answer(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, reply: str, base: str
) -> None:
    asked = await heard(model, catalogue, text)
    assert isinstance(asked, Unclear)
    assert asked.missing == ("rule",)
    done = await heard(model, catalogue, text, reply)
    assert isinstance(done, Drafted), done
    assert (done.plan.steps[-1].tool, done.plan.steps[-1].args["base"]) == ("batch-rename.rename", base)


@pytest.mark.parametrize(
    ("reply", "rule"),
    [("lower case", {"case": "lower"}), ("replace IMG by Holiday", {"find": "IMG", "replace": "Holiday"})],
)
async def test_a_rule_stays_a_rule(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], reply: str, rule: dict[str, str]
) -> None:
    done = await heard(model, catalogue, "rename the photos", reply)
    assert isinstance(done, Drafted), done
    assert rule.items() <= done.plan.steps[-1].args.items()
