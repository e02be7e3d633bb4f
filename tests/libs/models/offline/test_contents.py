"""What files say chooses those that are moved, packed, copied and deleted; what their names have chooses as ever."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.offline.contents import choosing, said
from libs.models.ports import Drafted, Unclear
from libs.skills import ToolDefinition

pytestmark = pytest.mark.requirement("S4-44")
Catalogue = Sequence[ToolDefinition]
PATHS = ("Bills/Keane 12.txt", "Bills/Roche 13.txt", "Bills/Final Doyle 14.txt", "letter bank.txt", "letter club.docx")
FACTS = {"names": ["Bills/", "letter bank.txt", "letter club.docx"], "paths": list(PATHS)}


def task(text: str, **more: Any) -> Task:
    return Task(text=text, intent="", root="/home/u/Shop", workspace=FACTS, **more)


async def calls(model: OfflineModel, catalogue: Catalogue, text: str) -> list[tuple[str, dict[str, Any]]]:
    outcome = await model.plan(task(text), catalogue)
    assert isinstance(outcome, Drafted), outcome
    if any(step.mutates for step in outcome.plan.steps):
        assert json.loads((await model.review(task(text), outcome.plan, catalogue)).text)["approved"]
    return [(step.tool, dict(step.args)) for step in outcome.plan.steps]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("those where i wrote PAID inside", ["PAID"]),
        ("only these where is word PAID in the text", ["PAID"]),
        ("put the letters with 'Ms Hale' in them into Hale", ["Ms Hale"]),
        ("everything that mentions the stove fitter and the roof goes away", ["stove fitter"]),
        ("all letters where Mr. Hale is mentioned to Hale", ["Mr. Hale"]),
        ("those with invoice number 4471 inside to Checked", ["invoice number 4471"]),
        ("die wo ich bezahlt reingeschrieben hab kommen nach Bezahlt", ["bezahlt"]),
        ("alle Zettel mit Dachdecker drin in den Ordner Dach", ["Dachdecker"]),
        ("lösch die Notizen, in denen Frau Hahn vorkommt", ["Frau Hahn"]),
        ("las que dicen PAGADO van a Pagadas", ["PAGADO"]),
        ("las notas donde se menciona a Hale, a la carpeta Hale", ["Hale"]),
        ("facturas con PAGADO dentro a la carpeta Pagadas", ["PAGADO"]),
    ],
)
def test_what_they_say_is_heard_up_to_where_the_sentence_goes_on(text: str, told: list[str]) -> None:
    assert [one.text for one in said(text)] == told
    assert not any(one.lacks for one in said(text))


@pytest.mark.parametrize(
    "text",
    [
        "move the bills that don't say PAID to Open",
        "the bills without the word PAID go to Open",
        "die Rechnungen, wo noch nicht PAID draufsteht, nach Offen",
        "Rechnungen ohne das Wort PAID nach Offen",
        "las que no dicen PAID a Pendientes",
        "facturas sin la palabra PAID a Pendientes",
    ],
)
def test_what_they_do_not_say_is_its_opposite(text: str) -> None:
    assert [one.filters for one in said(text)] == [{"lacking": "PAID"}]


@pytest.mark.parametrize(
    "text",
    [
        "delete files with draft in the name",
        "files that say final in their name should go to Final",
        "make a zip that contains the photos",
        "delete the folder that contains nothing",
        "put the files I wrote in May into May",
        "I wrote a letter to the bank, move it to Bank",
        "die Dateien mit Entwurf im Namen löschen",
        "los que dicen final en el nombre van a Final",
    ],
)
def test_names_and_folders_say_nothing(text: str) -> None:
    assert not said(text)


def test_what_a_name_has_is_meant_by_its_name_but_where_it_stands_inside() -> None:
    assert not choosing("the files that say final", PATHS)
    assert choosing("the files that say final inside", PATHS)
    assert choosing("the files that say bills", PATHS)


@pytest.mark.parametrize(
    "text",
    [
        "move the files in Bills that contain the word PAID to Paid",
        "move the bills that say PAID to Paid",
        "verschiebe alle Dateien in Bills, die das Wort PAID enthalten, nach Paid",
        "mueve los archivos de Bills que contengan la palabra PAID a Paid",
    ],
)
async def test_a_plain_wish_is_a_plan_with_that_bound(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    (tool, listed), change = await calls(model, catalogue, text)
    assert (tool, listed["path"], listed["containing"]) == ("manage-files.list", "Bills", "PAID")
    assert change == ("manage-files.move", {"source": "$step(1).nodes", "target": "Paid"})


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("delete the txt files in Bills that mention Roche street", "manage-files.delete"),
        ("zip the bills that mention Roche street", "archive-files.pack"),
        ("copy the files in Bills which mention Roche street to Shelf", "manage-files.copy"),
    ],
)
async def test_every_change_takes_it(model: OfflineModel, catalogue: Catalogue, text: str, tool: str) -> None:
    (_, listed), (changes, _) = await calls(model, catalogue, text)
    assert (listed["containing"], changes) == ("Roche street", tool)


@pytest.mark.parametrize(
    "text", ["which files mention boiler", "list the files that contain PAID", "in welchem Brief steht was vom Dach"]
)
async def test_who_only_looks_for_it_gets_a_search(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    ((tool, _),) = await calls(model, catalogue, text)
    assert tool == "search-files.search"


STORIES = [
    "the bills where I wrote PAID inside, could these have a folder Paid for themselves please",
    "die Bills, wo PAID drin steht, bitte in nen eigenen Ordner Paid damit",
    "las Bills en las que pone PAID las quiero en una carpeta nueva que se llame Paid",
]


@pytest.mark.parametrize("text", STORIES)
async def test_of_a_story_it_is_offered_and_said_what_they_contain(
    model: OfflineModel, catalogue: Catalogue, text: str
) -> None:
    outcome = await model.plan(task(text), catalogue)
    assert isinstance(outcome, Unclear)
    assert any(f"{left}PAID{right}" in outcome.question for left, right in ("“”", "„“", "«»"))
    yes = await model.plan(task(text, clarification="yes"), catalogue)
    assert isinstance(yes, Drafted)
    listed, moved = yes.plan.steps
    assert listed.args["containing"] == "PAID"
    assert moved.args["source"] == "$step(1).nodes"
