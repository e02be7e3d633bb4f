"""What a deed depends on is looked at where a list can tell it, and else said back before anything is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, Unclear
from libs.skills import ToolDefinition

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
Catalogue = Sequence[ToolDefinition]
PATHS = ("notes.txt", "a.doc", "beach.jpg", "Docs/a.doc", "Docs/plan.pdf", "Bills/bill 1.pdf")
FACTS = {"names": ["notes.txt", "a.doc", "beach.jpg", "Docs/", "Bills/"], "paths": list(PATHS)}


@pytest.fixture
def plan(model: OfflineModel, catalogue: Catalogue) -> Any:
    async def planned(text: str, *replies: str) -> Any:
        said = {"clarification": replies[-1]} if replies else {}
        task = Task(text=text, intent="request", root="/home/u/Stuff", workspace=FACTS, replies=replies[:-1], **said)
        return await model.plan(task, catalogue)

    return planned


async def listed(plan: Any, text: str) -> dict[str, Any]:
    outcome = await plan(text)
    assert isinstance(outcome, Drafted), outcome
    listing, deed = outcome.plan.steps
    assert (listing.tool, deed.mutates) == ("manage-files.list", True)
    return dict(listing.args)


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        ("delete notes.txt if it is empty", True),
        ("if notes.txt is empty, please get rid of it", True),
        ("delete notes.txt, but only if it's empty", True),
        ("check whether notes.txt is empty and if so delete it", True),
        ("in case notes.txt is empty, remove it", True),
        ("lösch notes.txt, wenn sie leer ist", True),
        ("prüf bitte, ob notes.txt leer ist, und lösch sie dann", True),
        ("borra notes.txt si está vacío", True),
        ("mira si notes.txt está vacío y si es así bórralo", True),
        ("delete notes.txt if it is not empty", False),
        ("delete notes.txt unless it is empty", False),
        ("lösch notes.txt, es sei denn, sie ist leer", False),
        ("borra notes.txt a menos que esté vacío", False),
    ],
)
async def test_a_file_goes_only_where_a_list_has_told_that_it_is_so(plan: Any, text: str, empty: bool) -> None:
    args = await listed(plan, text)
    assert (args["include"], args["empty"]) == (["notes.txt"], empty)


@pytest.mark.parametrize(
    "text",
    [
        "delete the folder Docs if it is empty",
        "if Docs is empty, delete it",
        "lösch den Ordner Docs, wenn er leer ist",
        "borra la carpeta Docs si está vacía",
    ],
)
async def test_a_folder_is_judged_itself_and_not_by_what_is_in_it(plan: Any, text: str) -> None:
    args = await listed(plan, text)
    assert (args["path"], args["include"], args["node_kind"], args["empty"]) == (".", ["Docs"], "directory", True)


@pytest.mark.parametrize(
    "text",
    [
        "move notes.txt to Docs if it's older than a year",
        "verschieb notes.txt nach Docs, falls sie älter als ein Jahr ist",
        "mueve notes.txt a Docs si tiene más de un año",
    ],
)
async def test_an_age_bounds_what_is_named(plan: Any, text: str) -> None:
    args = await listed(plan, text)
    assert args["include"] == ["notes.txt"]
    assert "modified_before" in args


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("delete a.doc if it is the same as Docs/a.doc", "if it is the same as Docs/a.doc"),
        ("delete a.doc if it has been copied to Docs", "if it has been copied to Docs"),
        ("if a.doc is already in Docs, delete it", "if a.doc is already in Docs"),
        ("delete a.doc if it's no longer needed", "if it's no longer needed"),
        ("lösch a.doc falls es eine Kopie ist", "falls es eine Kopie ist"),
        ("borra a.doc si nadie lo necesita", "si nadie lo necesita"),
    ],
)
async def test_what_nothing_can_check_is_asked_about_with_the_deed(plan: Any, text: str, said: str) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Unclear), outcome
    assert said in outcome.question
    assert "a.doc" in outcome.question
    agreed = await plan(text, "yes")
    assert isinstance(agreed, Drafted), agreed
    assert agreed.plan.steps[-1].args["paths"] == ["a.doc"]


@pytest.mark.parametrize(
    "text",
    ["delete notes.txt if you can", "lösch notes.txt wenn möglich", "si, borra notes.txt", "borra notes.txt si puedes"],
)
async def test_politeness_is_no_condition(plan: Any, text: str) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Drafted), outcome
    assert outcome.plan.steps[-1].args["paths"] == ["notes.txt"]


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("falls du Duplikate findest, lösch sie bitte", "remove-duplicates.remove"),
        ("if you find any jpgs, move them to Docs", "manage-files.move"),
        ("wenn es Dateien gibt, die älter als 2020 sind, zippe sie", "archive-files.pack"),
    ],
)
async def test_if_there_are_any_asks_for_no_more_than_they(plan: Any, text: str, tool: str) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Drafted), outcome
    assert outcome.plan.steps[-1].tool == tool


async def test_unless_it_is_of_a_kind_leaves_that_kind_alone(plan: Any) -> None:
    args = await listed(plan, "delete everything in Docs unless it's a pdf")
    assert (args["path"], args["exclude"]) == ("Docs", ["*.pdf"])
