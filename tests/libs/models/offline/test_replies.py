"""What a reply to our question means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from libs.events.committee import Task
from libs.models.offline import OfflineModel
from libs.models.ports import Answered, Drafted, PlannerOutcome, Unclear
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]
PATHS = ("a.txt", "b.txt", "Downloads/ZoomInstaller.exe", "Downloads/datos_Pablo.zip", "Recipes/scones.txt")
FACTS: dict[str, Any] = {"names": ["a.txt", "b.txt", "Downloads/", "Recipes/"], "paths": list(PATHS)}
EXPLAINED = "Yes, please do. That was only to explain."
ZOOM = "delete the Zoom thing"


async def heard(model: OfflineModel, catalogue: Catalogue, *said: str) -> PlannerOutcome:
    """What the last of these comes to, where the first is the request and each other one a reply."""
    text, *replies = said
    told = {"clarification": replies[-1], "replies": tuple(replies[:-1])} if replies else {}
    return await model.plan(Task(text=text, intent="request", root="/home/u/x", workspace=FACTS, **told), catalogue)


def touched(outcome: PlannerOutcome) -> list[tuple[str, Any]]:
    assert isinstance(outcome, Drafted), outcome
    return [(step.tool, step.args) for step in outcome.plan.steps if step.mutates]


async def test_a_question_proposes_the_files_by_name(model: OfflineModel, catalogue: Catalogue) -> None:
    asked = await heard(model, catalogue, ZOOM)
    assert isinstance(asked, Unclear)
    assert "“Downloads/ZoomInstaller.exe”" in asked.question


@pytest.mark.parametrize(
    "reply", ["yes", "y", "j", "Yes please", "ok, do it", "the first one", "1", "Yes please, just that", EXPLAINED]
)
async def test_a_yes_takes_what_was_proposed(model: OfflineModel, catalogue: Catalogue, reply: str) -> None:
    done = await heard(model, catalogue, ZOOM, reply)
    assert touched(done) == [("manage-files.delete", {"paths": ["Downloads/ZoomInstaller.exe"]})]


@pytest.mark.parametrize("reply", ["no", "n", "nein danke", "forget it", "no, gracias"])
async def test_a_no_leaves_all_as_it_is(model: OfflineModel, catalogue: Catalogue, reply: str) -> None:
    assert isinstance(await heard(model, catalogue, ZOOM, reply), Answered)


@pytest.mark.parametrize(
    "reply",
    [
        "delete a.txt",
        "no, forget that. delete a.txt",
        "yes, but first of all delete a.txt",
        "None of these. Please delete a.txt",
        "nix davon. lösch a.txt",
        "No, that's the new name. Delete a.txt",
        "No, that was just an example, delete a.txt",
        "no no, you got me wrong, delete a.txt",
        "Nein, so war das nicht gemeint. Lösch a.txt",
        "no me refería a eso, borra a.txt",
        "not the old bits but delete a.txt",
    ],
)
async def test_a_wish_that_stands_by_itself_takes_the_place_of_the_old_one(
    model: OfflineModel, catalogue: Catalogue, reply: str
) -> None:
    done = await heard(model, catalogue, "please do something about my old bits", reply)
    assert touched(done) == [("manage-files.delete", {"paths": ["a.txt"]})]


async def test_what_was_not_understood_at_first_is_not_asked_about_for_ever(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    said = ("those leftover bits and bobs, can they go?", "hmm, the frobnicated ones", "move a.txt to Recipes")
    assert touched(await heard(model, catalogue, *said)) == [
        ("manage-files.move", {"source": ["a.txt"], "target": "Recipes"})
    ]


async def test_a_wish_does_not_lose_what_shall_be_spared(model: OfflineModel, catalogue: Catalogue) -> None:
    """A reply that says nothing of it is read together with the request that does."""
    done = await heard(model, catalogue, "delete the frobnicated txt files, but keep b.txt", "delete all the txt files")
    if isinstance(done, Drafted):
        assert all("b.txt" in step.args.get("exclude", ()) for step in done.plan.steps if not step.mutates)


async def test_the_same_question_is_not_asked_twice_in_the_same_words(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    first = await heard(model, catalogue, "delete the frobnicated ones")
    again = await heard(model, catalogue, "delete the frobnicated ones", "the frobnicated ones")
    assert isinstance(first, Unclear)
    assert isinstance(again, Unclear)
    assert first.question != again.question


async def test_a_choice_is_in_plain_words(model: OfflineModel, catalogue: Catalogue) -> None:
    asked = await heard(model, catalogue, "clean up")
    assert isinstance(asked, Unclear)
    assert not any(tool.skill in asked.question for tool in catalogue if "-" in tool.skill)


OFFICE: dict[str, Any] = {
    "names": ["Docs/", "invoice 1.txt", "invoice 2.txt", "poems.txt"],
    "paths": ["Docs/c.pdf", "Docs/Test frogs KEY.txt", "invoice 1.txt", "invoice 2.txt", "poems.txt"],
}


async def in_the_office(model: OfflineModel, catalogue: Catalogue, *said: str) -> PlannerOutcome:
    text, *replies = said
    told = {"clarification": replies[-1], "replies": tuple(replies[:-1])} if replies else {}
    return await model.plan(Task(text=text, intent="", root="/home/u/x", workspace=OFFICE, **told), catalogue)


async def test_what_was_asked_about_gives_way_to_the_reply(model: OfflineModel, catalogue: Catalogue) -> None:
    said = ("delete the txt files in Docs, but not the blurbs", "the file Test frogs KEY.txt, I mean")
    asked = await in_the_office(model, catalogue, said[0])
    assert isinstance(asked, Unclear)
    assert asked.about in said[0]
    done = await in_the_office(model, catalogue, *said)
    assert isinstance(done, Drafted)
    assert any("Test frogs KEY.txt" in str(step.args.get("exclude")) for step in done.plan.steps)


@pytest.mark.parametrize(
    ("wish", "reply", "name"),
    [
        ("zip Docs and then the blurb", "no, call it papers 2021.zip", "papers 2021.zip"),
        ("zippe Docs und dann das Blurb", "nein, nenn es Papiere 2021.zip", "Papiere 2021.zip"),
        ("comprime Docs y luego el blurb", "no, que se llame papeles 2021.zip", "papeles 2021.zip"),
    ],
)
async def test_a_name_that_is_said_to_a_question_is_the_name_of_what_is_made(
    model: OfflineModel, catalogue: Catalogue, wish: str, reply: str, name: str
) -> None:
    asked = await in_the_office(model, catalogue, wish, reply)
    assert isinstance(asked, Unclear)
    assert name in asked.question


async def test_a_wish_in_place_of_one_whose_exception_nobody_knows_says_so(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    said = ("delete the txt files, but not the blurbs", "delete all txt files in Docs")
    asked = await in_the_office(model, catalogue, *said)
    assert isinstance(asked, Unclear)
    assert "but not the blurbs" in asked.question
    agreed, alone = [await in_the_office(model, catalogue, *one) for one in ((*said, "yes"), said[1:])]
    assert touched(agreed) == touched(alone)


@pytest.mark.parametrize(
    ("wish", "word"),
    [
        ("zipify the poems.txt", "zipify"),
        ("delete the frobnitz", "frobnitz"),
        ("verschönere die Bilder", "verschönere"),
        ("retoca las fotos", "retoca"),
    ],
)
async def test_the_word_that_is_the_trouble_is_named(
    model: OfflineModel, catalogue: Catalogue, wish: str, word: str
) -> None:
    asked = await in_the_office(model, catalogue, wish)
    assert isinstance(asked, Unclear)
    assert (asked.about, asked.offers) == (word, ())


async def test_what_is_said_for_the_word_that_is_the_trouble_stands_in_its_place(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    done = await in_the_office(model, catalogue, "delete the frobnitz", "the poems")
    assert touched(done) == [("manage-files.delete", {"paths": ["poems.txt"]})]


async def test_both_are_those_that_are_called_so(model: OfflineModel, catalogue: Catalogue) -> None:
    facts = {"names": ["A/", "B/"], "paths": ["A/prints/1.jpg", "A/prints/2.png", "B/prints/1.jpg", "B/x.txt"]}
    task = Task(text="delete the jpgs in the folder prints", intent="", root="/home/u/x", workspace=facts)
    assert isinstance(await model.plan(task, catalogue), Unclear)
    done = await model.plan(task.model_copy(update={"clarification": "both"}), catalogue)
    assert isinstance(done, Drafted)
    assert done.plan.steps[0].args["folders"] == ["A/prints", "B/prints"]


async def test_a_third_time_it_is_left_and_said_so(model: OfflineModel, catalogue: Catalogue) -> None:
    said = ("delete the frobnicated ones", *["the frobnicated ones"] * 3)
    questions = [await in_the_office(model, catalogue, *said[: n + 1]) for n in range(len(said))]
    asked = [one.question for one in questions if isinstance(one, Unclear)]
    assert len(asked) == len({*asked})
    assert isinstance(questions[-1], Answered)


async def test_files_that_come_near_are_offered_before_it_is_left(model: OfflineModel, catalogue: Catalogue) -> None:
    said = ("delete the txt files in Docs, but not the Tstfrogs", "the Tstfrogs", "1")
    assert "Docs/Test frogs KEY.txt" in str(await in_the_office(model, catalogue, *said[:2]))
    done = await in_the_office(model, catalogue, *said)
    assert isinstance(done, Drafted)
    assert any("Test frogs KEY.txt" in str(step.args.get("exclude")) for step in done.plan.steps)


async def test_those_are_the_files_that_the_question_names(model: OfflineModel, catalogue: Catalogue) -> None:
    unclear = "tidy away the invoices"
    asked = await in_the_office(model, catalogue, unclear)
    assert isinstance(asked, Unclear)
    assert asked.named == ("invoice 1.txt", "invoice 2.txt")
    done = touched(await in_the_office(model, catalogue, unclear, "no, just move those 2 files into Docs"))
    assert done == [("manage-files.move", {"source": ["invoice 1.txt", "invoice 2.txt"], "target": "Docs"})]


async def test_here_is_an_answer_to_where(model: OfflineModel, catalogue: Catalogue) -> None:
    done = await heard(model, catalogue, "verschiebe Recipes/scones.txt in einen anderen Ordner", "egal, einfach hier")
    assert touched(done) == [("manage-files.move", {"source": ["Recipes/scones.txt"], "target": "."})]


async def test_the_rest_that_is_offered_says_what_it_is(model: OfflineModel, catalogue: Catalogue) -> None:
    asked = await heard(model, catalogue, "Zip the folder Recipes and email it to Anne")
    assert isinstance(asked, Unclear)
    assert "Shall I do the rest: " in asked.question


async def test_a_zip_needs_no_folder_to_go_to(model: OfflineModel, catalogue: Catalogue) -> None:
    wish = "pack mir den Ordner Recipes als zip, der Steuerberater braucht das bis morgen"
    assert touched(await heard(model, catalogue, wish)) == [
        ("archive-files.pack", {"remove": False, "paths": ["Recipes"]})
    ]


@pytest.mark.parametrize("said", ["Anne wants the big ones", "my sister asked for the ones from 2019"])
async def test_what_others_want_of_some_is_asked_about_before_all_go(
    model: OfflineModel, catalogue: Catalogue, said: str
) -> None:
    assert isinstance(await heard(model, catalogue, f"Delete the txt files. {said}"), Unclear)


async def test_a_no_to_a_question_is_not_owed_by_the_wish_that_comes_after_it(
    model: OfflineModel, catalogue: Catalogue
) -> None:
    said = ("rename a.txt so that a becomes x", "No, that was just an example, I want all of them", "delete a.txt")
    assert touched(await heard(model, catalogue, *said)) == [("manage-files.delete", {"paths": ["a.txt"]})]


POLISHED = "zip Downloads and polish it"
ZIPPED: dict[str, Any] = {"paths": ["Downloads"], "remove": False}


@pytest.mark.parametrize(
    ("reply", "args"),
    [
        ("yes but call it food.zip", {"archive": "food.zip"}),
        ("sí, pero llámalo food.zip", {"archive": "food.zip"}),
        ("aye, and a.txt too", {"paths": ["Downloads", "a.txt"]}),
        ("ja, und a.txt auch", {"paths": ["Downloads", "a.txt"]}),
        ("yes, and then delete the folder", {"remove": True}),
        ("sí, y luego borra la carpeta", {"remove": True}),
    ],
)
async def test_a_yes_that_goes_on_is_taken_with_the_rest_of_it(
    model: OfflineModel, catalogue: Catalogue, reply: str, args: dict[str, Any]
) -> None:
    [(tool, given)] = touched(await heard(model, catalogue, POLISHED, reply))
    assert (tool, {**ZIPPED, **given}) == ("archive-files.pack", {**ZIPPED, **args})


@pytest.mark.parametrize(
    "reply",
    [
        "No no, only two of them, a.txt and b.txt, into a new folder Kept",
        "Nein, nur a.txt und b.txt, in einen neuen Ordner Kept",
        "no no, solo a.txt y b.txt, a una carpeta nueva Kept",
    ],
)
async def test_a_no_that_goes_on_never_does_what_was_refused(
    model: OfflineModel, catalogue: Catalogue, reply: str
) -> None:
    done = await heard(model, catalogue, "these are a mess, please move them into a new folder Kept", reply)
    assert touched(done) == [("manage-files.move", {"source": ["a.txt", "b.txt"], "target": "Kept"})]


@pytest.mark.parametrize(
    ("wish", "reply"),
    [
        ("rename a.txt", "the new name should be c"),
        ("Benenne a.txt um", "Der neue Name soll c lauten"),
        ("I want to rename a file", "the file a.txt, and the new name should be c"),
        ("Ich will eine Datei umbenennen", "Die Datei a.txt, und der neue Name soll c lauten"),
    ],
)
async def test_the_new_name_may_be_told_in_a_sentence(
    model: OfflineModel, catalogue: Catalogue, wish: str, reply: str
) -> None:
    done = await heard(model, catalogue, wish, reply)
    assert touched(done) == [("manage-files.rename", {"path": "a.txt", "new_name": "c.txt"})]


async def test_nobody_is_offered_a_delete_who_spoke_of_none(model: OfflineModel, catalogue: Catalogue) -> None:
    asked = await heard(model, catalogue, "I mean the zip, and it should go on being a zip")
    assert not isinstance(asked, Drafted)
    assert "delete" not in getattr(asked, "question", "")


@pytest.mark.parametrize(
    ("text", "reply", "tools"),
    [
        ("tidy up a bit", "the duplicates and the temp files", ["remove-duplicates.remove", "manage-files.delete"]),
        ("räum mal auf", "die temporären Dateien", ["manage-files.delete"]),
        ("delete the rubbish", "the empty files and the temp files", ["manage-files.delete", "manage-files.delete"]),
    ],
)
async def test_what_shall_go_is_said_in_a_list(
    model: OfflineModel, catalogue: Catalogue, text: str, reply: str, tools: list[str]
) -> None:
    assert [tool for tool, _ in touched(await heard(model, catalogue, text, reply))] == tools


async def test_what_shall_go_stays_in_the_folder_that_was_spoken_of(model: OfflineModel, catalogue: Catalogue) -> None:
    done = await heard(model, catalogue, "tidy up Recipes", "the empty files")
    assert isinstance(done, Drafted)
    assert done.plan.steps[0].args["path"] == "Recipes"


@pytest.mark.parametrize("reply", ["make the folder then!", "then make a folder", "leg den Ordner dann an"])
async def test_the_folder_that_was_asked_about_is_made(model: OfflineModel, catalogue: Catalogue, reply: str) -> None:
    done = await heard(model, catalogue, "copy the folder Recipes to Backup", reply)
    assert [(tool, args["target"]) for tool, args in touched(done)] == [("manage-files.copy", "Backup")]
    made = await heard(model, catalogue, "what is in Bills", reply)
    assert [(tool, args["name"]) for tool, args in touched(made)] == [("manage-files.create", "Bills")]


@pytest.mark.parametrize(
    ("text", "reply", "tools"),
    [
        ("delete the rubbish", "1 and 2", ["manage-files.delete", "manage-files.delete"]),
        (
            "delete the rubbish",
            "both the temp files and the duplicates",
            ["manage-files.delete", "remove-duplicates.remove"],
        ),
        ("lösch den Müll", "1 und 3", ["manage-files.delete", "remove-duplicates.remove"]),
        (
            "delete the rubbish",
            "all of them",
            ["manage-files.delete", "manage-files.delete", "remove-duplicates.remove"],
        ),
    ],
)
async def test_several_of_what_was_offered_are_taken_together(
    model: OfflineModel, catalogue: Catalogue, text: str, reply: str, tools: list[str]
) -> None:
    assert [tool for tool, _ in touched(await heard(model, catalogue, text, reply))] == tools


@pytest.mark.parametrize(
    ("text", "reply"), [("delete the rubbish", "both"), ("sort the files by date", "both"), ("sort by date", "1 and 2")]
)
async def test_both_is_no_answer_where_there_are_three_or_only_one_can_be(
    model: OfflineModel, catalogue: Catalogue, text: str, reply: str
) -> None:
    assert isinstance(await heard(model, catalogue, text, reply), Unclear)


@pytest.mark.requirement("S4-32", "S4-46")
@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("move a.txt", "yes"),
        ("move a.txt", "ok, do it"),
        ("verschiebe a.txt", "ja"),
        ("verschiebe a.txt", "ja bitte"),
        ("mueve a.txt", "sí"),
        ("rename a.txt", "sure"),
        ("tidy up", "yes please"),
        ("räum auf", "ja, gerne"),
    ],
)
async def test_a_bare_yes_is_neither_a_name_nor_one_of_several(
    model: OfflineModel, catalogue: Catalogue, text: str, reply: str
) -> None:
    first, again = await heard(model, catalogue, text), await heard(model, catalogue, text, reply)
    assert isinstance(first, Unclear)
    assert isinstance(again, Unclear)
    assert again.question.endswith(first.question)
    assert len(again.question) > len(first.question)


@pytest.mark.requirement("S4-32", "S4-46")
@pytest.mark.parametrize(
    ("text", "answer", "target"),
    [
        ("move a.txt", "Recipes", "Recipes"),
        ("verschiebe a.txt", "nach Recipes", "Recipes"),
        ("mueve a.txt", "a Recipes", "Recipes"),
        ("move a.txt", "Yesterday", "Yesterday"),
    ],
)
async def test_after_a_bare_yes_the_answer_is_still_taken(
    model: OfflineModel, catalogue: Catalogue, text: str, answer: str, target: str
) -> None:
    (moved,) = touched(await heard(model, catalogue, text, "ok", answer))
    assert moved[1]["target"] == target
