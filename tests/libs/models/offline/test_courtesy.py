"""What surrounds a request is blanked out; what could choose a file or forbid a change never is."""

from __future__ import annotations

import pytest

from libs.models.offline.courtesy import plain
from libs.retrieval.words import language_of

KNOWN = ("notes.txt", "session.tmp", "invoice-1.pdf")


def left(text: str) -> str:
    return " ".join(plain(text, KNOWN, language_of(text)).split())


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("would you mind deleting the tmp files?", "deleting the tmp files?"),
        ("if it isn't too much trouble, zip the images", ", zip the images"),
        ("wenn du so nett wärst, lösch die Musik", ", lösch die Musik"),
        ("serías tan amable de borrar los tmp", "borrar los tmp"),
        ("delete the tmp files, you useless idiot", "delete the tmp files,"),
        ("My back hurts and I hate Mondays. Delete the tmp files", ". Delete the tmp files"),
        ("mi jefe me está presionando, borra los tmp", ", borra los tmp"),
        ("and when you're done delete the exes", "and then delete the exes"),
    ],
)
def test_talk_around_a_request_is_blanked_out(said: str, asked: str) -> None:
    assert left(said) == asked


@pytest.mark.parametrize(
    "said",
    [
        "delete the tmp files but leave the big ones alone",
        "my sister needs the invoices. delete the pdfs",
        "I only meant the small ones. delete the images",
        "I am keeping the pictures. delete the zips",
        "we share the session with others, remove the tmp files",
        "I wrote about the cabin somewhere. which file mentions it?",
    ],
)
def test_what_could_choose_or_forbid_stays(said: str) -> None:
    assert left(said) == said


def test_every_other_word_keeps_its_place() -> None:
    said = "I was wondering if you could list the tmp files"
    assert plain(said).index("list") == said.index("list")
    assert len(plain(said)) == len(said)


@pytest.mark.parametrize(
    ("said", "plainly"),
    [
        ("rename: a.txt => b.txt", "rename  a.txt to b.txt"),
        ("Abgesehen vom Vertrag sollen alle PDFs weg", "Abgesehen vom Vertrag,sollen alle PDFs weg"),
        ("remind me, which columns are in it?", "         , which columns are in it?"),
    ],
)
def test_what_only_its_form_says_is_said_plainly(said: str, plainly: str) -> None:
    assert plain(said) == plainly
