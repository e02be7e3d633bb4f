"""A folder for each of several is offered, each with what is called like it."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Placed

pytestmark = pytest.mark.requirement("S4-44")
BILLS = (
    "bill 03 Weir.txt",
    "bill 05 Cafe Oslo.txt",
    "bill 14 Weir.txt",
    "offer_Cafe Oslo lamps.txt",
    "offer_Weir tap.txt",
    "offer_harbour office.txt",
)
WEIR = ("bill 03 Weir.txt", "bill 14 Weir.txt", "offer_Weir tap.txt")
OSLO = ("bill 05 Cafe Oslo.txt", "offer_Cafe Oslo lamps.txt")
SIZES = ("Sizes/Size Huber.txt", "Sizes/Size Mayr.txt", "notes.txt")


@pytest.mark.parametrize(
    "text",
    [
        "make me a folder for each customer (Weir and Cafe Oslo) and put their bills and offers in it",
        "two folders, Weir and Cafe Oslo, and everything of theirs goes into those",
        "mach je Kunde einen Ordner: Weir, Cafe Oslo, und da alles von denen rein",
        "hazme una carpeta x cliente (Weir y Cafe Oslo) y mete en cada una lo suyo",
    ],
)
async def test_a_member_of_the_list_may_have_two_words(placed: Placed, text: str) -> None:
    assert await placed(text, BILLS) == [("Weir", WEIR), ("Cafe Oslo", OSLO)]


async def test_without_a_list_what_is_left_of_the_names_is_one(placed: Placed) -> None:
    text = "please make a folder for each customer and put their size in it"
    assert await placed(text, SIZES) == [("Sizes/Huber", SIZES[:1]), ("Sizes/Mayr", SIZES[1:2])]


async def test_a_list_that_goes_into_one_folder_makes_no_others(placed: Placed) -> None:
    told = await placed("the bills and the offers, all of it wants to be in one folder really, Papers please", BILLS)
    assert [folder for folder, _ in told] in ([], ["Papers"])


BAND = ("Harbour - guitar.wav", "Harbour - vocals.wav", "Rain - drums.wav", "Rain - guitar.wav", "mix.wav", "plan.txt")


@pytest.mark.parametrize(
    "text",
    [
        "each song in its own folder",
        "every song should get its own folder",
        "jeder Song in einen eigenen Ordner",
        "cada canción en su propia carpeta",
        "sort the recordings by song",
        "organizame las grabaciones wav por canción, una carpeta pa cada una",
        "ordne die wav nach Song",
    ],
)
async def test_where_nothing_says_what_each_is_it_is_what_stands_before_a_dash(placed: Placed, text: str) -> None:
    assert await placed(text, BAND) == [("Harbour", BAND[:2]), ("Rain", BAND[2:4])]
