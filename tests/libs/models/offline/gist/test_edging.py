"""What is put in front of names or behind them: by an example of the new name, or beside the word for the place."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Offered, alike

pytestmark = pytest.mark.requirement("S4-44", "S4-59")
PATHS = ("Pay/slip may.pdf", "Pay/slip june.pdf", "Pay/slip july.pdf", "garden plan.pdf", "hats.txt")
SLIPS = PATHS[:3]


@pytest.mark.parametrize(
    "text",
    [
        "my accountant says the slips want Kerr Ltd in front, so like Kerr Ltd slip may",
        "the lady at the bank cant tell whose they are. could the slips start with Kerr Ltd, like Kerr Ltd slip may",
        "der Steuermensch will dass bei den slips vorne Kerr Ltd dran steht, also Kerr Ltd slip may",
        "la gestora dice que a los slips les ponga Kerr Ltd delante, o sea Kerr Ltd slip may y así todos",
    ],
)
async def test_an_example_says_what_stands_in_front_of_all(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == alike(SLIPS, {"prefix": "Kerr Ltd "})


@pytest.mark.parametrize(
    "text",
    [
        "next year nobody knows when those slips were from, could they have 2026 at the end, like slip may 2026",
        "bei den slips weiß nächstes Jahr keiner mehr wann das war, schreib da hinten 2026 dran, also slip may 2026",
        "los slips no dicen de qué año son, ponles 2026 al final, por ejemplo slip may 2026",
    ],
)
async def test_what_stands_behind_goes_to_the_end(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == alike(SLIPS, {"suffix": " 2026"})


@pytest.mark.parametrize(
    "text",
    [
        "Oh, the slips! I would so like the date of each one in front, like 2026-03-17, as a help to my memory",
        "bei den slips hätt ich gern immer den Tag vorne dran, so wie 2026-03-17, sonst find ich ja nix",
        "con los slips me lío, ponme a cada uno su fecha delante, tipo 2026-03-17",
    ],
)
async def test_a_date_is_that_of_the_file_and_its_form_only_an_example(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == alike(SLIPS, {"dated": True})


@pytest.mark.parametrize(
    "text", ["the slips were in front of me just now, where are they", "al final la mandé, la slip may, qué lío"]
)
async def test_a_place_that_is_only_told_of_puts_nothing_there(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == {}
