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
    "text", ["delete the empty files here", "delete the temp files in this folder", "borra los archivos vacíos de aquí"]
)
async def test_where_this_very_folder_is_said_they_go_there_alone(listings: Any, text: str) -> None:
    (only,) = await listings(text)
    assert "recursive" not in only


@pytest.mark.parametrize(
    "text",
    [
        "delete the temp files in Docs",
        "open Docs and delete the temp rubbish in there",
        "look into Docs and get rid of the temp files there",
        "geh in den Ordner Docs und lösch dort die temporären Dateien",
        "entra en Docs y borra ahí los temporales",
    ],
)
async def test_of_a_folder_that_is_named_they_go_from_all_that_is_in_it(listings: Any, text: str) -> None:
    (only,) = await listings(text)
    assert (only["path"], only["recursive"], only["node_kind"]) == ("Docs", True, "file")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the junk in Docs can go", "the junk"),
        ("clean up the junk", "the junk"),
        ("get rid of the useless stuff in Docs", "the useless stuff"),
        ("weg mit dem ganzen Müll in Docs", "dem ganzen Müll"),
        ("der Müll in Docs kann weg", "der Müll"),
        ("borra la basura de Docs", "la basura"),
    ],
)
async def test_what_is_junk_is_for_the_person_to_say(
    model: OfflineModel, catalogue: Catalogue, text: str, said: str
) -> None:
    task = Task(text=text, intent="", root="/home/u/x", workspace=FACTS)
    outcome = await model.plan(task, catalogue)
    assert isinstance(outcome, Unclear), outcome
    assert (said in outcome.question, len(outcome.offers)) == (True, 3)
    taken = await model.plan(task.model_copy(update={"clarification": "1"}), catalogue)
    assert isinstance(taken, Drafted), taken
    assert taken.plan.steps[0].args["recursive"]
    assert isinstance(await model.plan(task.model_copy(update={"clarification": "yes"}), catalogue), Unclear)


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


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("I have duplicate photos, remove the copies", "."),
        ("my photos are in here twice. Delete the copies", "."),
        ("the thing is that my photos are in here twice, remove the copies", "."),
        ("my photos in Docs are there twice, remove the duplicates", "Docs"),
        ("meine Bilder sind doppelt, bitte lösch die Kopien", "."),
        ("tengo fotos repetidas, quita las copias", "."),
        ("tengo fotos repetidas en Docs, borra las copias", "Docs"),
        ("resulta que tengo fotos repetidas. ¿Puedes quitar las copias?", "."),
    ],
)
async def test_copies_are_those_of_what_was_told_of_and_nothing_else_goes(
    model: OfflineModel, catalogue: Catalogue, text: str, folder: str
) -> None:
    outcome = await model.plan(Task(text=text, intent="", root="/home/u/x", workspace=FACTS), catalogue)
    assert isinstance(outcome, Drafted), outcome
    *_, scan, removal = outcome.plan.steps
    assert [step.tool for step in outcome.plan.steps if step.mutates] == ["remove-duplicates.remove"]
    assert removal.args["groups"] == f"$step({scan.ordinal}).groups"
    assert (scan.args["path"], "*.jpg" in scan.args["include"]) == (folder, True)


@pytest.mark.parametrize(
    "text",
    [
        "schmeiss den ganzen müll weg überall, also tmp, a.txt, die mit ~ vorne und leere dateien",
        "delete the tmp files, a.txt, the ones starting with ~ and the empty files, in all subfolders",
        "delete a.txt, tmp and the ~* file too, in every folder, as well as the empty ones",
        "da liegt so müll rum, leere dateien, a.txt, tmp und das mit ~ davor. das kann alles weg, auch in unterordnern",
        "borra los archivos tmp, a.txt y los vacíos, en todas las subcarpetas",
    ],
)
async def test_what_is_empty_is_one_of_the_list_and_no_limit_of_the_rest(listings: Any, text: str) -> None:
    told = await listings(text)
    assert [listing for listing in told if listing.get("empty")] == [
        listing for listing in told if "include" not in listing
    ]
    assert all(listing["recursive"] for listing in told)
    assert {"*.tmp", "a.txt"} <= {pattern for listing in told for pattern in listing.get("include", ())}
