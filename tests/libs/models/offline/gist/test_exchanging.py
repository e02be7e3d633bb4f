"""One text of names goes for another: what stands in names now is the old one, wherever the story says it."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Offered, alike

pytestmark = pytest.mark.requirement("S4-44", "S4-59")
SITES = (
    "site 11 quotaton.pdf",
    "site 12 quotaton.pdf",
    "Old/site 3 quotaton.pdf",
    "crew list.txt",
    "Site photos/a.jpg",
)


@pytest.mark.parametrize(
    "text",
    [
        "my boy says its quotation not quotaton, put that right on all of em would you",
        "I do believe I wrote quotaton where it should say quotation, how silly, on all of them",
        "ich schreib immer quotaton, heißt aber quotation, mach das mal richtig bei den namen",
        "puse quotaton en todos y se escribe quotation, arréglame los nombres",
    ],
)
async def test_of_two_spellings_the_one_in_names_is_wrong(renamed: Offered, text: str) -> None:
    told = await renamed(text, SITES)
    assert {*told} == {path for path in SITES if "quotaton" in path}
    assert all(rule == {"find": "quotaton", "replace": "quotation"} for rule in told.values())


@pytest.mark.parametrize(
    "text",
    [
        "the new girl has no idea what quotaton is. where it says quotaton make it say price offer",
        "we dont say quotaton no more, it goes down as price offer now so fix the names",
        "mit quotaton kann keiner was anfangen, bitte überall price offer statt quotaton in den namen",
        "eso de quotaton no lo entiende nadie, donde ponga quotaton en los nombres ponme price offer",
    ],
)
async def test_the_new_text_is_what_the_story_puts_beside_the_old(renamed: Offered, text: str) -> None:
    told = await renamed(text, SITES)
    assert {*told} == {path for path in SITES if "quotaton" in path}
    assert all(rule == {"find": "quotaton", "replace": "price offer"} for rule in told.values())


async def test_what_both_names_end_with_stays_out_of_the_rule(renamed: Offered) -> None:
    paths = ("Hall 01 plan.pdf", "Hall 02 plan.pdf", "menu.txt")
    told = await renamed("nobody says hall here any more you know, so Room 01 instead of Hall 01 and so on", paths)
    assert told == alike(paths[:2], {"find": "Hall", "replace": "Room"})


async def test_every_spelling_in_capitals_or_not_is_found(renamed: Offered) -> None:
    paths = ("Rowing Club minutes May.doc", "rowing club minutes June.doc", "song.txt")
    told = await renamed("we are the Boat Society now, so could it say Boat Society where it says Rowing Club?", paths)
    assert [rule["find"] for rule in told.values()] == ["Rowing Club", "rowing club"]
    assert {rule["replace"] for rule in told.values()} == {"Boat Society"}


@pytest.mark.parametrize(
    "text",
    [
        "the quotaton ones can go now, we dont need them",
        "put the quotaton ones in a new folder called offers",
        "was steht eigentlich in quotaton 11?",
        "all I know is that the quotaton was wrong",
    ],
)
async def test_what_is_said_of_the_files_is_no_new_text(renamed: Offered, text: str) -> None:
    assert await renamed(text, SITES) == {}
