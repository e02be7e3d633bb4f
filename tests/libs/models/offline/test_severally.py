"""Several goals in one request: each is understood by itself, and what nobody understands is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Call, Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
DESK = (
    "Rechnung Huber.pdf",
    "Rechnung_Mayr.pdf",
    "Angebot Dach.txt",
    "Angebot Maler.txt",
    "IMG_20240713_101010.jpg",
    "IMG_20240713_101011.jpg",
    "setup_x64.exe",
    "~$Brief.docx",
    "notizen.txt",
)
PHOTOS, BILLS = {*DESK[4:6]}, {*DESK[:2]}


async def heard(model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, *replies: str) -> PlannerOutcome:
    said = {"replies": replies[:-1], "clarification": replies[-1] if replies else None}
    return await model.plan(task(text, DESK).model_copy(update=said), catalogue)


def changes(calls: Sequence[Call]) -> list[tuple[str, str | None]]:
    """Each change in its order: its tool, and where it leads."""
    return [
        (tool, args.get("target"))
        for tool, args in calls
        if tool.rpartition(".")[2] not in ("list", "scan", "get_metadata")
    ]


def offered(outcome: PlannerOutcome) -> Sequence[Call]:
    assert isinstance(outcome, Unclear), outcome
    (offer,) = outcome.offers
    return offer.calls


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "put all photos in Fotos and the pdfs in Dokumente and delete the exe",
            [
                ("manage-files.move", "Fotos"),
                ("manage-files.move", "Dokumente"),
                ("manage-files.delete", None),
            ],
        ),
        (
            "borra los duplicados, los instaladores y los archivos temporales",
            [("remove-duplicates.remove", None), ("manage-files.delete", None)],
        ),
        (
            "bin what's in here twice and the notizen",
            [("remove-duplicates.remove", None), ("manage-files.delete", None)],
        ),
    ],
)
async def test_each_goal_is_offered_in_the_order_in_which_it_is_said(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, expected: list[tuple[str, str | None]]
) -> None:
    assert changes(offered(await heard(model, catalogue, text))) == expected


async def test_a_yes_carries_out_all_of_them(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> None:
    done = await heard(model, catalogue, "put all photos in Fotos and the pdfs in Dokumente and delete the exe", "yes")
    assert isinstance(done, Drafted)
    assert [step.tool for step in done.plan.steps if step.mutates] == [
        "manage-files.move",
        "manage-files.move",
        "manage-files.delete",
    ]


async def test_where_but_one_is_understood_the_other_is_told(
    model: OfflineModel, catalogue: Sequence[ToolDefinition]
) -> None:
    outcome = await heard(model, catalogue, "delete whatever's in here twice and the old Angebot")
    assert changes(offered(outcome)) == [("remove-duplicates.remove", None)]
    assert isinstance(outcome, Unclear)
    assert "the old Angebot" in outcome.question


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("bin the duplicates, chuck the installers and email the offers to Huber", "email the offers to Huber"),
        ("lösch die exe, wirf die Duplikate weg und druck mir die Angebote aus", "druck mir die Angebote aus"),
        ("borra los duplicados, quita el exe e imprime las ofertas", "imprime las ofertas"),
    ],
)
async def test_a_goal_that_nobody_understands_is_told(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, left: str
) -> None:
    asked = await heard(model, catalogue, text)
    assert isinstance(asked, Unclear)
    assert left in asked.question


async def test_what_is_spared_is_spared_by_each_goal(model: OfflineModel, catalogue: Sequence[ToolDefinition]) -> None:
    text = (
        "put all photos in Fotos and the pdfs in Dokumente and delete the txt files, but leave Angebot Dach.txt alone"
    )
    calls = offered(await heard(model, catalogue, text))
    looks = [args for tool, args in calls if tool == "manage-files.list"]
    assert all("Angebot Dach.txt" in (*args.get("exclude", ()), *args.get("spare", ())) for args in looks[-1:])


@pytest.mark.parametrize(
    "text",
    [
        "zip the photos and delete them afterwards",
        "make a folder Old and move the pdfs into it",
        "pack die Rechnungen in ein Zip und lösch sie dann",
    ],
)
async def test_what_points_back_stays_with_what_it_points_to(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    outcome = await heard(model, catalogue, text)
    assert isinstance(outcome, Drafted)
    assert not any(step.tool == "manage-files.delete" for step in outcome.plan.steps)
