"""Many files get one name and a number each: those that the story chooses, and that nobody has named yet."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Offered, alike

pytestmark = pytest.mark.requirement("S4-44", "S4-59")
CRASH = ("Dock/IMG_0101.jpg", "Dock/IMG_0102.jpg", "Dock/IMG_0107.jpg")
PATHS = (*CRASH, "Dock/our boat.jpg", "Dock/poster dock.pdf", "Aunt Flo.jpg", "20260704_101522.jpg")


@pytest.mark.parametrize(
    "text",
    [
        "that clown hit us at the Dock. insurance wants the IMG pics named so Dock crash 1 Dock crash 2 and that",
        "all IMG photos are of the crash, they should be called Dock crash and then a number",
        "die IMG Bilder sind alle vom Unfall, die Versicherung will Dock crash 1, Dock crash 2 usw",
        "las fotos IMG son del choque y el seguro las quiere como Dock crash 1, Dock crash 2 y así",
    ],
)
async def test_a_series_is_for_the_files_that_are_told_of(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == alike(CRASH, {"base": "Dock crash", "digits": 1})


async def test_of_photos_those_that_have_a_name_keep_it(renamed: Offered) -> None:
    text = "the photos in Dock are all from that day, might they be Crash day 1, Crash day 2 and so forth"
    assert await renamed(text, PATHS) == alike(CRASH, {"base": "Crash day", "digits": 1})


async def test_names_that_count_already_are_no_series(renamed: Offered) -> None:
    paths = ("plan v1.pdf", "plan v2.pdf", "plan final.pdf")
    assert await renamed("the final one is the only one that matters, so plan v1 and plan v2 can go", paths) == {}


async def test_the_name_of_an_app_is_no_deed_where_names_have_it(renamed: Offered) -> None:
    paths = ("foto obra 1.jpg", "foto obra 2.jpg", "WhatsApp Image 1.jpeg", "WhatsApp Image 2.jpeg")
    text = "cámbiale el nombre a las fotos de whatsapp, que se llamen Cocina 1 y Cocina 2"
    assert await renamed(text, paths) == alike(paths[2:], {"base": "Cocina", "digits": 1})


async def test_what_they_all_are_chooses_none_that_is_called_so(renamed: Offered) -> None:
    text = "Los escaneos son todas multas, cámbiales el nombre a Multa 001, Multa 002 y así"
    paths = ("Escaneo 1.pdf", "Escaneo 2.pdf", "Multa vieja.pdf")
    assert await renamed(text, paths) == alike(paths[:2], {"base": "Multa", "digits": 3})


async def test_a_shift_is_no_text_for_another(renamed: Offered) -> None:
    assert await renamed("necesito el turno de marzo", ("turno marzo.xlsx", "pago marzo.pdf")) == {}


async def test_the_numbers_that_follow_choose_none(renamed: Offered) -> None:
    paths = ("nominas enero.pdf", "nominas febrero.pdf", "nominas marzo.pdf", "WhatsApp Image 2026-02-03.jpeg")
    text = "renombra las nóminas a nomina 01, 02 y 03"
    assert await renamed(text, paths) == alike(paths[:3], {"base": "nomina", "digits": 2})
