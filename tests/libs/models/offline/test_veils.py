"""Names of several words: what is there wins over grammar, and a new one goes to the end of its clause."""

from __future__ import annotations

import pytest

from libs.models.offline.clauses import Mood, Name
from libs.models.offline.ground import Ground
from libs.models.offline.reading import read

PATHS = (
    "Letter to Dr Patel.docx",
    "list and move.txt",
    "accounts.csv",
    "Weddings/Copy of accounts.csv",
    "Weddings/Hale and Moreno/my notes.txt",
    "Weddings/Hale and Moreno/DSC_1.jpg",
    "Weddings/June/my notes.txt",
    "Biologie/Klasse 6/Test Frösche LÖSUNG.txt",
)
TOPS = ("Letter to Dr Patel.docx", "list and move.txt", "accounts.csv", "new folder/", "Weddings/", "Biologie/")
GROUND = Ground.of("/home/u/D", {"names": TOPS, "paths": PATHS})


def named(text: str) -> list[str]:
    return [name.text for clause in read(text, GROUND.spoken).clauses for name in clause.names]


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("rename accounts to accounts of June", ["accounts of June"]),
        ("rename the file accounts.csv to Letter to Dr Patel old, please", ["Letter to Dr Patel old"]),
        ("benenne accounts in Klasse 6 alt um", ["Klasse 6 alt"]),
        ("Benennen Sie bitte die Datei accounts in den Weddings in Konten 2020 um.", ["Konten 2020"]),
        ("accounts soll Konten 2020 heißen", ["Konten 2020"]),
        ("renombra accounts a cuentas 2020 y list and move.txt a lista 2", ["cuentas 2020", "lista 2"]),
        ("scan is the gardener's bill, call it Gardener bill 2020", ["Gardener bill 2020"]),
        ("rename accounts to something and zip Weddings", []),
    ],
)
def test_a_new_name_may_hold_the_old_one_and_any_other(text: str, new: list[str]) -> None:
    names = [name for clause in read(text, GROUND.spoken).clauses for name in clause.names]
    assert [name.text for name in names if name.kind is Name.QUOTE] == new


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("what is in Weddings/Hale and Moreno?", ["Weddings/Hale and Moreno"]),
        ("zip hale and moreno", ["Weddings/Hale and Moreno"]),
        ("delete list and move.txt", ["list and move.txt"]),
        ("delete the letter to dr patel", ["Letter to Dr Patel.docx"]),
        ("lösche KLASSE 6/Test Frosche Losung.txt", ["Biologie/Klasse 6/Test Frösche LÖSUNG.txt"]),
        ("delete Hale and Moreno/*.jpg", ["Weddings/Hale and Moreno/*.jpg"]),
        ('delete "Weddings/Copy of accounts.csv"', ["Weddings/Copy of accounts.csv"]),
        ("zip Hale and Moreno into Hale and Moreno.zip", ["Weddings/Hale and Moreno", "Hale and Moreno.zip"]),
        ("borra Weddings/Hale and Moreno/my notes.txt", ["Weddings/Hale and Moreno/my notes.txt"]),
    ],
)
def test_a_name_that_is_there_is_one_whatever_its_words_mean(text: str, names: list[str]) -> None:
    assert named(text) == names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rename accounts.csv to my accounts 2021.csv.", "my accounts 2021.csv"),
        ("put Hale and Moreno into a zip file called Weddings for Anne?", "Weddings for Anne"),
        ("zip Hale and Moreno and call it Weddings for Anne.zip", "Weddings for Anne.zip"),
        ("zippe Hale and Moreno und nenn es Weddings für Anne", "Weddings für Anne"),
        ("rename the photos in Klasse 6 to Klasse 6 01, 02 etc.", "Biologie/Klasse 6"),
    ],
)
def test_a_new_name_ends_before_the_sentence_does(text: str, name: str) -> None:
    assert named(text)[-1] == name


def test_of_several_files_of_one_name_none_is_chosen() -> None:
    assert named("delete my notes.txt") == ["my notes.txt"]


def test_a_new_folder_within_one_that_is_there_is_one_path() -> None:
    assert named("move accounts.csv to Hale and Moreno/Tom")[1] == "Weddings/Hale and Moreno/Tom"


def test_a_name_that_goes_on_is_another() -> None:
    assert "Letter to Dr Patel.docx" not in named("rename accounts.csv to Letter to Dr Patel 2.docx")


def test_plain_words_are_no_name_because_a_folder_is_called_so() -> None:
    (clause,) = read("make a new folder for the photos", GROUND.spoken).clauses
    assert clause.names == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("copy accounts.csv to For the Hales", "For the Hales"),
        ("copy accounts.csv to a new folder called For the Hales, please", "For the Hales"),
        ("move accounts.csv into bills 2021", "bills 2021"),
        ("move accounts.csv to Clients/Okafor and Sons", "Clients/Okafor and Sons"),
        ("verschiebe accounts.csv nach Eltern und Briefe", "Eltern und Briefe"),
        ("leg accounts.csv in einen Ordner namens Eltern und Briefe", "Eltern und Briefe"),
        ("mueve accounts.csv a una carpeta Papeles de casa", "Papeles de casa"),
        ("zip accounts.csv to this and that.zip", "this and that.zip"),
    ],
)
def test_a_new_name_goes_to_the_end_of_its_clause(text: str, name: str) -> None:
    assert named(text)[-1] == name


@pytest.mark.parametrize(
    "text",
    [
        "move accounts.csv to Weddings and delete list and move.txt",
        "verschieb nach Fotos die Bilder",
        "mueve a Recibos los PDF que tengan gas en el nombre",
        "copy accounts.csv to Docs that are new",
    ],
)
def test_what_comes_after_a_place_is_no_part_of_its_name(text: str) -> None:
    assert not any(name.startswith(("Weddings ", "Fotos ", "Recibos ", "Docs ")) for name in named(text))


def test_an_exception_keeps_its_own_names_and_gives_back_the_end() -> None:
    text = "copy all of Hale and Moreno except DSC_1.jpg and my notes.txt into a folder For the Hales"
    moods = {clause.mood: [name.text for name in clause.names] for clause in read(text, GROUND.spoken).clauses}
    assert moods == {
        Mood.DO: ["Weddings/Hale and Moreno", "For the Hales"],
        Mood.SPARE: ["Weddings/Hale and Moreno/DSC_1.jpg", "my notes.txt"],
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("create a folder For the Hales in Weddings", "For the Hales"),
        ("rename accounts.csv to old list of things", "old list of things"),
        ("benenne accounts.csv in alte Liste um", "alte Liste"),
        ("duplicate Hale and Moreno as Hale and Moreno backup", "Hale and Moreno backup"),
        ("dupliziere Klasse 6 als Klasse 6 Kopie", "Klasse 6 Kopie"),
    ],
)
def test_a_new_name_may_hold_any_words_and_begin_like_one_that_is_there(text: str, name: str) -> None:
    assert any(said.endswith(name) for said in named(text))
