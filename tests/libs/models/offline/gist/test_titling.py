"""One file gets a name that is said whole; a story that tells of several gives it to none."""

from __future__ import annotations

import pytest

from tests.libs.models.offline.gist.conftest import Offered

pytestmark = pytest.mark.requirement("S4-44", "S4-59")
PATHS = ("Great Aunt Flo letter.pdf", "Dogs/REX RUN.jpg", "Dogs/REX SIT.jpg", "Scan0007.pdf", "cat.jpg")


@pytest.mark.parametrize(
    ("text", "file", "name"),
    [
        (
            "Great Aunt Flo was really Florence Birch, would you believe. So her letter ought to be called Florence"
            " Birch letter, if it's not too much trouble.",
            PATHS[0],
            "Florence Birch letter.pdf",
        ),
        ("that Scan0007 is my eye test so call it that will you, eye test", PATHS[3], "eye test.pdf"),
        ("Scan0007 ist doch der Sehtest, nenn den mal bitte Sehtest Mai", PATHS[3], "Sehtest Mai.pdf"),
        ("la Scan0007 era lo de la vista, ponle entonces examen de la vista, que si no me lío", PATHS[3], None),
    ],
)
async def test_the_only_file_that_is_told_of_gets_it(renamed: Offered, text: str, file: str, name: str | None) -> None:
    assert await renamed(text, PATHS) == {file: {"new_name": name or "examen de la vista.pdf"}}


async def test_names_that_are_there_but_for_their_capitals_need_only_be_said(renamed: Offered) -> None:
    text = "my keyboard was stuck on big letters with Rex. Can you make it Rex run and Rex sit, I am not shouting"
    told = await renamed(text, PATHS)
    assert told == {PATHS[1]: {"new_name": "Rex run.jpg"}, PATHS[2]: {"new_name": "Rex sit.jpg"}}


async def test_one_name_is_not_given_to_several(renamed: Offered) -> None:
    assert await renamed("the REX ones, I would so like them to be called Rex at play, bless him", PATHS) == {}
