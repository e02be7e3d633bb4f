"""What was packed goes afterwards, and nothing else: no folder that is called like it, and none that nobody named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import DENIED, Exchange, Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
Catalogue = Sequence[ToolDefinition]
PACKED = ("Rechnungen/RE 2024-003.txt", "Rechnungen/RE 2024-011.txt", "Rechnungen/RE 2024-019.txt")
PATHS = (*PACKED, "Rechnungen/RE 2025-001.txt", "Alt/a.pdf", "b.tmp")
FACTS: dict[str, Any] = {"names": ["Rechnungen/", "Alt/", "b.tmp"], "paths": list(PATHS)}
DE, EN = "pack die rechnungen von 2024 in ein zip", "zip the 2024 files in Rechnungen"
ES = "comprime los archivos de 2024 de Rechnungen en un zip"


@pytest.fixture
def outcome(model: OfflineModel, catalogue: Catalogue) -> Any:
    async def planned(text: str, before: str = "", reason: str | None = DENIED) -> PlannerOutcome:
        history = (Exchange(text=before, answer="…", reason=reason, shown=PACKED),) if before else ()
        return await model.plan(
            Task(text=text, intent="", root="/home/u/x", workspace=FACTS, history=history), catalogue
        )

    return planned


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (DE, "und die drei rechnungen danach auch löschen"),
        (DE, "ja und die drei nach dem packen löschen"),
        (DE, "und die originale danach weg"),
        (DE, "und danach die einzelnen löschen"),
        (EN, "and delete the three files afterwards"),
        (EN, "yes and delete the three Rechnungen after zipping"),
        (EN, "and then delete the single ones"),
        (ES, "y luego borra las tres"),
        (ES, "y después borra los originales"),
        ("", f"{DE} und die einzelnen dann weg, brauch ich eh nimmer"),
        ("", f"{EN}, the originals can go afterwards"),
        ("", f"{ES} y luego borra los sueltos"),
    ],
)
async def test_what_was_packed_goes_with_the_packing(outcome: Any, before: str, text: str) -> None:
    told = await outcome(text, before)
    assert isinstance(told, Drafted), told
    changes = [step for step in told.plan.steps if step.mutates]
    assert [(step.tool, step.args["remove"]) for step in changes] == [("archive-files.pack", True)]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (DE, "und die vier rechnungen danach auch löschen"),
        (DE, "und danach die zwei rechnungen löschen"),
        (DE, "und die Alt danach auch löschen"),
        (EN, "and then delete the 4 files"),
        ("", f"{DE} und danach die vier rechnungen löschen"),
        ("", "lösch die drei rechnungen"),
        ("", "frobnicate the folder Alt, then delete it"),
        ("", "frobnicate the folder Alt, then delete the folder Alt"),
        ("", "frobel den ordner Alt in den keller, danach kann der ordner weg"),
        ("", "turn the folder Alt into a frob and delete the folder"),
    ],
)
async def test_another_number_or_a_folder_that_nobody_named_is_asked_about(
    outcome: Any, before: str, text: str
) -> None:
    asked = await outcome(text, before)
    assert isinstance(asked, Unclear), asked
    assert not asked.offers


async def test_exactly_those_that_were_shown_go(outcome: Any) -> None:
    told = await outcome("lösch die drei rechnungen", "zeig mir die rechnungen von 2024", None)
    assert isinstance(told, Drafted), told
    assert [step.args["paths"] for step in told.plan.steps if step.mutates] == [list(PACKED)]


@pytest.mark.parametrize(
    "text",
    [
        "pack den ordner Alt in ne zip, danach kann der ordner weg",
        "pack den ordner Alt in nem zip, danach kann der ordner weg",
        "pack den ordner Alt in 'n zip, danach kann der ordner weg",
        "mach aus dem ordner Alt eine zip datei und lösch danach den ordner Alt",
        "make a zip of the folder Alt and then delete the folder Alt",
        "haz un zip de la carpeta Alt y luego borra la carpeta",
    ],
)
async def test_a_folder_that_is_packed_goes_whole(outcome: Any, text: str) -> None:
    told = await outcome(text)
    assert isinstance(told, Drafted), told
    assert [dict(step.args) for step in told.plan.steps if step.mutates] == [{"paths": ["Alt"], "remove": True}]
