"""Summaries of files: their own sentences, and an honest word where there are none."""

from __future__ import annotations

import re

import pytest

from libs.errors import Rejected
from services.tool_executor.tools.tool_context import TooMuch
from tests.libs.documents import samples
from tests.services.tool_executor.tools.conftest import Desk

pytestmark = pytest.mark.requirement("S4-59")

STORY = """The harbour of Hamburg is the largest of Germany. Many ships come to the harbour each day.
My aunt likes cake. The ships bring goods to the harbour, and the goods go on by train.

Trains leave the harbour every hour. Nobody knows the name of the cat."""


def test_summary_consists_of_the_texts_sentences_in_their_order(desk: Desk) -> None:
    desk.write("story.txt", STORY)
    desk.scan()
    told = desk.run("summarize.summarize", paths=["story.txt"], sentences=2).data
    chosen = told["summaries"][0]["sentences"]
    assert len(chosen) == 2
    assert all(sentence in " ".join(STORY.split()) for sentence in chosen)
    assert (told["files"], told["summaries"][0]["words"]) == (1, len(re.findall(r"\w+", STORY)))


def test_files_without_sentences_are_named_and_not_summarized(desk: Desk) -> None:
    desk.write("story.md", f"# A heading of some words\n\n{STORY}")
    desk.write("table.csv", "a,b\n1,2\n")
    desk.write("photo.jpg", b"\xff\xd8\xff\0\0")
    desk.write("none.txt", "")
    desk.write("folder/x.txt", STORY)
    desk.scan()
    told = desk.run("summarize.summarize", paths=desk.listed()).data
    assert [summary["path"] for summary in told["summaries"]] == ["story.md"]
    assert told["without_text"] == ["none.txt", "photo.jpg", "table.csv"]


def test_the_words_of_documents_are_summarised_too(desk: Desk) -> None:
    desk.write("story.docx", samples.word(*STORY.splitlines()))
    desk.write("story.pdf", samples.pdf("The ships bring goods to the harbour. Trains leave it every hour."))
    desk.write("scan.pdf", samples.pdf(""))
    desk.scan()
    told = desk.run("summarize.summarize", paths=desk.listed(), sentences=1).data
    assert {found["path"]: len(found["sentences"]) for found in told["summaries"]} == {"story.docx": 1, "story.pdf": 1}
    assert told["without_text"] == ["scan.pdf"]


def test_no_text_at_all_is_said(desk: Desk) -> None:
    done = desk.files().run("summarize.summarize", paths=desk.listed())
    assert (done.data["files"], done.summary) == (0, "There is no text to summarize.")


def test_a_folder_is_not_summarised(desk: Desk) -> None:
    with pytest.raises(Rejected, match="not a file"):
        desk.files("d/x.txt").run("summarize.summarize", paths=["d"])


def test_more_files_than_one_summary_takes_are_refused(desk: Desk) -> None:
    with pytest.raises(TooMuch):
        desk.files("a.txt", "b.txt").bounded(texts=1).run("summarize.summarize", paths=["a.txt", "b.txt"])


def test_a_damaged_document_says_why_it_has_no_summary(desk: Desk) -> None:
    desk.write("broken.pdf", b"%PDF-1.4 nothing more")
    desk.write("none.txt", "")
    desk.scan()
    told = desk.run("summarize.summarize", paths=["broken.pdf", "none.txt"]).data
    assert told["without_text"] == ["broken.pdf", "none.txt"]
    assert "damaged" in told["unread"]["broken.pdf"]
    assert "none.txt" not in told["unread"]
