"""Who says "not in subfolders" gets nothing from there, and is not asked what that means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, PlannerOutcome
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]
FACTS: dict[str, Any] = {"names": ["a.tmp", "Docs/"], "paths": ["a.tmp", "Docs/b.tmp", "Docs/Old/c.tmp"]}


async def planned(model: OfflineModel, catalogue: Catalogue, text: str) -> PlannerOutcome:
    return await model.plan(Task(text=text, intent="", root="/home/u/x", workspace=FACTS), catalogue)


@pytest.mark.parametrize(
    "text",
    [
        "delete the tmp files, not in subfolders",
        "delete the tmp files but not those in subfolders",
        "delete the tmp files, only here",
        "lösche die tmp-Dateien, aber nicht in Unterordnern",
        "borra los tmp, pero no los de las subcarpetas",
    ],
)
async def test_a_change_stays_in_its_folder(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    done = await planned(model, catalogue, text)
    assert isinstance(done, Drafted), done
    assert not any(step.args.get("recursive") for step in done.plan.steps)


@pytest.mark.parametrize(
    ("text", "exclude"),
    [
        ("remove duplicates, not in subfolders", ["*/*"]),
        ("remove duplicates only in this folder", ["*/*"]),
        ("lösche doppelte Dateien, nur hier", ["*/*"]),
        ("borra los duplicados solo en esta carpeta", ["*/*"]),
        ("find the tmp files, not in subfolders", ["*/*"]),
    ],
)
async def test_what_goes_deeper_by_itself_is_told_to_stay(
    model: OfflineModel, catalogue: Catalogue, text: str, exclude: list[str]
) -> None:
    done = await planned(model, catalogue, text)
    assert isinstance(done, Drafted), done
    assert done.plan.steps[0].args["exclude"] == exclude


async def test_of_what_goes_whole_it_is_an_exception(model: OfflineModel, catalogue: Catalogue) -> None:
    done = await planned(model, catalogue, "copy the folder Docs to Copies, but not its subfolders")
    assert not isinstance(done, Drafted)
