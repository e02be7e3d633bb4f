"""What is done to files once they are where they shall be is about them there, and a folder that was emptied may go."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Call, Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
VAN = (
    "receipt diesel.pdf",
    "receipt timber.pdf",
    "plant list spring.xlsx",
    "plant list autumn.xlsx",
    "Rezept Suppe.txt",
    "Rezept Kuchen.txt",
    "nominas enero.pdf",
    "nominas febrero.pdf",
    "Peters/Invoice 9.pdf",
    "Peters/Quote 2023.docx",
    "Trip/a.jpg",
    "Trip/notes.txt",
    "hedge.jpg",
)
MOVE, RENAMES, PACK, DELETE = "manage-files.move", "batch-rename.rename", "archive-files.pack", "manage-files.delete"


async def heard(model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, *replies: str) -> PlannerOutcome:
    said = {"replies": replies[:-1], "clarification": replies[-1] if replies else None}
    return await model.plan(task(text, VAN).model_copy(update=said), catalogue)


def changes(outcome: PlannerOutcome) -> list[Call]:
    if isinstance(outcome, Drafted):
        return [(step.tool, dict(step.args)) for step in outcome.plan.steps if step.mutates]
    assert isinstance(outcome, Unclear), outcome
    (offer,) = outcome.offers
    return [(tool, args) for tool, args in offer.calls if tool in (MOVE, RENAMES, PACK, DELETE)]


@pytest.mark.parametrize(
    ("text", "target", "later"),
    [
        ("receipts into a folder Receipts and zip it for the accountant", "Receipts", (PACK, "paths", ["Receipts"])),
        ("put the receipts in a folder called Bills and then zip that", "Bills", (PACK, "paths", ["Bills"])),
        (
            "move the two plant lists in a folder called Plants please and take the word list out of them",
            "Plants",
            (RENAMES, "find", "list"),
        ),
        (
            "die Rezepte in einen Ordner Rezepte und nimm dann überall das Wort Rezept raus",
            "Rezepte",
            (RENAMES, "find", "Rezept "),
        ),
        ("las nóminas en una carpeta Nóminas y ponles 2026 al final", "Nóminas", (RENAMES, "suffix", " 2026")),
        ("pasa las nóminas a una carpeta Nóminas y comprímela", "Nóminas", (PACK, "paths", ["Nóminas"])),
    ],
)
async def test_what_comes_next_is_done_where_the_files_are_then(
    model: OfflineModel,
    catalogue: Sequence[ToolDefinition],
    text: str,
    target: str,
    later: tuple[str, str, object],
) -> None:
    moved, done = changes(await heard(model, catalogue, text))
    tool, name, value = later
    assert (moved[0], moved[1]["target"]) == (MOVE, target)
    assert (done[0], done[1][name]) == (tool, value)


async def test_it_is_told_with_the_place_where_they_will_be(
    model: OfflineModel, catalogue: Sequence[ToolDefinition]
) -> None:
    asked = await heard(model, catalogue, "put the plant lists in a folder Plants and take the word list out of them")
    assert isinstance(asked, Unclear)
    assert "rename 2 files in “Plants” (“plant list spring.xlsx”, “plant list autumn.xlsx”)" in asked.question


@pytest.mark.parametrize(
    "text",
    [
        "get everything out of Peters and bin the folder",
        "take the stuff out of Peters and delete the folder",
        "move everything from Peters up here and then delete it",
        "empty Peters into this folder and remove it",
        "hol alles aus dem Ordner Peters raus und lösch ihn dann",
        "saca lo que hay en la carpeta Peters y bórrala",
    ],
)
async def test_a_folder_goes_once_all_that_was_in_it_is_out(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    moved, gone = changes(await heard(model, catalogue, text))
    assert (moved[0], moved[1]["target"]) == (MOVE, ".")
    assert gone == (DELETE, {"paths": ["Peters"]})


@pytest.mark.parametrize(
    "text",
    [
        "take everything out of the Peters folder",
        "move all in Peters here",
        "hol alles aus Peters raus",
        "verschieb alles in Peters hierher",
        "saca todo de Peters",
        "mueve todo en Peters aquí",
    ],
)
async def test_what_comes_out_of_a_folder_is_moved_and_never_deleted(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    ((tool, args),) = changes(await heard(model, catalogue, text))
    assert (tool, args["target"]) == (MOVE, ".")


@pytest.mark.parametrize(
    "text",
    [
        "get the photos out of Trip and bin the folder",
        "move the jpg from Trip up here and delete it",
        "hol die Fotos aus Trip raus und lösch den Ordner",
    ],
)
async def test_a_folder_that_still_holds_something_is_not_offered_to_go(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    outcome = await heard(model, catalogue, text)
    offers = outcome.offers if isinstance(outcome, Unclear) else ()
    assert not isinstance(outcome, Drafted), outcome
    assert not any(tool == DELETE for offer in offers for tool, _ in offer.calls), offers


async def test_a_yes_does_both(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> None:
    done = await heard(model, catalogue, "pasa las nóminas a una carpeta Nóminas y comprímela", "sí")
    assert isinstance(done, Drafted)
    assert [tool for tool, _ in changes(done)] == [MOVE, PACK]


async def test_what_is_called_something_is_not_done_to_the_files(
    model: OfflineModel, catalogue: Sequence[ToolDefinition]
) -> None:
    ((tool, args),) = changes(await heard(model, catalogue, "put the receipts in a folder and call it Bills"))
    assert (tool, args["target"]) == (MOVE, "Bills")
