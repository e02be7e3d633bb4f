"""Where the date or the year of a name shall stand."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Offered, alike

pytestmark = pytest.mark.requirement("S4-44", "S4-59")
PLANS = ("Plan März 2026.pdf", "Plan Januar 2026.pdf", "Plan Mai 2025 (neu).pdf", "Notiz.txt")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("schreib bei den Plänen das Jahr nach vorne", "first"),
        ("bei den Plänen soll das Jahr vorne stehen", "first"),
        ("put the year in front in the Plan names", "first"),
        ("en los Plan ponme el año al final", "last"),
    ],
)
async def test_a_year_that_names_have_goes_to_their_front_or_their_end(renamed: Offered, text: str, place: str) -> None:
    assert await renamed(text, PLANS) == alike(PLANS[:3], {"written": place})
