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
