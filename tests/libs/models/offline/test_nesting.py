"""A folder within a folder is one place, and the copy of a file is a file, however they are said."""

from __future__ import annotations

import pytest

from libs.models.offline.clauses import Named
from libs.models.offline.reading import read

KNOWN = ("Docs", "Trips", "plan.txt", "map.png", "map copy.png")


def named(text: str) -> list[str]:
    items = [item for clause in read(text, KNOWN).clauses for item in clause.items]
    return [item.text for item in items if isinstance(item, Named)]


@pytest.mark.parametrize(
    "text",
    [
        "make a subfolder of Docs called Old",
        "a folder Old inside Docs",
        "erstelle einen Unterordner von Docs namens Old",
        "crea una carpeta llamada Old dentro de Docs",
    ],
)
def test_a_folder_within_a_folder_is_one_place(text: str) -> None:
    assert named(text) == ["Docs/Old"]


@pytest.mark.parametrize(
    "text",
    [
        "what is in edited of Fair One",
        "zip the edited folder in Fair One",
        "zippe edited in Fair One",
        "cambia a por b en edited de Fair One",
    ],
)
def test_folders_of_one_name_are_told_apart_by_where_they_are(text: str) -> None:
    known = ("Fair One/", "Fair Two/", "Fair One/edited", "Fair Two/edited", "Fair One/edited/a 1.jpg")
    names = [name.text for clause in read(text, known).clauses for name in clause.names]
    assert names == ["Fair One/edited"]


def test_a_folder_that_is_there_is_not_made_within_another() -> None:
    assert named("move the folder Trips under Docs") == ["Trips", "Docs"]


@pytest.mark.parametrize(
    "text", ["delete the copy of map.png", "lösch die Kopie von map.png", "borra la copia de map.png"]
)
def test_the_copy_of_a_file_is_the_file_that_is_called_so(text: str) -> None:
    assert named(text) == ["map copy.png"]
