"""How much room folders take, and how many rows files have: looks at sizes and counts, whatever the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted
from libs.skills import ToolDefinition

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
Catalogue = Sequence[ToolDefinition]
PATHS = ("rota.csv", "price list.csv", "todo.txt", "Accounts/2021/jan.csv", "Suppliers/Bosch/order.txt")
FACTS = {"names": ["rota.csv", "price list.csv", "todo.txt", "Accounts/", "Suppliers/"], "paths": list(PATHS)}


@pytest.fixture
def steps(model: OfflineModel, catalogue: Catalogue) -> Any:
    async def planned(text: str) -> list[tuple[str, dict[str, Any]]]:
        outcome = await model.plan(Task(text=text, intent="question", root="/home/u/Shop", workspace=FACTS), catalogue)
        assert isinstance(outcome, Drafted), outcome
        return [(step.tool, dict(step.args)) for step in outcome.plan.steps]

    return planned


@pytest.mark.parametrize(
    "text",
    [
        "which folder takes the most room",
        "how big is each folder?",
        "show the folders by size",
        "what's the largest folder here",
        "how much space does each subfolder use",
        "welcher Ordner ist am größten?",
        "wie groß sind die einzelnen Ordner?",
        "Welcher Ordner braucht am meisten Platz",
        "qué carpeta ocupa más",
        "cuánto ocupa cada carpeta",
        "q carpeta pesa mas",
        "Welcher Ordner belegt denn am meisten Speicherplatz?",
    ],
)
async def test_folders_are_listed_the_largest_first(steps: Any, text: str) -> None:
    assert await steps(text) == [
        ("manage-files.list", {"path": ".", "node_kind": "directory", "order": "largest"}),
    ]


async def test_only_the_folders_that_are_meant_are_listed(steps: Any) -> None:
    ((_, args),) = await steps("which subfolder of Accounts is the biggest")
    assert args == {"path": "Accounts", "node_kind": "directory", "order": "largest"}
    ((_, args),) = await steps("sizes of all folders, subfolders included")
    assert args["recursive"] is True
    ((_, args),) = await steps("which is the smallest folder")
    assert args["order"] == "smallest"


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("how big is this folder", "analyze-directory.report"),
        ("how big is the folder Suppliers", "manage-files.get_metadata"),
        ("Wie groß ist der Ordner Suppliers?", "manage-files.get_metadata"),
        ("what is the biggest file in this folder", "manage-files.list"),
        ("what takes up all the space here", "analyze-directory.report"),
    ],
)
async def test_one_folder_or_its_files_are_another_question(steps: Any, text: str, tool: str) -> None:
    assert [name for name, _ in await steps(text)] == [tool]


async def test_a_change_of_the_biggest_folder_takes_no_file(steps: Any) -> None:
    listing, _ = await steps("move the biggest folder to Old")
    assert listing[1]["node_kind"] == "directory"


@pytest.mark.parametrize(
    ("text", "include"),
    [
        ("how many rows do the csv files have", ["*.csv"]),
        ("count the lines of the txt files", ["*.txt"]),
        ("wie viele Zeilen haben die csv?", ["*.csv"]),
        ("cuántas líneas tienen los txt", ["*.txt"]),
    ],
)
async def test_rows_of_many_files_are_counted(steps: Any, text: str, include: list[str]) -> None:
    (_, listed), counted = await steps(text)
    assert (listed["include"], counted) == (include, ("parse-content.count", {"paths": "$step(1).nodes"}))


async def test_rows_of_two_named_files_are_counted_and_of_one_it_is_read(steps: Any) -> None:
    named = {"paths": ["price list.csv", "rota.csv"]}
    assert await steps("how many rows are in price list.csv and rota.csv") == [("parse-content.count", named)]
    assert await steps("how many rows has rota.csv?") == [("parse-content.parse", {"path": "rota.csv"})]


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("list the files by date", "newest"),
        ("show the txt files by size", "largest"),
        ("liste alles nach Datum", "newest"),
    ],
)
async def test_a_list_by_date_or_size_is_in_that_order(steps: Any, text: str, order: str) -> None:
    ((_, args),) = await steps(text)
    assert (args["order"], args.get("most")) == (order, None)
