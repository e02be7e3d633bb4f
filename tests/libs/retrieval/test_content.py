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


CONTRACTS = {
    "Contract Hale.txt": "Coverage: 10 hours, including a second photographer (Tom Rees).",
    "Contract Okafor.txt": "Coverage: 8 hours, one photographer. A second hour of drone footage costs extra.",
    "Clients/brief.md": "Garden, 60 guests. Does not want any photographer in the church.",
    "Tom second shooter.zip": "",
    "Weddings/notes.txt": "She asked about a second\nphotographer on the phone.",
}


@pytest.fixture
async def contracts(index: ContentIndex) -> ContentIndex:
    for path in TEXTS:
        index.remove(path)
    await index.put(CONTRACTS)
    return index


async def names(index: ContentIndex, query: str) -> list[str]:
    return [match.path for match in (await index.find(query)).matches]


async def test_the_words_as_they_were_said_come_before_all_of_them_and_one_alone_is_not_shown(
    contracts: ContentIndex,
) -> None:
    assert set((await names(contracts, "second photographer"))[:2]) == {"Contract Hale.txt", "Weddings/notes.txt"}
    assert (await names(contracts, "a second photographer"))[2:] == ["Contract Okafor.txt"]
    assert (await names(contracts, "photographer second"))[3:] == []


async def test_of_files_that_have_all_words_those_with_some_as_they_were_said_come_first(
    contracts: ContentIndex,
) -> None:
    await contracts.put({"Contract Z.txt": "second hour, 9 hours, photographer; second photographer; coverage"})
    found = (await contracts.find("second photographer in the contracts")).matches
    assert [match.path for match in found][:3] == ["Contract Z.txt", "Contract Hale.txt", "Contract Okafor.txt"]
    assert "second photographer" in found[1].excerpt


async def test_one_of_several_words_is_shown_where_nothing_has_more(contracts: ContentIndex) -> None:
    assert await names(contracts, "garden shooter") == ["Tom second shooter.zip", "Clients/brief.md"]
    assert await names(contracts, "garden zeppelin") == ["Clients/brief.md"]


async def test_what_has_only_one_of_the_words_is_told_beside(contracts: ContentIndex) -> None:
    found = await contracts.find("garden shooter")
    assert found.fewer == ()
    found = await contracts.find("second photographer")
    assert not {match.path for match in found.matches} & {*found.fewer}


async def test_where_either_is_looked_for_one_is_enough(contracts: ContentIndex) -> None:
    both = ["Contract Okafor.txt", "Clients/brief.md"]
    assert set(both) < set(await names(contracts, "drone or photographer"))
    assert "Clients/brief.md" not in await names(contracts, "drone photographer")


async def test_words_in_quotes_are_a_phrase_that_alone_counts(contracts: ContentIndex) -> None:
    assert set(await names(contracts, '"second photographer"')) == {"Contract Hale.txt", "Weddings/notes.txt"}
    assert await names(contracts, '"second shooter"') == ["Tom second shooter.zip"]
    assert (await contracts.find('"second hour of drone"')).matches[0].excerpt.startswith("Coverage: 8 hours")


async def test_a_quoted_phrase_that_stands_nowhere_is_told_and_its_words_are_searched(contracts: ContentIndex) -> None:
    found = await contracts.find('"drone photographer"')
    assert [match.path for match in found.matches] == ["Contract Okafor.txt"]
    assert found.missing == ("drone photographer",)
    assert (await contracts.find('"zeppelin photographer"')).missing == ("zeppelin",)


async def test_a_phrase_is_found_across_two_passages_and_its_place_is_shown() -> None:
    index = ContentIndex(HashedEmbedder(), size=60)
    await index.put(
        {"long.txt": "a second thought. " * 20 + "and here " * 5 + "a second photographer came. " + "so " * 50}
    )
    for n in range(40):
        await index.put({f"{n}.txt": "x " * n + "the second photographer " + "y " * 40})
    found = (await index.find("second photographer", 100)).matches
    assert len(found) == 41
    assert all("second photographer" in match.excerpt for match in found)


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
    cut = excerpt(text, frozenset({"needle"}), length=40)
    assert "needle in hay" in cut
    assert cut.startswith("…")
    assert cut.endswith("…")
    assert len(cut) <= 42
