"""How a request is cut into what is asked, forbidden and spared."""

from __future__ import annotations

import pytest

from libs.models.offline.clauses import Clause, Mood, Named
from libs.models.offline.goals import wanted
from libs.models.offline.ground import Ground
from libs.models.offline.reading import read
from libs.models.offline.selection import select
from libs.skills import Categories

NAMES = ("a.txt", "b.png", "song.mp3", "one.pdf", "bank letter.txt", "bank card.jpg", "love letter.txt", "Docs")


def asked(text: str) -> list[Clause]:
    return wanted(read(text, NAMES))


@pytest.mark.parametrize(
    "text",
    [
        "- a.txt: delete\n- b.png: into Docs\n",
        "1) a.txt gone 2) b.png into Docs",
        "a.txt: delete. b.png to Docs",
        "first a.txt to Old, then b.png to Docs",
    ],
)
def test_each_entry_of_a_list_is_a_wish_of_its_own(text: str) -> None:
    assert [next(name.text for name in clause.names) for clause in asked(text)] == ["a.txt", "b.png"]


@pytest.mark.parametrize("text", ["delete not the images but the music", "lösch nicht die Bilder, sondern die Musik"])
def test_what_comes_after_but_gets_the_deed(text: str) -> None:
    clauses = read(text, NAMES).clauses
    assert [(clause.mood, clause.says("audio")) for clause in clauses] == [(Mood.SPARE, False), (Mood.DO, True)]


@pytest.mark.parametrize("text", ["alle Fotos löschen", "delete all the Fotos", "borra todas las Fotos"])
def test_all_of_a_kind_is_no_folder_of_that_name(text: str) -> None:
    clauses = read(text, (*NAMES, "Fotos")).clauses
    assert [(clause.names, clause.says("images")) for clause in clauses] == [((), True)]


def test_two_negations_are_a_deed() -> None:
    (clause,) = asked("don't leave any tmp files lying around")
    assert clause.says("remove")


def test_next_to_a_file_is_into_its_folder() -> None:
    (clause,) = wanted(read("put a.txt next to vocals.wav", (*NAMES, "Stems/vocals.wav")))
    assert [item.text for item in clause.items if isinstance(item, Named)] == ["a.txt", "Stems"]


@pytest.mark.parametrize(
    ("text", "picked"),
    [
        ("delete the bank letters", {"bank letter.txt"}),
        ("delete the letters", {"bank letter.txt", "love letter.txt"}),
        ("delete song.mp3 and the pdfs", {"*.pdf", "song.mp3"}),
    ],
)
def test_words_of_names_narrow_each_other_and_a_list_adds(text: str, picked: set[str]) -> None:
    ground = Ground.of("/w", {"names": [*NAMES[:-1], "Docs/"]})
    (clause,) = asked(text)
    assert {*select(clause, ground, Categories({})).patterns} == picked


@pytest.mark.parametrize(
    "text",
    [
        "ich möchte nicht, dass du a.txt nach Docs verschiebst",
        "ich habe nicht gesagt, dass du a.txt löschen sollst",
        "I do not want that a.txt is deleted",
        "no quiero que borres a.txt",
        "I don't want to delete a.txt",
    ],
)
def test_what_somebody_does_not_want_is_not_asked_for(text: str) -> None:
    assert not any(clause.mood is Mood.DO and clause.acts for clause in read(text, NAMES).clauses)


@pytest.mark.parametrize("text", ["unzip a.zip and leave the zip where it is", "entpacke a.zip, behalte das Zip aber"])
def test_an_archive_that_is_unpacked_stays_anyway(text: str) -> None:
    (clause,) = read(text, ("a.zip",)).clauses
    assert clause.says("unpack")


@pytest.mark.parametrize(
    "text",
    [
        "move a.txt and b.txt into a new folder called Stuff",
        "verschiebe a.txt und b.txt in einen neuen Ordner Kram",
        "mueve a.txt y b.txt a una carpeta nueva llamada Cosas",
    ],
)
def test_the_new_of_a_place_is_no_deed(text: str) -> None:
    (clause,) = read(text, ("a.txt", "b.txt")).clauses
    assert [name.text for name in clause.names][:2] == ["a.txt", "b.txt"]


def test_what_limits_a_wish_is_no_part_of_a_new_name() -> None:
    first, spared = read("put the lists in a new folder called Old prices except the 2024 ones").clauses
    assert [name.text for name in first.names] == ["Old prices"]
    assert spared.mood is Mood.SPARE


@pytest.mark.requirement("S4-44")
@pytest.mark.parametrize(
    "text",
    [
        "que no borres copo.jpg",
        "a ninguna carpeta, que no borres copo.jpg",
        "por favor, que no se borre copo.jpg",
        "¡que no muevas copo.jpg!",
    ],
)
def test_a_que_before_a_no_takes_nothing_of_it(text: str) -> None:
    clauses = read(text, ["copo.jpg"]).clauses
    assert not any(clause.mood is Mood.DO and clause.says("remove", "move") for clause in clauses)
