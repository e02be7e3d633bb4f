"""Searching in the text of files."""

from __future__ import annotations

import pytest

from libs.retrieval import ContentIndex
from libs.retrieval.content import excerpt
from libs.retrieval.offline import HashedEmbedder

TEXTS = {
    "taxes/2024.txt": "The tax return for 2024. Income tax is due in May.",
    "taxes/old.txt": "A letter about a tax refund and much else that has nothing to do with the return of goods.",
    "cake.md": "Flour, sugar, butter. Bake for an hour.",
    "photos.md": "A list of my pictures from Lisbon.",
    "empty.txt": "",
}


@pytest.fixture
async def index() -> ContentIndex:
    index = ContentIndex(HashedEmbedder())
    await index.put(TEXTS)
    return index


@pytest.mark.requirement("S4-15", "S4-47")
async def test_files_that_share_more_words_come_first(index: ContentIndex) -> None:
    found = (await index.find("tax return 2024")).matches
    assert [match.path for match in found] == ["taxes/2024.txt", "taxes/old.txt"]
    assert 1 >= found[0].score > found[1].score > 0


async def test_a_synonym_finds_what_does_not_say_the_word(index: ContentIndex) -> None:
    assert [match.path for match in (await index.find("Fotos")).matches] == ["photos.md"]


async def test_what_occurs_nowhere_is_not_found(index: ContentIndex) -> None:
    assert (await index.find("zyzzyva")).matches == ()
    assert (await index.find("…")).matches == ()


async def test_a_search_stays_within_its_folder(index: ContentIndex) -> None:
    assert (await index.find("sugar", within="taxes")).matches == ()
    assert [match.path for match in (await index.find("tax", 1, within="taxes")).matches] == ["taxes/2024.txt"]


async def test_a_changed_file_is_found_by_its_new_text_only(index: ContentIndex) -> None:
    await index.put({"cake.md": "Now about submarines."})
    assert (await index.find("sugar")).matches == ()
    assert [match.path for match in (await index.find("submarines")).matches] == ["cake.md"]
    index.remove("cake.md")
    assert (await index.find("submarines")).matches == ()


async def test_a_long_file_is_one_match_with_the_passage_that_fits() -> None:
    index = ContentIndex(HashedEmbedder(), size=100)
    await index.put(
        {"long.txt": "filler words here. " * 50 + "The password hint is walrus. " + "more filler follows. " * 50}
    )
    found = (await index.find("walrus")).matches
    assert len(found) == 1
    assert "walrus" in found[0].excerpt


def test_an_excerpt_is_a_window_around_the_first_word() -> None:
    text = "a " * 200 + "needle\nin  hay " + "b " * 200
    cut = excerpt(text, {"needle"}, 40)
    assert "needle in hay" in cut
    assert cut.startswith("…")
    assert cut.endswith("…")
    assert len(cut) <= 42
