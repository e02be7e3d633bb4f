"""What is said after a change was refused is put into the words of that change, and planned and asked anew."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.events.committee import DENIED, MORE_BELOW, Exchange, Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, PlannerOutcome
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]

PATHS = ("a.pdf", "b.pdf", "top.jpg", "Docs/c.pdf", "Photos/old/x.png", "Pictures/y.jpg")
NAMES = ("a.pdf", "b.pdf", "top.jpg", "Docs/", "Photos/", "Pictures/")


def task(text: str, *before: str, reason: str | None = DENIED) -> Task:
    history = tuple(Exchange(text=said, answer="…", reason=reason) for said in before)
    return Task(text=text, intent="", root="/home/u/x", workspace={"names": NAMES, "paths": PATHS}, history=history)


def steps(outcome: PlannerOutcome) -> list[tuple[str, object]]:
    assert isinstance(outcome, Drafted), outcome
    return [(step.tool, step.args) for step in outcome.plan.steps]


@pytest.mark.parametrize(
    ("before", "text", "meant"),
    [
        ("delete the pdfs", "no, only the ones in Docs", "delete the pdfs in Docs"),
        ("move a.pdf to Old", "yes, but Old should be inside Docs", 'move a.pdf to "Docs/Old"'),
        (
            "verschiebe a.pdf nach Kram",
            "nein, der Ordner Kram soll im Ordner Docs sein",
            "verschiebe a.pdf nach Docs/Kram",
        ),
        ("mueve a.pdf a una carpeta Vieja", "Sí, pero Vieja dentro de Docs", "mueve a.pdf a la carpeta Docs/Vieja"),
        ("zip Docs", "yes, and then delete the folder", "zip Docs. Delete the folder"),
        ("make a folder Bills, then zip Docs", "good but without folder Bills", "zip Docs"),
        ("zip Docs, make folder Bills", "yes but don't make the folder Bills", "zip Docs"),
        ("erstelle einen Ordner Kram und pack Docs", "ja aber ohne den Ordner Kram", "pack Docs"),
        ("delete the pdfs", "No, not those, only the pdfs in the Docs folder", "delete the pdfs in Docs"),
        ("lösche die PDFs", "nein, nicht die, nur die in Docs", "lösche die PDFs in Docs"),
        ("delete all pdfs, this job is finish long time", "in all subfolders", "delete all pdfs in all subfolders"),
        ("delete the pdfs", "the jpgs are missing, they should go too", "delete the pdfs. Delete the jpgs"),
        (
            "lösche die PDFs",
            "die leeren Dateien fehlen da, die sollen auch weg",
            "lösche die PDFs. Lösche die leeren Dateien",
        ),
        ("delete a.pdf", "aye n top.jpg too", "delete a.pdf. Delete top.jpg"),
        ("move a.pdf to Old", "no no, b.pdf, into a new folder Kept", "move b.pdf into a new folder Kept"),
        ("verschiebe a.pdf nach Kram", "Nein, nur umbenennen, nicht verschieben", "benenne a.pdf in Kram um"),
        ("delete the pdfs", "but not b.pdf", "delete the pdfs but not b.pdf"),
        ("delete the pdfs", "yes but keep b.pdf", "delete the pdfs but not b.pdf"),
        ("delete the pdfs", "Nearly right, but please leave b.pdf where it is.", "delete the pdfs but not b.pdf"),
        ("lösche die PDFs", "fast richtig, aber lass b.pdf wo sie ist", "lösche die PDFs aber nicht b.pdf"),
        ("rename a.pdf to c.pdf.", "Oh no. Please call it my c.pdf.", 'rename a.pdf to "my c.pdf"'),
        ("delete the pdfs", "no I meant the jpgs", "delete the jpgs"),
        ("delete the pdfs", "wrong folder, the one in Docs", "delete the pdfs in Docs"),
        ("lösche die PDFs", "falscher Ordner, ich meinte den in Docs", "lösche die PDFs in Docs"),
        ("mueve los pdf a Docs", "carpeta equivocada, era Pictures", "mueve los pdf a Pictures"),
        ("move the pdfs to Docs", "wrong folder, I meant Pictures", "move the pdfs to Pictures"),
        ("move the pdfs to Docs", "not Docs, Pictures", "move the pdfs to Pictures"),
        ("move the pdfs to Docs", "Pictures instead", "move the pdfs to Pictures"),
        ("lösche die PDFs", "nicht die PDFs, die Bilder", "lösche die Bilder"),
        ("move the pdfs to Docs", "undo that and delete them instead", "delete the pdfs"),
        ("move the pdfs to Docs", "mach das rückgängig und kopiere sie nach Photos", "copy the pdfs to Photos"),
        ("zip the pdfs", "add top.jpg", "zip the pdfs and top.jpg"),
        ("zip the pdfs", "include top.jpg as well", "zip the pdfs and top.jpg"),
        ("delete the pdfs", "move them to Docs instead", "move the pdfs to Docs"),
        ("delete the pdfs", "there are more in subfolders, include those", "delete the pdfs in all subfolders"),
        ("move the images in Pictures to Docs", "only those in Photos", "move the images in Photos to Docs"),
        ("lösche die PDFs", "nur die in Docs", "lösche die PDFs in Docs"),
        ("lösche die PDFs", "auch die in den Unterordnern", "lösche die PDFs in allen Unterordnern"),
        ("borra los pdf", "solo los de Docs", "borra los pdf en Docs"),
        ("borra los pdf", "no, muévelos a Docs", "mueve los pdf a Docs"),
        ("move all images to Pictures", "to Photos", "move all images to Photos"),
        ("move all images to Pictures", "copy them instead", "copy all images to Pictures"),
        ("move all images to Pictures", "yes, but only the PNGs", "move all PNGs to Pictures"),
        ("delete files over 2 MB", "over 1 MB", "delete files over 1 MB"),
        ("remove duplicates", "keep the newest instead", "remove duplicates, keep the newest"),
        ("remove duplicates", "just those in Photos", "remove duplicates in Photos"),
        ("sort by type", "only the images", "sort by type, only the images"),
        ("sort the images by year", "no, by month", "sort the images by month"),
        ("sort by type", "by year instead", "sort by year"),
        ("organize the files", "by month", "organize the files by month"),
        ("sortiere alles nach Jahr", "lieber nach Monat", "sortiere alles nach Monat"),
        ("delete the pdfs", "no, that was just an example. Delete the jpgs", "delete the jpgs"),
        ("delete the pdfs", "a.pdf stays where it is", "delete the pdfs but not a.pdf"),
        ("move the pdfs into a new folder Old", "no, the folder is just New", "move the pdfs into a new folder New"),
        (
            "move the pdfs into a new folder Old",
            "it should be called New, nothing else",
            "move the pdfs into a new folder New",
        ),
        (
            "verschiebe die PDFs in einen neuen Ordner namens Alt",
            "Nein, der Ordner heißt einfach Neu, und a.pdf bleibt wo sie ist",
            "verschiebe die PDFs in einen neuen Ordner namens Neu, aber nicht a.pdf",
        ),
        ("zip the folder Docs in d.zip", "no, only a.pdf and b.pdf", "zip a.pdf and b.pdf in d.zip"),
    ],
)
async def test_it_plans_what_the_corrected_sentence_would(
    model: OfflineModel, catalogue: Catalogue, before: str, text: str, meant: str
) -> None:
    corrected = await model.plan(task(text, before), catalogue)
    assert steps(corrected) == steps(await model.plan(task(meant), catalogue))


@pytest.mark.parametrize(
    ("before", "text", "meant"),
    [
        ("delete a.pdf", "also top.jpg", "delete a.pdf. Delete top.jpg"),
        ("delete a.pdf", "and b.pdf as well, please", "delete a.pdf. Delete b.pdf"),
        ("delete a.pdf", "and move b.pdf to Docs too", "delete a.pdf. Move b.pdf to Docs"),
        ("lösche a.pdf", "und auch alle leeren Dateien", "lösche a.pdf. Lösche alle leeren Dateien"),
        ("lösche a.pdf", "und lösch auch b.pdf", "lösche a.pdf. Lösche b.pdf"),
        ("mueve a.pdf a Docs", "y también b.pdf", "mueve a.pdf a Docs. Mueve b.pdf a Docs"),
        ("borra a.pdf", "y b.pdf también", "borra a.pdf. Borra b.pdf"),
        ("zip a.pdf as a.zip", "plus b.pdf", "zip a.pdf and b.pdf as a.zip"),
    ],
)
async def test_what_is_wanted_as_well_joins_the_plan_that_was_shown(
    model: OfflineModel, catalogue: Catalogue, before: str, text: str, meant: str
) -> None:
    both = await model.plan(task(text, before), catalogue)
    assert steps(both) == steps(await model.plan(task(meant), catalogue))


async def test_what_a_committed_change_was_about_is_not_done_again(model: OfflineModel, catalogue: Catalogue) -> None:
    more = await model.plan(task("also b.pdf", "delete a.pdf", reason=None), catalogue)
    assert [args for tool, args in steps(more) if tool.endswith("delete")] == [{"paths": ["b.pdf"]}]


async def test_one_correction_may_follow_another(model: OfflineModel, catalogue: Catalogue) -> None:
    twice = task("but not b.pdf", "delete the jpgs", "no, only the pdfs", "in all subfolders")
    meant = task("delete the pdfs in all subfolders but not b.pdf")
    assert steps(await model.plan(twice, catalogue)) == steps(await model.plan(meant, catalogue))


async def test_the_critic_reads_what_the_correction_came_to(model: OfflineModel, catalogue: Catalogue) -> None:
    asked = task("no, only the ones in Docs", "delete the pdfs")
    drafted = await model.plan(asked, catalogue)
    assert isinstance(drafted, Drafted)
    assert "approve" in (await model.review(asked, drafted.plan, catalogue)).text.casefold()


@pytest.mark.parametrize("text", ["delete top.jpg", "what is in here"])
async def test_a_wish_of_its_own_is_no_correction(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    then = await model.plan(task(text, "delete the pdfs"), catalogue)
    assert steps(then) == steps(await model.plan(task(text), catalogue))


async def test_what_was_not_refused_is_not_put_into_other_words(model: OfflineModel, catalogue: Catalogue) -> None:
    done = await model.plan(task("but not b.pdf", "delete the pdfs", reason=None), catalogue)
    assert not isinstance(done, Drafted)


@pytest.mark.parametrize("text", ["I did not ask you to delete them", "I changed my mind", "that is too much"])
async def test_a_mere_reason_changes_nothing(model: OfflineModel, catalogue: Catalogue, text: str) -> None:
    assert not isinstance(await model.plan(task(text, "delete the pdfs"), catalogue), Drafted)


@pytest.mark.parametrize(
    ("before", "yes"),
    [("delete the txt files", "yes please"), ("lösche die txt-Dateien", "ja"), ("borra los txt", "sí")],
)
async def test_a_yes_takes_what_was_found_in_subfolders_only(
    model: OfflineModel, catalogue: Catalogue, before: str, yes: str
) -> None:
    taken = steps(await model.plan(task(yes, before, reason=MORE_BELOW), catalogue))
    assert isinstance(taken[0][1], dict)
    assert taken[0][1]["recursive"] is True
    assert taken[1][0] == "manage-files.delete"
