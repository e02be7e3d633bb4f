"""What is put onto names is the text that is meant, with its signs, and never the folder that they are in."""

from __future__ import annotations

import pytest

from libs.models.offline.reading import read
from libs.models.offline.styling import style

KNOWN = ("Docs", "Trips", "a.txt", "b.txt")


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("append -final to the pdf names in Docs", "-final"),
        ("append _old to the pdfs in the folder Trips", "_old"),
        ("tack _new onto the end of the names of the images in Trips", "_new"),
        ("häng an die Namen der Dateien im Ordner Docs -2024 an", "-2024"),
        ("häng an die Bilder in Docs hinten _neu dran", "_neu"),
        ("añade _x detrás de los nombres de los pdf de Docs", "_x"),
        ('append "Docs" to the names in Docs', "Docs"),
        ("append Docs to the names of the pdfs", "Docs"),
    ],
)
def test_the_suffix_is_what_is_put_on(text: str, suffix: str) -> None:
    (clause,) = read(text, KNOWN).clauses
    assert style(clause, text).args == {"suffix": suffix}
