"""What is put onto names is the text that is meant, with its signs, and never the folder that they are in."""

from __future__ import annotations

import pytest

from libs.models.offline.clauses import Name
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
        ("append Docs to the names of the pdfs", " Docs"),
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
        "change img to Pond in the names in Docs, so img 1 becomes Pond 1",
        "in the Docs folder change img to Pond in the names, for example img 1 would be Pond 1.",
        "ersetze img durch Pond in den Namen in Docs, also wird aus img 1 Pond 1",
        "ersetze img durch Pond in den Namen in Docs, z. B. wird img 1 zu Pond 1",
        "en Docs cambia img por Pond en los nombres, así img 1 pasa a ser Pond 1",
    ],
)
def test_an_example_that_follows_the_rule_asks_for_nothing_more(text: str) -> None:
    (clause,) = read(text, (*KNOWN, "Docs/img 1.txt")).clauses
    assert style(clause, text).args == {"find_text": "img", "replace_text": "Pond"}
    assert [name.text for name in clause.names if name.kind is Name.PATH] == ["Docs"]


def test_an_example_that_does_not_follow_the_rule_is_not_left_out() -> None:
    text = "change img to Pond in the names in Docs, so img 1 becomes Lake 9"
    assert "Docs/img 1.txt" in [
        name.text for one in read(text, (*KNOWN, "Docs/img 1.txt")).clauses for name in one.names
    ]


@pytest.mark.parametrize(
    "text",
    [
        "quítale el (1) a las fotos",
        "quita (1) de los nombres en Docs",
        "remove the (1) from the photos in Docs",
        "take the text (1) out of the picture names",
        "entferne das (1) aus den Namen in Docs",
    ],
)
def test_what_is_taken_off_files_is_taken_out_of_their_names(text: str) -> None:
    (clause,) = read(text, KNOWN).clauses
    assert clause.says("name")
    assert style(clause, text).args == {"find_text": "(1)", "replace_text": ""}


@pytest.mark.parametrize("text", ["borra las fotos (1)", "delete the (1) files in Docs", "zip the photos (1)"])
def test_files_with_a_number_in_brackets_are_those_and_no_others(text: str) -> None:
    assert "*(1)*" in [name.text for clause in read(text, KNOWN).clauses for name in clause.names]


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("rename the jpgs to Pond 2024 001, Pond 2024 002 and so on", "Pond 2024"),
        ("benenne die jpgs um in Pond 2024 001 und so weiter", "Pond 2024"),
        ("the jpgs should be called Pond 001, Pond 002 and so on", "Pond"),
        ("Die Bilder in Docs sollen Pond 2024 001, Pond 2024 002 usw. heißen", "Pond 2024"),
        ("las fotos de Docs deben llamarse Pond 001, Pond 002...", "Pond"),
    ],
)
def test_what_counts_is_the_last_number_and_a_year_is_part_of_the_name(text: str, base: str) -> None:
    (clause,) = read(text, KNOWN).clauses
    assert style(clause, text).args == {"base": base, "digits": 3}


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
