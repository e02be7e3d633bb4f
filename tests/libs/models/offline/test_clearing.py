"""What is worth nothing is cleared away wherever it lies; of what was told first and wished for then, all of it."""

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
PATHS = ("a.txt", "b.tmp", "Docs/c.tmp", "Docs/.~lock.d.odt#", "Docs/d.md~")
FACTS: dict[str, Any] = {"names": ["a.txt", "b.tmp", "Docs/"], "paths": list(PATHS)}


@pytest.fixture
def listings(model: OfflineModel, catalogue: Catalogue) -> Any:
    async def planned(text: str) -> list[dict[str, Any]]:
        outcome = await model.plan(Task(text=text, intent="", root="/home/u/x", workspace=FACTS), catalogue)
        assert isinstance(outcome, Drafted), outcome
        assert {step.tool for step in outcome.plan.steps} == {"manage-files.list", "manage-files.delete"}
        return [dict(step.args) for step in outcome.plan.steps if not step.mutates]

    return planned


@pytest.mark.parametrize(
    "text",
    [
        "There are a few empty files and some odd temporary ones. Would you kindly clear them away?",
        "I've got empty files and temp stuff all over the place, can you get rid of them",
        "clean up the empty files and the temporary ones",
        "Ich möchte Ordnung, daher löschen Sie bitte alle leeren Dateien und was an temporären Dateien herumliegt.",
        "Hier liegen leere Dateien und temporäre Dateien herum, bitte löschen Sie diese.",
        "Es gibt einige leere und temporäre Dateien, die können weg",
        "hay varios archivos vacíos por ahí y alguno temporal, bórralos porfa",
        "Tengo archivos vacíos y temporales por todas partes, ¿puedes eliminarlos?",
        "borra todo lo que esté vacío o sea temporal",
    ],
)
async def test_both_sorts_go_each_by_itself_in_every_folder(listings: Any, text: str) -> None:
    empty, temporary = await listings(text)
    assert (empty.get("empty"), empty.get("include"), empty["recursive"]) == (True, None, True)
    assert (temporary.get("empty"), temporary["recursive"], temporary["node_kind"]) == (None, True, "file")
    assert {"*.tmp", "~$*", "*~", "*~lock.*"} <= {*temporary["include"]}


@pytest.mark.parametrize(
    "text", ["delete the empty files here", "delete the temp files in Docs", "borra los archivos vacíos de aquí"]
)
async def test_where_a_place_is_said_they_go_there_alone(listings: Any, text: str) -> None:
    (only,) = await listings(text)
    assert "recursive" not in only


async def test_lock_files_are_a_sort_of_their_own(listings: Any) -> None:
    (locks,) = await listings("remove the lock files")
    assert locks["include"] == ["~$*", "*~lock.*"]


@pytest.mark.parametrize(
    "text", ["delete the temporary folder", "borra la carpeta temporal", "lösche den temporären Ordner"]
)
async def test_a_temporary_folder_is_none_of_the_files(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    assert isinstance(
        await model.plan(Task(text=text, intent="", root="/home/u/x", workspace=FACTS), catalogue), Unclear
    )
