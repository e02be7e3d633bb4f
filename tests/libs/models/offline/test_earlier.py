"""What leans on the turn before is written out in its words, or asked for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from libs.events.committee import Exchange, Task
from libs.models.offline import OfflineModel
from libs.models.ports import Drafted, Unclear
from libs.skills import ToolDefinition
from tests.libs.models.offline.phrasings import NAMES

Catalogue = Sequence[ToolDefinition]


def then(before: str, text: str) -> Task:
    history = (Exchange(text=before, answer="Done."),)
    return Task(text=text, intent="", root="/home/u/Downloads", workspace={"names": list(NAMES)}, history=history)


@pytest.mark.parametrize(
    ("before", "text", "in_full"),
    [
        ("list the mp3 files", "now delete them", "delete the mp3 files"),
        ("lista los archivos tmp", "bórralos", "borra los archivos tmp"),
        ("zeige alle PDFs", "lösche sie", "lösche alle PDFs"),
        ("zeig mir die 3 größten Dateien", "ich wollte 5 sehen nicht 3", "zeig mir die 5 größten Dateien"),
        ("show me the largest files", "I asked for 5", "show me the 5 largest files"),
        ("move the zips to Docs", "do the same for the PDFs", "move the PDFs to Docs"),
        ("sort Photos by type", "do the same for Docs", "sort Docs by type"),
        ("move the images to Docs", "no, only the PDFs", "move the PDFs to Docs"),
        ("create a folder Taxes", "move all pdfs into it", "move all pdfs into Taxes"),
        ("what is in notes.md", "and summarize it", "summarize notes.md"),
        ("move all pdfs to Docs", "now zip them", "zip all pdfs in Docs"),
        ("list files older than a year", "delete those", "delete files older than a year"),
        (
            "lösche alle PDFs, die älter als ein Jahr sind.",
            "Ja, in allen Unterordnern",
            "lösche alle PDFs, die älter als ein Jahr sind, in allen Unterordnern",
        ),
        ("zip notes.md as n.zip", "do the same for report.pdf but call it r.zip", "zip report.pdf as r.zip"),
    ],
)
async def test_it_plans_what_the_whole_sentence_would(
    model: OfflineModel, catalogue: Catalogue, before: str, text: str, in_full: str
) -> None:
    short = await model.plan(then(before, text), catalogue)
    whole = await model.plan(then("", in_full), catalogue)
    assert isinstance(short, Drafted), short
    assert isinstance(whole, Drafted), whole
    assert [(step.tool, step.args) for step in short.plan.steps] == [(s.tool, s.args) for s in whole.plan.steps]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("find files about taxes", "move them to Docs"),
        ("delete the tmp files", "move them to Docs"),
        ("list the mp3 files", "delete the first one"),
        ("zip notes.md as n.zip", "the same for report.pdf, but put it into Docs"),
        ("move notes.md to Docs", "do the same with report.pdf but name it x.pdf"),
        ("create a folder One", "do the same but call it Two"),
    ],
)
async def test_what_the_words_cannot_tell_is_asked(
    model: OfflineModel, catalogue: Catalogue, before: str, text: str
) -> None:
    assert isinstance(await model.plan(then(before, text), catalogue), Unclear)
