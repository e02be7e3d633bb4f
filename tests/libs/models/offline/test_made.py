"""What the turn before has made may be called something else, though nobody has said what it is called."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.events.committee import Exchange, Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, PlannerOutcome
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]
PATHS = ("a.pdf", "b.pdf", "Archive.zip", "Docs/c.txt", "Docs (2)/c.txt", "Old/Docs/c.txt")
NAMES = ("a.pdf", "b.pdf", "Archive.zip", "Docs/", "Docs (2)/", "Old/", "Bills/")
PACKED = ("zip the pdfs", "Packed 2 files (20 bytes) into Archive.zip (250 bytes). 1 change committed.")
GEPACKT = ("pack die PDFs in ein Zip", "2 Dateien (20 bytes) in Archive.zip gepackt (250 bytes).")
COMPRIMIDO = ("comprime los pdf", "Empaqueté 2 archivos (20 bytes) en Archive.zip (250 bytes).")
COPIED = ("make a copy of Docs", "Copied 1 file (5 bytes): Docs → Docs (2). 2 changes committed.")


async def then(model: OfflineModel, catalogue: Catalogue, text: str, done: tuple[str, str]) -> PlannerOutcome:
    history = (Exchange(text=done[0], answer=done[1]),)
    facts = {"names": NAMES, "paths": PATHS}
    return await model.plan(Task(text=text, intent="", root="/home/u/x", workspace=facts, history=history), catalogue)


def steps(outcome: PlannerOutcome) -> list[tuple[str, object]]:
    assert isinstance(outcome, Drafted), outcome
    return [(step.tool.partition(".")[2], step.args) for step in outcome.plan.steps if step.mutates]


@pytest.mark.requirement("S4-44")
@pytest.mark.parametrize(
    ("text", "done", "old", "new"),
    [
        ("call it x.zip", PACKED, "Archive.zip", "x.zip"),
        ("call it June bills", PACKED, "Archive.zip", "June bills.zip"),
        ("now rename it to x.zip", PACKED, "Archive.zip", "x.zip"),
        ("no, I wanted it called x.zip", PACKED, "Archive.zip", "x.zip"),
        ("that should have been called x.zip", PACKED, "Archive.zip", "x.zip"),
        ("nenn es x.zip", GEPACKT, "Archive.zip", "x.zip"),
        ("das hätte x.zip heißen sollen", GEPACKT, "Archive.zip", "x.zip"),
        ("que se llame papeles", COMPRIMIDO, "Archive.zip", "papeles.zip"),
        ("ponle de nombre papeles", COMPRIMIDO, "Archive.zip", "papeles.zip"),
        ("name it Docs backup please", COPIED, "Docs (2)", "Docs backup"),
        ("call the copy Docs backup", ("copy Docs into Old", "Copied 1 file into Old."), "Old/Docs", "Docs backup"),
        ("call it Invoices instead", ("create a folder Bills", "Created ./Bills."), "Bills", "Invoices"),
        ("nenn ihn Belege", ("verschiebe die PDFs in einen Ordner Bills", "2 Einträge verschoben."), "Bills", "Belege"),
        ("no, call it c.pdf", ("rename x.pdf to a.pdf", "Renamed to a.pdf. 1 change committed."), "a.pdf", "c.pdf"),
    ],
)
async def test_what_was_made_gets_the_name(
    model: OfflineModel, catalogue: Catalogue, text: str, done: tuple[str, str], old: str, new: str
) -> None:
    assert steps(await then(model, catalogue, text, done)) == [("rename", {"path": old, "new_name": new})]


async def test_it_is_the_archive_and_they_are_what_went_into_it(model: OfflineModel, catalogue: Catalogue) -> None:
    put = steps(await then(model, catalogue, "put it in Docs", PACKED))
    assert put == [("move", {"source": ["Archive.zip"], "target": "Docs"})]
    deleted = await then(model, catalogue, "delete them", PACKED)
    assert isinstance(deleted, Drafted)
    assert deleted.plan.steps[0].args["include"] == ["*.pdf"]


@pytest.mark.parametrize(
    "text", ["call it notes.txt", "call it Bills and put it in Docs", "call them bills", "delete the copy of it"]
)
async def test_what_is_no_name_for_it_renames_nothing(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    outcome = await then(model, catalogue, text, PACKED)
    assert not (isinstance(outcome, Drafted) and any(step.tool.endswith("rename") for step in outcome.plan.steps))
