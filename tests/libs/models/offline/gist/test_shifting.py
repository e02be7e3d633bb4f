"""Dates, numbers and words that stand otherwise in names, where no name is shown as it shall be."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Offered, alike

pytestmark = pytest.mark.requirement("S4-44", "S4-59")
DATED = ("Bills/Bill Weir 14-03-2026.pdf", "Bills/Bill Le Mans 21-12-2025.pdf", "Bills/Bill Okoro 03-03-2026.pdf")
FITTINGS = ("Hats/Brim Huber.txt", "Hats/Brim Demir.txt", "Hats/Brim Frau Mayr.txt")
TAKES = ("Takes/take 1.wav", "Takes/take 2.wav", "Takes/take 10.wav")
PATHS = (*DATED, *FITTINGS, *TAKES, "Bills/rates.txt", "Hats/addresses.txt", "Takes/take list.txt", "plans.pdf")


@pytest.mark.parametrize(
    "text",
    [
        "I just want the names changed so the date comes first, year then month then day",
        "could the bills begin with the date, and the year first in it",
        "in Bills soll das Datum nach vorne, Jahr zuerst, dann Monat und Tag",
        "en Bills la fecha delante y al revés, año mes día, para que salgan en orden",
    ],
)
async def test_dates_are_turned_and_put_in_front(renamed: Offered, text: str) -> None:
    told = await renamed(text, PATHS)
    rule = {"shape": "{text} {day}-{month}-{year}", "becomes": "{year}-{month}-{day} {text}"}
    assert told == alike(DATED, rule)


@pytest.mark.parametrize(
    "text",
    [
        "turn the dates in the bills round so the year is first",
        "bei den Bills die Daten umdrehen, Jahr zuerst",
        "dale la vuelta a las fechas de Bills, que el año vaya primero",
    ],
)
async def test_or_where_they_are(renamed: Offered, text: str) -> None:
    told = await renamed(text, PATHS)
    assert {rule["becomes"] for rule in told.values()} <= {"{text} {year}-{month}-{day}", "{year}-{month}-{day} {text}"}
    assert {*told} == {*DATED}


async def test_a_day_in_the_second_place_tells_how_all_dates_are_written(renamed: Offered) -> None:
    paths = ("vet 3-14-26.pdf", "vet 4-02-26.pdf", "vet 9-08-25.pdf")
    told = await renamed("vet bill dates year first please so they sort", paths)
    assert told == alike(paths, {"shape": "{text} {month}-{day}-{year}", "becomes": "{text} {year}-{month}-{day}"})


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("all the wavs in Takes, number with 3 digits", 3),
        ("the takes need leading zeros so they sort properly", 2),
        ("die takes bitte dreistellig durchnummeriert lassen, nur mit Nullen davor", 3),
        ("a los takes ponles ceros delante", 2),
        ("los takes con 4 cifras", 4),
    ],
)
async def test_numbers_get_leading_noughts(renamed: Offered, text: str, digits: int) -> None:
    short = [path for path in TAKES if len(path.split()[1].removesuffix(".wav")) < digits]
    told = await renamed(text, PATHS)
    assert told == alike(short, {"shape": "{text} {number}", "becomes": f"{{text}} {{number:{digits}}}"})


@pytest.mark.parametrize(
    "text",
    [
        "in Hats put the customer first please",
        "rename the Brim files, the surname should be in front and Brim at the end",
        "die Brim Dateien umbenennen, der Name von der Kundin soll vorne stehen und Brim hinten",
        "bei den Brim Dateien hätt ich gern die Kundin vorne",
        "los de Brim con el cliente primero",
    ],
)
async def test_what_names_share_makes_room_for_whose_they_are(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == alike(FITTINGS, {"shape": "Brim {text}", "becomes": "{text} Brim"})


@pytest.mark.parametrize(
    "text",
    [
        "who of my customers comes first, Huber or Demir",
        "first put the Brim files into Bills",
        "the last date of the bills was in March",
    ],
)
async def test_first_and_last_alone_turn_nothing(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == {}


@pytest.mark.parametrize(
    ("paths", "text", "rule"),
    [
        (
            ("Cuts/Tree.tif", "Cuts/Cow.tif"),
            "Bei den Cuts möchte ich vor jedem Namen meine Initialen, also zum Beispiel AR_Tree.tif",
            {"prefix": "AR_"},
        ),
        (
            ("LOUD PRICES.txt", "MAP OF TOWN.pdf", "quiet.txt"),
            "LOUD PRICES should be Loud prices, and the others like that",
            {"case": "sentence"},
        ),
        (
            ("soundtrack_a.wav", "soundtrack_b.wav"),
            "soundtrack is too long a word, write just sound in the names",
            {"find": "soundtrack", "replace": "sound"},
        ),
    ],
)
async def test_what_is_shown_or_too_long_is_written_otherwise(
    renamed: Offered, paths: tuple[str, ...], text: str, rule: dict[str, str]
) -> None:
    assert await renamed(text, paths) == alike([path for path in paths if path != "quiet.txt"], rule)


async def test_letters_that_an_old_computer_cannot_read_become_plain(renamed: Offered) -> None:
    told = await renamed(
        "my old pc can not read letters like ē ā in file names, change to normal e a", ("pļava ē.txt",)
    )
    assert told == {"pļava ē.txt": {"new_name": "plava e.txt"}}
