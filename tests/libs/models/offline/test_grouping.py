"""Into folders by what: type, year or month; whatever else people would sort by is said to be impossible at once."""

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
PATHS = ("beach.jpg", "snow.jpg", "letter.txt", "sums.csv", "Scans/a.png")
FACTS = {"names": ["beach.jpg", "snow.jpg", "letter.txt", "sums.csv", "Scans/"], "paths": list(PATHS)}


@pytest.fixture
def plan(model: OfflineModel, catalogue: Catalogue) -> Any:
    async def planned(text: str, *replies: str) -> Any:
        said = {"clarification": replies[-1]} if replies else {}
        task = Task(text=text, intent="request", root="/home/u/Stuff", workspace=FACTS, replies=replies[:-1], **said)
        return await model.plan(task, catalogue)

    return planned


async def sorts(plan: Any, *said: str) -> dict[str, Any]:
    """The args of the listing and of the sort, but for the files, which go from one to the other."""
    outcome = await plan(*said)
    assert isinstance(outcome, Drafted), outcome
    listing, sort = outcome.plan.steps
    assert (sort.tool, sort.args["source"]) == ("organize-by-type.sort", "$step(1).nodes")
    return {**listing.args, "by": sort.args["by"], "target": sort.args["target"]}


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("sort by type", "extension_category"),
        ("sort the files by year into folders", "year"),
        ("the loose files in this folder. group them by year", "year"),
        ("one folder per year please", "year"),
        ("make a folder for each year and put the files in", "year"),
        ("I'd like my files grouped by the year they were last changed", "year"),
        ("move the files into monthly folders", "month"),
        ("sort into year folders", "year"),
        ("put each file in a folder named after its year", "year"),
        ("sortiere alles nach Jahr", "year"),
        ("sortiere die Dateien jahresweise", "year"),
        ("Lege für jeden Monat einen Ordner an und sortiere die Dateien hinein", "month"),
        ("ordena los archivos por año", "year"),
        ("haz una carpeta para cada mes y mete los archivos", "month"),
        ("can you tidy this folder into one folder per year? the subfolders should stay as they are", "year"),
        ("ordena todo x año, no toques las subcarpetas", "year"),
    ],
)
async def test_files_are_sorted_by_what_was_said(plan: Any, text: str, by: str) -> None:
    told = await sorts(plan, text)
    assert (told["by"], told["target"], told["path"], told.get("include")) == (by, ".", ".", None)


@pytest.mark.parametrize("text", ["photos by month", "Fotos nach Monat", "ordéname las fotos por meses en carpetas"])
async def test_only_those_that_were_named_are_sorted(plan: Any, text: str) -> None:
    told = await sorts(plan, text)
    assert (told["by"], "*.jpg" in told["include"], "*.txt" in told["include"]) == ("month", True, False)


async def test_they_are_sorted_within_the_folder_that_was_named_and_what_is_spared_stays(plan: Any) -> None:
    assert await sorts(plan, "group the pngs in Scans by month") == {
        "path": "Scans",
        "include": ["*.png"],
        "by": "month",
        "target": "Scans",
    }
    assert (await sorts(plan, "sort by year, but leave the csv alone"))["exclude"] == ["*.csv"]


@pytest.mark.parametrize(
    ("text", "reply", "by"),
    [
        ("sort the files by date", "month", "month"),
        ("sort by date", "by year", "year"),
        ("sortiere die Bilder nach Datum", "Jahr", "year"),
        ("ordena los archivos por fecha", "por mes", "month"),
        ("arrange all of it chronologically", "the second", "month"),
        ("sort the jpgs by the date they were taken", "year", "year"),
        ("Bitte die Bilder nach Aufnahmedatum sortieren", "Monat", "month"),
        ("ordena todo cronológicamente", "por año", "year"),
        ("sort the files by author", "by year then", "year"),
        ("sort the pngs by colour", "type", "extension_category"),
    ],
)
async def test_what_is_left_open_or_impossible_is_settled_by_one_word(
    plan: Any, text: str, reply: str, by: str
) -> None:
    assert isinstance(await plan(text), Unclear)
    assert (await sorts(plan, text, reply))["by"] == by


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sort the pngs by colour", "can't sort by “colour”"),
        ("sort by size", "can't sort by “size”"),
        ("organize by type and year", "can't sort by “type and year”"),
        ("sort the files alphabetically", "“alphabetically”"),
        ("sortiere die Bilder nach Farbe", "Nach „Farbe“ kann ich nicht sortieren"),
        ("ordena los archivos por autor", "No puedo ordenar por «autor»"),
        ("Sortieren Sie bitte alles nach Fach.", "Nach „Fach“ kann ich nicht sortieren"),
    ],
)
async def test_what_nothing_here_can_sort_by_is_said_and_makes_no_folder_of_that_name(
    plan: Any, text: str, said: str
) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Unclear)
    assert said in outcome.question


async def test_a_folder_of_that_name_that_is_there_is_a_place(model: OfflineModel, catalogue: Catalogue) -> None:
    facts = {"names": ["beach.jpg", "Themen/"], "paths": ["beach.jpg", "Themen/x.txt"]}
    task = Task(text="sortiere die Bilder nach Themen", intent="request", root="/home/u/Stuff", workspace=facts)
    outcome = await model.plan(task, catalogue)
    assert isinstance(outcome, Drafted)
    assert outcome.plan.steps[-1].args["target"] == "Themen"


async def test_into_folders_by_year_go_files_and_no_folders(plan: Any) -> None:
    told = await sorts(plan, "put everything into folders by year, except the csv")
    assert (told["exclude"], told.get("node_kind")) == (["*.csv"], None)


async def test_what_is_said_of_subfolders_forbids_nothing_above_them(plan: Any) -> None:
    outcome = await plan("delete the txt files in all subfolders, and don't touch the subfolders")
    assert not (isinstance(outcome, Drafted) and any(step.mutates for step in outcome.plan.steps))


async def test_no_file_is_deleted_by_month(plan: Any) -> None:
    assert "by month" in (await plan("delete the photos by month")).question


NAMED = ("Smith 2018.pdf", "Nowak 2015.pdf", "Zhang (2022).pdf", "notes.md")
COUNTED = ("IMG_2018.jpg", "IMG_2019.jpg", "IMG_2020.jpg")


@pytest.fixture
def by_name(model: OfflineModel, catalogue: Catalogue) -> Any:
    async def planned(text: str, *names: str) -> Any:
        facts = {"names": ["Papers/"], "paths": [f"Papers/{name}" for name in names]}
        outcome = await model.plan(Task(text=text, intent="request", root="/home/u/x", workspace=facts), catalogue)
        assert isinstance(outcome, Drafted), outcome
        return outcome.plan.steps[-1]

    return planned


@pytest.mark.parametrize(
    ("text", "names", "by"),
    [
        ("sort Papers into folders by the year in the file name", COUNTED, "name_year"),
        ("sortiere Papers nach dem Jahr im Namen", COUNTED, "name_year"),
        ("ordena Papers según el mes del nombre", COUNTED, "name_month"),
        ("sort Papers by year", NAMED, "name_year"),
        ("put the papers into folders by year", NAMED, "name_year"),
        ("sort Papers by year", COUNTED, "year"),
        ("sort Papers by month", NAMED, "month"),
        ("sort Papers by the year of their last change", NAMED, "year"),
        ("sortiere Papers nach dem Jahr der letzten Änderung", NAMED, "year"),
        ("ordena Papers por año de modificación", NAMED, "year"),
    ],
)
async def test_the_year_that_the_names_say_counts_where_they_are_spoken_of_or_most_say_one(
    by_name: Any, text: str, names: tuple[str, ...], by: str
) -> None:
    assert (await by_name(text, *names)).args["by"] == by


async def test_the_plan_says_which_year_it_goes_by(by_name: Any) -> None:
    assert "by the year in their names" in (await by_name("sort Papers by year", *NAMED)).description
    assert "by the year of their last change" in (await by_name("sort Papers by year", *COUNTED)).description


@pytest.mark.parametrize(
    ("text", "by", "target"),
    [
        ("put all jpgs into a new folder called Snaps, sorted by month", "month", "Snaps"),
        ("move the photos into Album and sort them by month", "month", "Album"),
        ("move the photos into Album and sort them there by month", "month", "Album"),
        ("move the jpgs into Scans, by month please", "month", "Scans"),
        ("leg alle Bilder in einen neuen Ordner Album, nach Monat sortiert", "month", "Album"),
        ("verschieb die Bilder nach Album und sortier sie nach Typ", "extension_category", "Album"),
        ("mueve las fotos a Album y ordénalas por mes", "month", "Album"),
        ("sort the photos into a folder called Snaps, one subfolder per year", "year", "Snaps"),
    ],
)
async def test_what_is_moved_and_sorted_goes_into_its_new_folder_in_one_step(
    plan: Any, text: str, by: str, target: str
) -> None:
    args = await sorts(plan, text)
    assert (args["by"], args["target"], args.get("path")) == (by, target, ".")
    assert "*.jpg" in args["include"]


@pytest.mark.parametrize(
    "text",
    [
        "make a folder Shots and sort the photos into it by month",
        "create a folder named Shots and inside it sort all jpgs by month",
        "mach einen neuen Ordner Shots und sortier da die Bilder nach Monat rein",
        "crea una carpeta Shots y ordena dentro las fotos por mes",
    ],
)
async def test_they_are_sorted_into_the_folder_that_was_just_made(plan: Any, text: str) -> None:
    outcome = await plan(text)
    assert isinstance(outcome, Drafted), outcome
    made, listing, sort = outcome.plan.steps
    assert (made.args["name"], listing.args["path"]) == ("Shots", ".")
    assert (sort.args["by"], sort.args["target"]) == ("month", "Shots")
    assert not listing.args.get("recursive")
