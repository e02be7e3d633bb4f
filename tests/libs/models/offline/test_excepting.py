"""A folder of which something stays out: its contents go without that, at every level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, PlannerOutcome
from libs.skills import ToolDefinition

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
PATHS = (
    "a.txt",
    "Trips/one.jpg",
    "Trips/my notes.txt",
    "Trips/Rome/two.jpg",
    "Trips/Rome/bill.txt",
    "Trips/Oslo/x.png",
)


@pytest.fixture
def steps(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> Any:
    async def drafted(text: str) -> list[tuple[str, dict[str, Any]]]:
        facts = {"names": ["a.txt", "Trips/", "Safe/"], "paths": list(PATHS)}
        task = Task(text=text, intent="request", root="/home/u/Stuff", workspace=facts)
        outcome: PlannerOutcome = await model.plan(task, catalogue)
        assert isinstance(outcome, Drafted), outcome
        return [(step.tool.partition(".")[2], dict(step.args)) for step in outcome.plan.steps]

    return drafted


def ends(steps: list[tuple[str, dict[str, Any]]], tool: str) -> list[Any]:
    return [args.get("target") for name, args in steps if name == tool]


@pytest.mark.parametrize(
    "text",
    [
        "copy the folder Trips to a new folder called For Ann, but without the notes",
        "copy Trips to For Ann except my notes.txt",
        "kopiere den Ordner Trips in einen neuen Ordner namens For Ann, nur my notes.txt soll nicht mit hinein",
        "copia la carpeta Trips a una carpeta llamada For Ann, menos my notes.txt",
    ],
)
async def test_what_is_right_in_the_folder_goes_without_the_exception(steps: Any, text: str) -> None:
    (_, listing), (_, copy) = await steps(text)
    assert (listing["path"], listing["exclude"]) == ("Trips", ["Trips/my notes.txt"])
    assert copy == {"source": "$step(1).nodes", "target": "For Ann"}


async def test_a_folder_below_of_which_something_stays_out_goes_by_itself(steps: Any) -> None:
    told = await steps("copy Trips to For Ann without the txt files")
    assert told[0][1]["exclude"] == ["*.txt", "Trips/Rome"]
    assert ends(told, "copy") == ["For Ann", "For Ann/Rome"]


async def test_into_a_folder_that_is_there_it_goes_under_its_own_name(steps: Any) -> None:
    assert ends(await steps("copy Trips to Safe without my notes"), "copy") == ["Safe/Trips"]


async def test_where_nothing_stays_out_the_folder_goes_whole(steps: Any) -> None:
    assert await steps("copy Trips to Safe without a.txt") == [("copy", {"source": "Trips", "target": "Safe"})]


async def test_an_archive_takes_all_that_is_left_from_one_list(steps: Any) -> None:
    (_, listing), (_, pack) = await steps("zip Trips without the txt files as trips of ann.zip")
    assert (listing["recursive"], listing["node_kind"], pack["archive"]) == (True, "file", "trips of ann.zip")


async def test_of_a_folder_that_is_deleted_the_exception_stays(steps: Any) -> None:
    (_, listing), (_, delete) = await steps("delete the folder Trips but keep my notes.txt")
    assert (listing["exclude"], delete["paths"]) == (["Trips/my notes.txt"], "$step(1).nodes")


async def test_the_words_of_one_exception_narrow_one_another(steps: Any) -> None:
    (_, listing), _ = await steps("kopiere alles aus Trips nach Safe, außer den notes von my")
    assert listing["exclude"] == ["Trips/my notes.txt", "Safe"]


async def test_of_a_folder_that_nobody_has_seen_nothing_can_stay_out(
    model: OfflineModel, catalogue: Sequence[ToolDefinition]
) -> None:
    facts = {"names": ["a.txt", "Trips/", "Safe/"]}
    task = Task(text="copy Trips to Safe without the txt files", intent="request", root="/home/u/S", workspace=facts)
    assert not isinstance(await model.plan(task, catalogue), Drafted)
