"""What files say is a bound of whatever a story comes to without it; alone, it chooses among all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from libs.models.offline import gist
from libs.models.offline.gist import inside
from libs.models.offline.gist.deeds import Deed, delete, rename
from libs.models.offline.gist.story import Some, Story
from libs.models.offline.ground import Ground
from libs.skills import Categories

pytestmark = pytest.mark.requirement("S4-44")
PATHS = ("Bills/Keane 12.txt", "Bills/Roche 13.txt", "letter bank.txt", "letter club.docx", "hut.jpg")
FACTS = {"names": ["Bills/", *PATHS[2:]], "paths": list(PATHS)}


@pytest.fixture
def told(categories: Categories) -> Story:
    return Story("", Ground.of("/x/shop", FACTS), categories, datetime(2026, 3, 1, tzinfo=UTC))


def first(told: Story, text: str) -> tuple[Mapping[str, Any], str, Mapping[str, Any]]:
    """Of the first deed the list, and the change with what it is given."""
    deed = next(gist.deeds(Story(text, told.ground, told.categories, told.now)))
    (_, listed), (tool, args) = deed.calls
    return listed, tool, args


@pytest.mark.parametrize(
    "text",
    [
        "I write Hawthorn in the letters about the hedge, so those letters that mention Hawthorn get a folder Hedge",
        "die Letters wo Hawthorn drin steht hätt ich gern in nem eigenen Ordner Hedge",
        "las letters en las que pone Hawthorn las quiero en una carpeta nueva que se llame Hedge",
    ],
)
def test_other_words_choose_by_names_and_the_text_among_those(told: Story, text: str) -> None:
    listed, tool, args = first(told, text)
    assert (tool, args["target"]) == ("manage-files.move", "Hedge")
    assert {*listed["include"]} == {"letter bank.txt", "letter club.docx"}
    assert listed["containing"] == "Hawthorn"


@pytest.mark.parametrize(
    ("text", "tool", "end"),
    [
        ("whatever has Hawthorn in it, I want that in a zip called hedge", "archive-files.pack", "hedge.zip"),
        ("those that mention Hawthorn, into a folder Hedge with them", "manage-files.move", "Hedge"),
        ("was Hawthorn enthält kann weg: alle wo Hawthorn drin steht bitte löschen", "manage-files.delete", None),
        ("las que mencionan Hawthorn, a una carpeta que se llame Hedge", "manage-files.move", "Hedge"),
    ],
)
def test_where_no_other_word_chooses_it_is_all_that_say_it(told: Story, text: str, tool: str, end: str | None) -> None:
    listed, change, args = first(told, text)
    assert (change, args.get("target", args.get("archive"))) == (tool, end)
    assert (listed["path"], listed["recursive"], listed["containing"]) == (".", True, "Hawthorn")
    assert "include" not in listed


def test_a_folder_that_is_spoken_of_is_where_they_are(told: Story) -> None:
    listed, _, _ = first(told, "those in the Bills folder that mention Hawthorn, into a folder Hedge with them")
    assert listed["path"] == "Bills" or {*listed["include"]} == {*PATHS[:2]}


def test_what_is_done_to_files_by_their_names_takes_no_text(told: Story) -> None:
    says = inside.said(Story("those that mention Hawthorn", told.ground, told.categories, told.now))
    assert inside.only(rename("hut.jpg", "house.jpg"), says) is None
    assert inside.only(Deed((("manage-files.delete", {"paths": ["hut.jpg"]}),)), says) is None
    bound = inside.only(delete(Some(("hut.jpg",))), says)
    assert bound is not None
    assert bound.calls[0][1]["containing"] == "Hawthorn"


def test_two_texts_are_no_bound_of_one_list(told: Story) -> None:
    text = "delete the letters that mention Hawthorn, also the ones that mention Juniper, they are of no use to me now"
    assert not [*gist.deeds(Story(text, told.ground, told.categories, told.now))]
