"""What Suma itself has named is what "those", "the 3" and "the rest" mean next."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.events.committee import Exchange, Task
from libs.models.offline import OfflineModel
from libs.models.ports import Answered, Drafted, PlannerOutcome
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]
PATHS = ("a.tmp", "b c.tmp", "Old/d.tmp", "Old/e.txt", "notes.txt")
SHOWN = ("Old/d.tmp", "a.tmp", "b c.tmp")
FACTS = {"names": ["Old/", "a.tmp", "b c.tmp", "notes.txt"], "paths": list(PATHS)}
LISTED = Exchange(text="find the tmp files", answer="3 items: Old/d.tmp, and 2 more.", shown=SHOWN)


async def then(model: OfflineModel, catalogue: Catalogue, text: str, *after: Exchange) -> PlannerOutcome:
    task = Task(text=text, intent="", root="/home/u/x", workspace=FACTS, history=(LISTED, *after))
    return await model.plan(task, catalogue)


def touched(outcome: PlannerOutcome) -> list[str]:
    assert isinstance(outcome, Drafted), outcome
    return [str(path) for step in outcome.plan.steps if step.mutates for path in _about(step.args)]


def _about(args: dict[str, object]) -> list[object]:
    value = args.get("paths", args.get("source"))
    return list(value) if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    "text",
    [
        "delete those",
        "delete them",
        "please delete those 3 files",
        "delete the 3 files",
        "yes, exactly those. Delete the three files.",
        "move these into Old2",
        "lösche diese",
        "lösche sie",
        "lösche die drei Dateien",
        "Ja, genau diese. Bitte löschen Sie die drei Dateien.",
        "bórralos",
        "borra esos",
        "borra los 3",
        "zip those 3 files as old.zip",
    ],
)
async def test_they_are_exactly_the_files_that_were_named(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    assert sorted(touched(await then(model, catalogue, text))) == sorted(SHOWN)


@pytest.mark.parametrize("text", ["delete those 4 files", "borra los 4", "lösche die vier Dateien"])
async def test_another_number_of_them_is_asked_about(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    assert not isinstance(await then(model, catalogue, text), Drafted)


async def test_talk_in_between_does_not_change_what_they_are(model: OfflineModel, catalogue: Catalogue) -> None:
    talk = Exchange(text="thanks", answer="Hello!")
    assert sorted(touched(await then(model, catalogue, "delete those", talk))) == sorted(SHOWN)


async def test_what_has_a_name_of_its_own_is_not_what_was_shown(model: OfflineModel, catalogue: Catalogue) -> None:
    assert touched(await then(model, catalogue, "delete those notes.txt")) == ["notes.txt"]


@pytest.mark.parametrize(
    "text",
    [
        "show the rest",
        "the other 2",
        "and the other 2 please",
        "list the others with their names",
        "more",
        "zeig mir den Rest",
        "die anderen 2",
        "los demás",
        "muestra el resto",
    ],
)
async def test_the_rest_of_a_list_is_told_by_name(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    told = await then(model, catalogue, text)
    assert isinstance(told, Answered)
    assert "a.tmp" in told.text
    assert "b c.tmp" in told.text
    assert "d.tmp" not in told.text


@pytest.mark.parametrize("text", ["all 3, with names", "alle 3", "los 3", "show all of them"])
async def test_all_of_it_is_told_again(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    told = await then(model, catalogue, text)
    assert isinstance(told, Answered)
    assert all(path in told.text for path in SHOWN)


async def test_a_wish_with_a_rest_in_it_is_no_wish_to_see_it(model: OfflineModel, catalogue: Catalogue) -> None:
    done = await then(model, catalogue, "delete notes.txt and leave the rest")
    assert touched(done) == ["notes.txt"]


COMPARED = Exchange(text="do I have any photo twice", answer="1 file could go: a.tmp.", shown=("a.tmp",))
COMPARED_ALL = Exchange(text="do I have anything twice", answer="2 files could go.", shown=("a.tmp", "b c.tmp"))


@pytest.mark.parametrize(
    "text",
    ["delete the copy", "delete the duplicates", "lösch die Kopie", "borra la copia", "borra las que sobran"],
)
async def test_the_copy_is_the_one_that_was_found(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    assert touched(await then(model, catalogue, text, COMPARED)) == ["a.tmp"]


@pytest.mark.parametrize("text", ["get rid of the extra ones", "move the copies to Extra", "borra las que sobran"])
async def test_the_extra_ones_are_those_that_could_go(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    assert touched(await then(model, catalogue, text, COMPARED_ALL)) == ["a.tmp", "b c.tmp"]


async def test_one_copy_of_several_is_not_chosen(model: OfflineModel, catalogue: Catalogue) -> None:
    assert not isinstance(await then(model, catalogue, "delete the copy", COMPARED_ALL), Drafted)


async def test_all_of_them_are_all_that_were_shown_wherever_they_go(model: OfflineModel, catalogue: Catalogue) -> None:
    outcome = await then(model, catalogue, "move all of them to Films")
    assert sorted(touched(outcome)) == sorted(SHOWN)


@pytest.mark.parametrize("text", ["muévelos a Docs", "muevelos a Docs", "pásalos a la carpeta Nueva"])
async def test_a_pronoun_at_its_verb_leads_to_an_end(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    assert sorted(touched(await then(model, catalogue, text))) == sorted(SHOWN)
