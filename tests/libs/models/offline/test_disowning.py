"""What only takes something back is no part of the wish after it; what might say what is not wanted stays."""

from __future__ import annotations

import pytest

from libs.models.offline.disowning import owned


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("No, that was just an example, I want all of them done", "No, I want all of them done"),
        ("No, that's the new name. Rename the photos", "No, Rename the photos"),
        ("that's not what I meant, zip a.txt", "zip a.txt"),
        ("None of these. Delete a.txt", "Delete a.txt"),
        ("forget what I said before. move X to Y", "move X to Y"),
        ("Nein, nichts davon! Benennen Sie a um", "Nein, Benennen Sie a um"),
        ("Nein, so war das nicht gemeint. Löschen Sie a.txt", "Nein, Löschen Sie a.txt"),
        ("Das meinte ich nicht, lösche alle PDFs", "lösche alle PDFs"),
        ("que no, nada de eso! borra las fotos", "que no, borra las fotos"),
        ("no me refería a eso, borra las fotos", "borra las fotos"),
        ("No, not the folder but the file scan0001", "the file scan0001"),
        ("Nein, nicht den Ordner, sondern die Datei scan0001", "die Datei scan0001"),
        ("no las fotos, sino los archivos vacíos", "los archivos vacíos"),
    ],
)
def test_a_half_sentence_that_takes_something_back_is_gone(text: str, wish: str) -> None:
    assert owned(text) == wish


@pytest.mark.parametrize(
    "text",
    [
        "no, only the PDFs",
        "No, that's wrong.",
        "not these, a.txt and b.txt",
        "No, not these: a.txt, b.txt",
        "I did not say, delete notes.txt",
        "ich habe nicht gesagt, dass du notes.txt löschen sollst",
        "no lo he dicho, que borres notes.txt",
        "not yet, delete it later",
        "not only the PDFs but the zips too",
        "no, it is not Bills, it is Bill 2",
    ],
)
def test_what_says_more_stays(text: str) -> None:
    assert owned(text) == text
