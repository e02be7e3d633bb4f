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


@pytest.mark.parametrize(
    "text",
    [
        "rename IMG_*.jpg to Pond_*.jpg",
        "in den Namen: IMG_ -> Pond_",
        "rename the *.jpg files: put Pond_ instead of IMG_",
        "statt IMG_ soll Pond_ vorne in den Namen stehen",
        "cambia IMG_ por Pond_ en los nombres",
        "tausche in den Namen IMG_ gegen Pond_",
        "tausche IMG_ gegen Pond_ in allen Namen",
        "swap IMG_ for Pond_ in the names",
    ],
)
def test_one_text_takes_the_place_of_another(text: str) -> None:
    clauses = read(text, KNOWN).clauses
    assert {"find_text": "IMG_", "replace_text": "Pond_"} in [style(clause, text).args for clause in clauses]


@pytest.mark.parametrize(
    "text",
    [
        "rename the jpgs to pond_001.jpg, pond_002.jpg and so on",
        "number the jpgs as pond_001.jpg",
        "rename every jpg to pond_ plus a number with three digits, starting at 001",
        "benenne die jpgs um in pond_ und eine dreistellige Nummer",
        "renombra los jpg a pond_ más un número de tres cifras",
    ],
)
def test_a_base_and_its_digits_may_be_said_in_words(text: str) -> None:
    (clause,) = read(text, KNOWN).clauses
    assert style(clause, text).args == {"base": "pond_", "digits": 3}


@pytest.mark.parametrize("text", ["rename IMG_*.jpg to Pond_*.png", "move a*.txt to Docs"])
def test_a_star_for_which_no_one_rule_stands_is_no_rule(text: str) -> None:
    (clause,) = read(text, KNOWN).clauses
    assert not style(clause, text)


@pytest.mark.parametrize(
    "text",
    [
        "remove the word IMG from the names",
        "remove IMG from the start of the names",
        "entferne das Wort IMG am Anfang der Namen",
        "quite la palabra IMG del principio de los nombres",
    ],
)
def test_a_text_is_taken_out_of_the_names(text: str) -> None:
    (clause,) = read(text, KNOWN).clauses
    assert style(clause, text).args == {"find_text": "IMG", "replace_text": ""}
