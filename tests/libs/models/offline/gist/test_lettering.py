"""Names keep their words: which sign goes is told by the names, and one that is written otherwise by the others."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Offered, alike

pytestmark = pytest.mark.requirement("S4-44", "S4-59")
PATHS = (
    "Pupils/form_Ann_Lee.pdf",
    "Pupils/form_Bo_Fox.pdf",
    "Pupils/form Cy Day.pdf",
    "LOUD SONG.mp3",
    "rent Q1.xlsx",
    "rent Q2.xlsx",
    "RENT q3.xlsx",
)


@pytest.mark.parametrize(
    "text",
    [
        "somebody has put those low lines between the words at Pupils, I do so prefer an ordinary space",
        "at Pupils some have this silly underscore in the name, I want a normal space there",
        "bei Pupils sind so blöde Unterstriche drin, mach da Leerzeichen draus",
        "en Pupils hay unas rayas bajas en los nombres, prefiero espacios de toda la vida",
    ],
)
async def test_the_sign_that_names_have_goes(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == alike(PATHS[:2], {"find": "_", "replace": " "})


@pytest.mark.parametrize(
    "text",
    [
        "the RENT q3 I typed like an idiot, make it look like the other ones",
        "RENT q3 hab ich falsch geschrieben, mach das so wie die anderen",
        "RENT q3 lo escribí fatal, ponlo como los otros, anda, el nombre digo",
    ],
)
async def test_one_is_written_as_the_others_are(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == {"RENT q3.xlsx": {"new_name": "rent Q3.xlsx"}}


@pytest.mark.parametrize(
    "text",
    [
        "bei den Hydrobüchern das Leerzeichen weg und Unterstrich rein",
        "die Leerzeichen bei den Hydrobüchern löschen",
        "quita el espacio de las Hydrobücher y pon guion bajo",
        "get rid of the spaces in the Hydrobücher",
    ],
)
async def test_a_blank_that_shall_go_deletes_no_file(renamed: Offered, text: str) -> None:
    paths = (*PATHS, "Hydrobücher neu.pdf", "Hydrobücher alt.pdf")
    assert await renamed(text, paths) == alike(paths[-2:], {"find": " ", "replace": "_"})


@pytest.mark.parametrize("text", ["I need more space, my disk is full", "a line about Pupils would be nice"])
async def test_a_space_that_is_none_in_names_changes_none(renamed: Offered, text: str) -> None:
    assert await renamed(text, PATHS) == {}
