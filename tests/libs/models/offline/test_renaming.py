"""What is told of names and then wished of them is a rule or a new name; what is told of files is none."""

from __future__ import annotations

import pytest

from libs.models.offline.reading import read
from libs.models.offline.styling import style

KNOWN = (
    "Docs/a_v1.txt",
    "Docs/b_v1.txt",
    "Pics/IMG_1.jpg",
    "Pics/IMG_2.jpg",
    "plan.txt",
    "medcine list.txt",
    "KV 2024.pdf",
)


def rules(text: str) -> list[dict[str, str | int | bool]]:
    reading = read(text, KNOWN)
    return [found.args for clause in reading.clauses if (found := style(clause, reading.plain))]


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    "text",
    [
        "the files in Docs all end in _v1, lose that bit",
        "all the names in Docs end with _v1, please get rid of that",
        "everything in Docs ends in _v1. take it off",
        "the files in Docs have _v1 at the end, can you remove that part",
        "take the _v1 off the end of the files in Docs",
        "die Dateien in Docs enden alle auf _v1, das soll weg",
        "die Dateien in Docs hören alle mit _v1 auf, mach das weg",
        "los archivos de Docs terminan todos en _v1, quítalo",
        "remove _v1 from Docs",
    ],
)
def test_what_names_are_told_to_have_is_taken_out_of_them(text: str) -> None:
    assert rules(text) == [{"find_text": "_v1", "replace_text": ""}]


@pytest.mark.parametrize(
    "text",
    [
        "the files in Docs end in _v1, delete them",
        "everything in Docs ends in _v1, delete it",
        "the files that end in _v1, remove it",
        "die Dateien in Docs enden auf _v1, die sollen weg",
        "los archivos de Docs terminan en _v1, bórralos",
        "which files end in _v1?",
    ],
)
def test_files_that_are_told_to_have_it_are_not_renamed(text: str) -> None:
    clauses = read(text, KNOWN).clauses
    assert not any(clause.says("name") and clause.says("remove") for clause in clauses)


@pytest.mark.parametrize(
    "text",
    [
        "replace KV with Q in the file names in Docs",
        "change KV to Q in the names in folder Docs",
        "in Docs, turn KV into Q in the names",
        "Ersetzen Sie in den Dateinamen im Ordner Docs und in seinen Unterordnern KV durch Q",
        "Im Ordner Docs soll KV in den Dateinamen durch Q ersetzt werden",
        "cambia KV por Q en los nombres de Docs",
    ],
)
def test_short_texts_in_capitals_are_texts_and_no_files(text: str) -> None:
    assert rules(text) == [{"find_text": "KV", "replace_text": "Q"}]


@pytest.mark.parametrize(
    "text",
    [
        "my photos have names like IMG_1. I want them to be Trip 1, Trip 2, …",
        "the pictures in Pics are called things like IMG_1, rename them to Trip 1, Trip 2 etc.",
        "All my pictures have stupid names like IMG_1.jpg, call them Trip 1, Trip 2 etc",
        "Meine Fotos heißen so wie IMG_1. Sie sollen Trip 1, Trip 2 usw. heißen",
        "mis fotos tienen nombres como IMG_1. Quiero que se llamen Trip 1, Trip 2, etc.",
    ],
)
def test_a_name_that_is_told_for_example_is_not_the_file_that_is_meant(text: str) -> None:
    assert rules(text) == [{"base": "Trip", "digits": 1}]
    assert all(
        name.text == "Trip" or name.text == "Pics" for clause in read(text, KNOWN).clauses for name in clause.names
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("the names in Docs are all caps, make them normal", {"case": "title"}),
        ("die Namen in Docs sind alle großgeschrieben, mach sie normal", {"case": "title"}),
        ("get rid of the date in front of the names", {"written": "out"}),
        ("das Datum vorne in den Namen soll weg", {"written": "out"}),
        ("put the year first in the names in Docs", {"written": "first"}),
        ("pon el año delante en los nombres", {"written": "first"}),
        ("put the year at the end of the names", {"written": "last"}),
        ("put the date in front of the names in Docs", {"dated": True}),
        ("put 2024 in front of the names in Docs", {"prefix": "2024 "}),
        ("prefix everything in Docs with the folder's name", {"prefix": "Docs "}),
        ("Setzen Sie vor alle Dateien in Docs den Ordnernamen", {"prefix": "Docs "}),
        ("put the folder name at the end of the names in Docs", {"suffix": " Docs"}),
        ("no spaces please in the file names in Docs", {"find_text": " ", "replace_text": ""}),
        ("use underscores instead of spaces in Docs", {"find_text": " ", "replace_text": "_"}),
    ],
)
def test_a_rule_may_be_told_in_many_ways(text: str, rule: dict[str, str]) -> None:
    assert rules(text) == [rule]


@pytest.mark.parametrize("text", ["number the photos in Pics by date", "numera las fotos de Pics por fecha"])
def test_an_order_is_no_name(text: str) -> None:
    assert rules(text) == []


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("the new name of plan.txt is Old plan", "Old plan"),
        ("plan.txt: new name Old plan", "Old plan"),
        ("change the name plan.txt to Old plan", "Old plan"),
        ("plan.txt is called wrong, it should be Old plan", "Old plan"),
        ("plan.txt: Der neue Name lautet Alter Plan", "Alter Plan"),
        ("Benennen Sie plan.txt um. Neuer Name ist Alter Plan", "Alter Plan"),
        ("plan.txt heißt ab jetzt Alter Plan", "Alter Plan"),
        ("cambiale el nombre a plan.txt y ponle Viejo plan", "Viejo plan"),
        ("plan.txt se tiene que llamar Viejo plan", "Viejo plan"),
        ("I spelled medicine wrong on my medcine list", "medicine list"),
    ],
)
def test_one_thing_gets_the_name_that_is_told(text: str, new: str) -> None:
    (clause,) = read(text, KNOWN).clauses
    assert clause.says("rename")
    assert [name.text for name in clause.names] == ["medcine list.txt" if "med" in text else "plan.txt", new]


@pytest.mark.parametrize(
    "text",
    ["I wrote medicine notes yesterday, find them", "where did I write medicine", "is plan.txt now called that?"],
)
def test_what_somebody_wrote_is_no_slip_to_be_mended(text: str) -> None:
    assert not any(clause.says("rename") and len(clause.names) > 1 for clause in read(text, KNOWN).clauses)


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "los nombres de Docs no deben tener espacios, pon guiones bajos en su lugar",
            {"find_text": " ", "replace_text": "_"},
        ),
        (
            "in Docs the files have those underscores in the names, I'd rather have spaces",
            {"find_text": "_", "replace_text": " "},
        ),
        ("put the date in front of the names in Pics, like 2024-05-03 IMG_1", {"dated": True}),
        (
            "they don't know what is oferta. change it to quote in the file names",
            {"find_text": "oferta", "replace_text": "quote"},
        ),
        (
            "rename files with oferta, put quote and not oferta",
            {"find_text": "oferta", "replace_text": "quote"},
        ),
        ("ersetze in Docs vorne RE durch Rechnung", {"find_text": "RE", "replace_text": "Rechnung"}),
        ("change it to quote in the names", {}),
    ],
)
def test_what_shall_not_stand_in_names_tells_the_rule(text: str, rule: dict[str, str]) -> None:
    assert rules(text) == [rule] * bool(rule)


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    "text",
    [
        "ersetze in Docs vorne RE und Rg durch Rechnung",
        "bei Docs steht vorn mal RE mal Rg, mach da überall Rechnung draus",
    ],
)
def test_two_texts_that_become_the_same_are_two_rules(text: str) -> None:
    assert [rule["find_text"] for rule in rules(text)] == ["RE", "Rg"]
