"""Questions whose answer stands in one's own papers are looked up there; what the world knows is not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.models.offline import OfflineModel
from libs.models.ports import Drafted
from libs.skills import ToolDefinition
from tests.libs.models.offline.gist.conftest import task

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
DESK = ("notizen.txt", "Invoice roof.txt", "a.jpg")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("wann ist der termin bei dr. quappe?", "termin quappe"),
        ("wann kommt Dr. Quappe?", "Quappe"),
        ("who is my dentist?", "dentist"),
        ("¿cuándo vence el contrato?", "contrato"),
        ("what was the complaint about?", "complaint"),
        ("bis wann muss ich das Buch zurückgeben?", "Buch"),
        ("wer hat noch nicht bezahlt?", "bezahlt"),
        ("has Quappe paid the invoice yet?", "Quappe"),
        ("what did Quappe want again?", "Quappe"),
        ("was wollte Quappe nochmal?", "Quappe"),
        ("¿qué pidió Quappe?", "Quappe"),
    ],
)
async def test_what_people_keep_papers_about_is_searched_for(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, query: str
) -> None:
    outcome = await model.plan(task(text, DESK), catalogue)
    assert isinstance(outcome, Drafted), outcome
    (step,) = outcome.plan.steps
    assert step.tool == "search-files.search"
    assert query in step.args["query"]


@pytest.mark.parametrize(
    "text", ["what's the capital of peru?", "wie wird das wetter morgen?", "¿quién ganó el partido?"]
)
async def test_what_the_world_knows_is_no_search(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str
) -> None:
    assert not isinstance(await model.plan(task(text, DESK), catalogue), Drafted)


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("I need the invoice for the roof", ["Invoice roof.txt"]),
        ("ich brauche die notizen", ["notizen.txt"]),
        ("necesito las fotos", ["a.jpg"]),
    ],
)
async def test_who_needs_a_file_sees_which_it_is(
    model: OfflineModel, catalogue: Sequence[ToolDefinition], text: str, files: list[str]
) -> None:
    outcome = await model.plan(task(text, DESK), catalogue)
    assert isinstance(outcome, Drafted), outcome
    (step,) = outcome.plan.steps
    assert step.tool == "manage-files.list"
    assert step.args["include"] == files
