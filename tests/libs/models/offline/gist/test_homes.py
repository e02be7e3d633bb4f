"""A folder that nobody has named is called after what goes in; like a kind of files one may be called, too."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Placed

pytestmark = pytest.mark.requirement("S4-44", "S4-46")
DESK = ("Rechnung 1.pdf", "Rechnung 2.pdf", "urlaub.jpg", "strand.jpg", "notes.txt")
PHOTOS, BILLS = ("strand.jpg", "urlaub.jpg"), ("Rechnung 1.pdf", "Rechnung 2.pdf")


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("put the pdfs in a folder", "PDFs"),
        ("tu die rechnungen in einen ordner", "Rechnungen"),
        ("mete las fotos en una carpeta", "Fotos"),
        ("leg einen Ordner an für die Fotos", "Fotos"),
        ("crea una carpeta para las fotos", "Fotos"),
        ("pack die Fotos in Bilder", "Bilder"),
        ("put the photos in Pictures", "Pictures"),
    ],
)
async def test_its_name_is_that_of_what_goes_in(placed: Placed, text: str, folder: str) -> None:
    ((goal, _),) = await placed(text, DESK)
    assert goal == folder


@pytest.mark.parametrize(
    "text", ["delete the photos in a folder", "find the photos in a folder", "zip the photos in a folder"]
)
async def test_only_what_is_moved_gets_one(placed: Placed, text: str) -> None:
    assert await placed(text, DESK) == []


LETTERS, PATTERNS = ("letter bins.docx", "letter roof.docx"), ("pattern socks.pdf", "pattern hat.pdf")
NOTES = ("albarán 1.pdf", "albarán 2.pdf")
BRIEFE = ("brief dach.docx", "brief strom.docx")
HOME = (*LETTERS, *PATTERNS, *NOTES, *BRIEFE, "bauplan.pdf", "me.jpg", "tree.jpg")


@pytest.mark.parametrize(
    ("text", "folder", "files"),
    [
        ("I'd like all my letters kept together", "Letters", LETTERS),
        ("I want all the pattern stuff in one place", "Pattern", PATTERNS),
        ("can you put all the letters together somewhere", "Letters", LETTERS),
        ("gather up the letters", "Letters", LETTERS),
        ("ich hätte die letter gern alle zusammen", "Letter", LETTERS),
        ("sammel mal alle letter", "Letter", LETTERS),
        ("pon los albaranes juntos", "Albaranes", NOTES),
        ("put the letters in a folder, the bauplan too", "Letters", (*LETTERS, "bauplan.pdf")),
        ("kannst du mir die Briefe in einen Ordner packen, den Bauplan auch", "Briefe", (*BRIEFE, "bauplan.pdf")),
    ],
)
async def test_what_is_wanted_together_goes_into_a_folder_of_its_own(
    placed: Placed, text: str, folder: str, files: tuple[str, ...]
) -> None:
    ((goal, told),) = await placed(text, HOME)
    assert (goal, sorted(told)) == (folder, sorted(files))


@pytest.mark.parametrize(
    "text", ["i want to keep it all together", "keep the letters", "put letter bins with letter roof"]
)
async def test_nothing_goes_anywhere_where_nobody_said_what(placed: Placed, text: str) -> None:
    assert await placed(text, HOME) == []
