"""Copies: one is made where somebody says so, and nothing else is ever taken for that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Exchange, Task
from libs.models.offline import OfflineModel
from libs.models.offline.clauses import Clause
from libs.models.offline.reading import read
from libs.models.ports import Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]
NAMES = ["Docs/", "work/", "a.txt", "b.txt", "cake.jpg", "cake copy.jpg", "report.pdf", "README"]
PATHS = ["a.txt", "b.txt", "cake.jpg", "cake copy.jpg", "report.pdf", "README", "Docs/c.txt", "work/plan.md"]


def first(text: str) -> Clause:
    return read(text, NAMES).clauses[0]


async def outcome(model: OfflineModel, catalogue: Catalogue, text: str, **more: Any) -> PlannerOutcome:
    facts = {"names": NAMES, "paths": PATHS}
    return await model.plan(Task(text=text, intent="request", root="/home/u/D", workspace=facts, **more), catalogue)


def steps(planned: PlannerOutcome) -> list[tuple[str, dict[str, Any]]]:
    assert isinstance(planned, Drafted), planned
    return [(step.tool.partition(".")[2], dict(step.args)) for step in planned.plan.steps]


@pytest.mark.parametrize(
    "text",
    [
        "copy a.txt to Docs",
        "please duplicate a.txt",
        "make another copy of a.txt",
        "put a backup copy of a.txt into Docs",
        "I need a copy of a.txt in Docs",
        "there should be a copy of a.txt in Docs",
        "save copies of the pdfs in Docs",
        "cpoy a.txt to Docs",
        "kannst du eine Kopie von a.txt machen",
        "mach von a.txt eine Kopie",
        "ich brauche eine Kopie von a.txt in Docs",
        "verschiebe eine Kopie von a.txt nach Docs",
        "sácame una copia de a.txt",
        "mueve una copia de a.txt a Docs",
        "necesito una copia de a.txt en Docs",
    ],
)
def test_a_copy_is_made_and_nothing_is_moved_made_or_kept(text: str) -> None:
    assert first(text).concepts & {"copy", "move", "create", "keep", "duplicate", "foreign"} == {"copy"}


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("delete the copies", "duplicate"),
        ("lösche die Kopien", "duplicate"),
        ("borra las copias", "duplicate"),
        ("show me duplicate files", "duplicate"),
        ("duplicate files", "duplicate"),
        ("remove the copy", "foreign"),
        ("rename a copy of b.txt", "foreign"),
        ("borra una copia de b.txt", "foreign"),
        ("clone the repository", "foreign"),
    ],
)
def test_where_nothing_is_to_be_copied_the_word_is_no_deed(text: str, concept: str) -> None:
    assert first(text).says(concept)
    assert not first(text).says("copy")


async def test_the_copy_of_a_file_is_that_file_and_a_copy_of_it_is_a_new_one(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    the_one = steps(await outcome(model, catalogue, "put the copy of cake.jpg into Docs"))
    assert the_one == [("move", {"source": ["cake copy.jpg"], "target": "Docs"})]
    a_new_one = steps(await outcome(model, catalogue, "put a copy of cake.jpg into Docs"))
    assert a_new_one == [("copy", {"source": "cake.jpg", "target": "Docs"})]


async def test_a_new_name_may_lead_elsewhere_in_its_middle(model: OfflineModel, catalogue: Catalogue) -> None:
    made = steps(await outcome(model, catalogue, "make a copy of a.txt called Letter to Joan"))
    assert made == [("copy", {"source": "a.txt", "new_name": "Letter to Joan.txt"})]


@pytest.mark.parametrize(
    ("text", "answer", "step"),
    [
        ("copy a.txt", "Docs", {"source": "a.txt", "target": "Docs"}),
        ("copy a.txt to b.txt", "c.txt", {"source": "a.txt", "target": ".", "new_name": "c.txt"}),
        ("copy a.txt to Docs/c.txt", "d.txt", {"source": "a.txt", "target": "Docs", "new_name": "d.txt"}),
        ("copy work to Old", "into a folder", {"source": "work", "target": "Old", "new_name": "work"}),
        ("copy README to Old", "the second", {"source": "README", "new_name": "Old"}),
        ("kopiere work nach Keller", "das erste", {"source": "work", "target": "Keller", "new_name": "work"}),
    ],
)
async def test_an_answer_to_the_question_completes_the_copy(
    model: OfflineModel, catalogue: Catalogue, text: str, answer: str, step: dict[str, Any]
) -> None:
    assert isinstance(await outcome(model, catalogue, text), Unclear)
    assert steps(await outcome(model, catalogue, text, clarification=answer)) == [("copy", step)]


@pytest.mark.parametrize("text", ["now delete them", "zip them", "rename it to x.txt"])
async def test_after_a_copy_them_could_be_either_so_the_person_is_asked(
    model: OfflineModel, catalogue: Catalogue, text: str
) -> None:
    before = (Exchange(text="copy a.txt to Docs", answer="Copied 1 file (1 kB) into Docs."),)
    assert isinstance(await outcome(model, catalogue, text, history=before), Unclear)


async def test_the_same_for_another_is_copied_to_the_same_place(model: OfflineModel, catalogue: Catalogue) -> None:
    before = (Exchange(text="copy a.txt to Docs", answer="Copied 1 file (1 kB) into Docs."),)
    told = steps(await outcome(model, catalogue, "the same for b.txt", history=before))
    assert told == [("copy", {"source": "b.txt", "target": "Docs"})]


async def test_what_is_deleted_beside_a_copy_is_deleted_in_the_order_that_was_said(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    told = steps(await outcome(model, catalogue, "copy a.txt to Docs and delete a.txt"))
    assert [tool for tool, _ in told] == ["copy", "get_metadata", "delete"]
