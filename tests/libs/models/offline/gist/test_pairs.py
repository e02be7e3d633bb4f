"""Each sort to its own folder, all of them or none."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Placed

pytestmark = pytest.mark.requirement("S4-44")
SHOP = (
    "20261003.jpg",
    "Invoice Royal.txt",
    "Quote Marsh.txt",
    "to do.txt",
    "Photos/arch.jpg",
    "Invoices/Invoice Khan.txt",
    "Quotes/Quote Nunn.txt",
)
EACH = [("Photos", SHOP[:1]), ("Invoices", SHOP[1:2]), ("Quotes", SHOP[2:3])]


@pytest.mark.parametrize(
    "text",
    [
        "Please tidy the loose files away, photos to Photos, invoices to Invoices and quotes to Quotes, leave the rest",
        "the photos go in Photos. The invoice goes in Invoices and the quote in Quotes",
        "put what lies about where it belongs: pictures in Photos, invoices in Invoices, quotes in Quotes",
    ],
)
async def test_what_lies_loose_goes_where_its_like_is(placed: Placed, text: str) -> None:
    assert await placed(text, SHOP) == EACH


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ('newsletters from 2024 into "2024" please, and the ones from 2025 into "2025"', "2025"),
        ('die Newsletter von 2024 nach "2024" und die von 2025 bitte nach "2025"', "2025"),
    ],
)
async def test_the_second_is_of_what_the_first_is_of(placed: Placed, text: str, second: str) -> None:
    paths = ("Newsletter May 2024.txt", "Newsletter May 2025.txt", "Rules 2025.txt")
    assert await placed(text, paths) == [("2024", paths[:1]), (second, paths[1:2])]


TOUR = ("contract dublin.pdf", "poster dublin.png", "contract galway.pdf", "mix.wav")


@pytest.mark.parametrize(
    "text",
    [
        "everything for dublin in one folder, everything for galway in another",
        "alles von dublin in einen Ordner, alles von galway in einen anderen",
        "todo lo de dublin en una carpeta y lo de galway en otra",
    ],
)
async def test_one_folder_and_another_are_called_after_what_goes_in(placed: Placed, text: str) -> None:
    assert await placed(text, TOUR) == [("Dublin", TOUR[:2]), ("Galway", TOUR[2:3])]
