"""One name that is shown as it shall be says what becomes of all of its like."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Offered, alike

pytestmark = pytest.mark.requirement("S4-44", "S4-59")
DATED = ("Bills/Bill Weir 14-03-2026.pdf", "Bills/Bill Le Mans 21-12-2025.pdf", "Bills/Bill Okoro 03-03-2026.pdf")
FITTINGS = ("Hats/Brim Huber.txt", "Hats/Brim Demir.txt", "Hats/Brim Frau Mayr.txt")
TAKES = ("Takes/take 1.wav", "Takes/take 2.wav", "Takes/take 10.wav")
SHORT = ("presup_Ruiz tejado.txt", "presup_Vega.txt")
REST = ("Bills/rates.txt", "Hats/addresses.txt", "Takes/take list.txt", "plans.pdf", "Demir map.jpg")
PATHS = (*DATED, *FITTINGS, *TAKES, *SHORT, *REST)


@pytest.mark.parametrize(
    "text",
    [
        "In the Bills folder I'd like the day in front and the year first so they line up, like 2026-03-14 Bill Weir",
        "the bills never sort. each name should begin with its date, e.g. 2026-03-14 Bill Weir.pdf",
        "Bill Weir 14-03-2026 would be better as 2026-03-14 Bill Weir, and so on for every one in Bills",
        "im Ordner Bills hätt ich das Datum lieber vorn und andersrum, also 2026-03-14 Bill Weir, damits sortiert ist",
        "en Bills ponme la fecha delante con el año primero, tipo 2026-03-14 Bill Weir",
    ],
)
async def test_a_date_is_turned_and_goes_to_the_front_of_all(renamed: Offered, text: str) -> None:
    told = await renamed(text, PATHS)
    assert {*told} == {*DATED}
    assert {rule["becomes"].partition(" ")[0] for rule in told.values()} == {"{year}-{month}-{day}"}


@pytest.mark.parametrize(
    "text",
    [
        "in Hats I want the name first, so instead of Brim Huber rather Huber Brim, and the others likewise",
        "Brim Huber should be Huber Brim, Brim Demir should be Demir Brim and so on",
        "im Ordner Hats den Namen zuerst, also statt Brim Huber lieber Huber Brim, und bei den anderen genauso",
        "aus Brim Huber wird Huber Brim, aus Brim Demir wird Demir Brim und so weiter",
        "en Hats quiero el apellido delante, en vez de Brim Huber que sea Huber Brim, y los demás igual",
        "los de Hats al revés, por ejemplo Huber Brim",
    ],
)
async def test_parts_that_change_places_do_so_in_all_that_share_one(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == alike(FITTINGS, {"shape": "Brim {text}", "becomes": "{text} Brim"})


@pytest.mark.parametrize(
    "text",
    [
        "in Takes the wavs have numbers 1 2 3 ... 10, make it always 3 digits like take 001 so they sort good",
        "no, the word take must stay, only the number changes: take 001.wav take 002.wav",
        "take 1 should be take 001, take 2 should be take 002 and so on, all of them",
        "die takes brauchen immer drei Stellen, also take 001",
        "los takes con tres cifras, ej take 001",
    ],
)
async def test_a_number_that_is_shown_with_noughts_gets_them_in_all(renamed: Offered, text: str) -> None:
    told = await renamed(text, PATHS)
    assert {*told} == {*TAKES}
    assert all(rule["becomes"].endswith("{number:3}") for rule in told.values())


@pytest.mark.parametrize(
    "text",
    [
        "los q empiezan x presup_ cambialos a Presupuesto con un espacio, ej Presupuesto Ruiz tejado",
        "los nombres q tienen presup_ q pongan Presupuesto y un espacio en vez de eso",
        "cambia presup_ por Presupuesto en el nombre, con espacio detras",
        "the ones with presup_ should have Presupuesto and a space there, like Presupuesto Ruiz tejado",
        "statt presup_ soll da Presupuesto und ein Leerzeichen stehen",
    ],
)
async def test_a_text_with_its_sign_is_written_out(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == alike(SHORT, {"shape": "presup_{text}", "becomes": "Presupuesto {text}"})


@pytest.mark.parametrize(
    ("paths", "text", "shape", "becomes"),
    [
        (
            ("X/left upper.jpg", "X/left lower.jpg", "X/right upper.jpg", "X/right lower.jpg"),
            "upper left rather than left upper, all four of them please",
            "{word} {word2}",
            "{word2} {word}",
        ),
        (
            ("Harker 1841 census.pdf", "Harker 1851 census.pdf", "Dobson 1851 census.pdf"),
            "the census ones with the year first, like 1841 Harker census",
            "{text} {number} census",
            "{number} {text} census",
        ),
        (
            ("Vet 3-14-26.pdf", "Vet 4-02-26.pdf"),
            "the vet bills want the date turned, like 2026-03-14 Vet",
            "Vet {month}-{day}-{year}",
            "{year}-{month}-{day} Vet",
        ),
        (
            ("Nota 014 Bar Sol.pdf", "Nota 015 Pili.pdf", "Nota 016 Bar Sol.pdf"),
            "notas: el cliente primero, ej Bar Sol Nota 014",
            "Nota {number} {text}",
            "{text} Nota {number}",
        ),
    ],
)
async def test_the_names_of_the_others_say_what_of_it_is_the_rule(
    renamed: Offered, paths: tuple[str, ...], text: str, shape: str, becomes: str
) -> None:
    assert await renamed(text, paths) == alike(paths, {"shape": shape, "becomes": becomes})


async def test_names_that_are_written_a_little_otherwise_keep_their_own_letters(renamed: Offered) -> None:
    paths = ("Slip Ruiz.txt", "slip_Vega.txt", "Slip Gil (1).txt", "Slip Gil.txt")
    told = await renamed("statt Slip Ruiz lieber Ruiz Slip, und die anderen auch so", paths)
    assert told == {
        "Slip Ruiz.txt": {"shape": "Slip {text}", "becomes": "{text} Slip"},
        "Slip Gil.txt": {"shape": "Slip {text}", "becomes": "{text} Slip"},
        "slip_Vega.txt": {"shape": "slip_{text}", "becomes": "{text} slip"},
        "Slip Gil (1).txt": {"shape": "Slip {text} ({number9})", "becomes": "{text} Slip ({number9})"},
    }


@pytest.mark.parametrize(
    "text",
    [
        "move the Demir brim to Bills",
        "which is the Huber brim, the one with a hole",
        "was the Weir bill paid in 2026, I wonder",
        "zip the files for Huber, brim and all",
    ],
)
async def test_two_words_of_a_name_turned_round_are_no_new_name(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == {}
