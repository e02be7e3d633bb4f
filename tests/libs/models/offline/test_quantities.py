"""Counts, orders and emptiness, read from a clause."""

from __future__ import annotations

import pytest

from libs.models.offline.clauses import Clause
from libs.models.offline.quantities import counted, emptiness, most, ranking, singles
from libs.models.offline.reading import read


def clause(text: str) -> Clause:
    return read(text).clauses[0]


@pytest.mark.parametrize(
    ("text", "order", "number"),
    [
        ("the five largest files", "largest", 5),
        ("die 3 neuesten Bilder", "newest", 3),
        ("las 10 fotos más grandes", "largest", 10),
        ("the oldest file", "oldest", 1),
        ("die größte Datei", "largest", 1),
        ("el archivo más grande", "largest", 1),
        ("the largest files", "largest", None),
        ("the two smallest pdfs", "smallest", 2),
    ],
)
def test_the_first_so_many_in_an_order(text: str, order: str, number: int | None) -> None:
    assert (ranking(clause(text)), most(clause(text))) == (order, number)


@pytest.mark.parametrize("text", ["remove duplicates, keep the newest", "keep the originals"])
def test_which_copy_to_keep_is_no_order(text: str) -> None:
    assert all(ranking(part) is None or not part.says("keep") for part in read(text).clauses)


@pytest.mark.parametrize("text", ["delete the empty files", "lösche leere Ordner", "borra los archivos vacíos"])
def test_empty_is_a_choice_before_files(text: str) -> None:
    assert emptiness(clause(text)) is True


@pytest.mark.parametrize("text", ["empty the inbox", "leere den Ordner inbox", "create an empty folder"])
def test_to_empty_something_chooses_nothing(text: str) -> None:
    assert emptiness(clause(text)) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [("delete the photo", 1), ("borra la foto", 1), ("die mp3 und die mp4", 2), ("the exe files", 0)],
)
def test_a_single_thing_of_a_kind_is_told_from_the_kind(text: str, number: int) -> None:
    assert singles(clause(text)) == number


@pytest.mark.parametrize(
    ("said", "told"),
    [("move the three pdfs", 3), ("borra las dos fotos", 2), ("delete two of the pdfs", 2), ("delete a pdf", None)],
)
def test_a_number_that_is_said_is_held_against_the_files(said: str, told: int | None) -> None:
    assert counted(read(said).clauses[0]) == told
