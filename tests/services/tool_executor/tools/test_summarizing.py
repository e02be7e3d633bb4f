"""Summaries of files: their own sentences, and an honest word where there are none."""

from __future__ import annotations

import re

import pytest

from libs.errors import Rejected
from services.tool_executor.tools.tool_context import TooMuch
from tests.libs.documents import samples
from tests.services.tool_executor.tools.conftest import StagedFolder

pytestmark = pytest.mark.requirement("S4-59")

STORY = """The harbour of Hamburg is the largest of Germany. Many ships come to the harbour each day.
My aunt likes cake. The ships bring goods to the harbour, and the goods go on by train.

Trains leave the harbour every hour. Nobody knows the name of the cat."""


def test_summary_consists_of_the_texts_sentences_in_their_order(folder: StagedFolder) -> None:
    folder.write("story.txt", STORY)
    folder.scan()
    told = folder.run("summarize.summarize", paths=["story.txt"], sentences=2).data
    chosen = told["summaries"][0]["sentences"]
    assert len(chosen) == 2
    assert all(sentence in " ".join(STORY.split()) for sentence in chosen)
    assert (told["files"], told["summaries"][0]["words"]) == (1, len(re.findall(r"\w+", STORY)))


def test_files_without_sentences_are_named_and_not_summarized(folder: StagedFolder) -> None:
    folder.write("story.md", f"# A heading of some words\n\n{STORY}")
    folder.write("table.csv", "a,b\n1,2\n")
    folder.write("photo.jpg", b"\xff\xd8\xff\0\0")
    folder.write("none.txt", "")
    folder.write("folder/x.txt", STORY)
    folder.scan()
    told = folder.run("summarize.summarize", paths=folder.listed()).data
    assert [summary["path"] for summary in told["summaries"]] == ["story.md"]
    assert told["without_text"] == ["none.txt", "photo.jpg", "table.csv"]


def test_the_words_of_documents_are_summarised_too(folder: StagedFolder) -> None:
    folder.write("story.docx", samples.word(*STORY.splitlines()))
    folder.write("story.pdf", samples.pdf("The ships bring goods to the harbour. Trains leave it every hour."))
    folder.write("scan.pdf", samples.pdf(""))
    folder.scan()
    told = folder.run("summarize.summarize", paths=folder.listed(), sentences=1).data
    assert {found["path"]: len(found["sentences"]) for found in told["summaries"]} == {"story.docx": 1, "story.pdf": 1}
    assert told["without_text"] == ["scan.pdf"]


def test_summary_of_no_text_is_reported(folder: StagedFolder) -> None:
    done = folder.files().run("summarize.summarize", paths=folder.listed())
    assert (done.data["files"], done.summary) == (0, "There is no text to summarize.")


def test_a_folder_is_not_summarised(folder: StagedFolder) -> None:
    with pytest.raises(Rejected, match="not a file"):
        folder.files("d/x.txt").run("summarize.summarize", paths=["d"])


def test_more_files_than_one_summary_takes_are_refused(folder: StagedFolder) -> None:
    with pytest.raises(TooMuch):
        folder.files("a.txt", "b.txt").bounded(summary_files_most=1).run(
            "summarize.summarize", paths=["a.txt", "b.txt"]
        )


def test_a_damaged_document_says_why_it_has_no_summary(folder: StagedFolder) -> None:
    folder.write("broken.pdf", b"%PDF-1.4 nothing more")
    folder.write("none.txt", "")
    folder.scan()
    told = folder.run("summarize.summarize", paths=["broken.pdf", "none.txt"]).data
    assert told["without_text"] == ["broken.pdf", "none.txt"]
    assert "damaged" in told["unread"]["broken.pdf"]
    assert "none.txt" not in told["unread"]
