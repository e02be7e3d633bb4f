"""Full-text search in the names and texts of files."""

from __future__ import annotations

import pytest

from libs.search import ContentIndex

TEXTS = {
    "taxes/2024.txt": "The tax return for 2024. Income tax is due in May.",
    "taxes/old.txt": "A letter about a tax refund and much else that has nothing to do with the return of goods.",
    "cake.md": "Flour, sugar, butter. Bake for an hour.",
    "photos.md": "A list of my pictures from Lisbon.",
    "empty.txt": "",
}
CONTRACTS = {
    "Contract Hale.txt": "Coverage: 10 hours, including a second photographer (Tom Rees).",
    "Contract Okafor.txt": "Coverage: 8 hours, one photographer. A second hour of drone footage costs extra.",
    "Clients/brief.md": "Garden, 60 guests. Does not want any photographer in the church.",
    "Tom second shooter.zip": "",
    "Weddings/notes.txt": "She asked about a second\nphotographer on the phone.",
}


def indexed(texts: dict[str, str]) -> ContentIndex:
    index = ContentIndex()
    for path, text in texts.items():
        index.put(path, text)
    return index


@pytest.fixture
def index() -> ContentIndex:
    return indexed(TEXTS)


@pytest.fixture
def contracts() -> ContentIndex:
    return indexed(CONTRACTS)


def names(index: ContentIndex, query: str) -> list[str]:
    return [match.path for match in index.find(query).matches]


@pytest.mark.requirement("S4-15", "S4-47")
def test_files_with_more_of_the_words_come_first(index: ContentIndex) -> None:
    found = index.find("tax return May").matches
    assert [match.path for match in found] == ["taxes/2024.txt", "taxes/old.txt"]
    assert 1 >= found[0].score > found[1].score > 0


@pytest.mark.parametrize("query", ["taxation refunds", "REFÚNDED", "refnud"])
def test_other_forms_accents_and_slips_are_found(index: ContentIndex, query: str) -> None:
    assert names(index, query)[0] == "taxes/old.txt"


def test_a_synonym_is_found(index: ContentIndex) -> None:
    assert names(index, "images") == ["photos.md"]


@pytest.mark.parametrize("query", ["zyzzyva", "…", "", '"', "* OR NEAR(", "a:b", "^"])
def test_unknown_words_and_fts_syntax_find_nothing(index: ContentIndex, query: str) -> None:
    assert index.find(query).matches == ()


@pytest.mark.parametrize("query", ["gas bill", "gasbill", "2024", "gas bill 2024"])
def test_the_parts_of_a_name_are_found(query: str) -> None:
    assert names(indexed({"GasBill_2024.pdf": "", "other.txt": "bill"}), query)[0] == "GasBill_2024.pdf"


def test_phrases_come_before_scattered_words(contracts: ContentIndex) -> None:
    assert set(names(contracts, "second photographer")[:2]) == {"Contract Hale.txt", "Weddings/notes.txt"}
    assert names(contracts, "a second photographer")[2:] == ["Contract Okafor.txt"]


def test_files_with_part_of_a_phrase_come_before_others(contracts: ContentIndex) -> None:
    contracts.put("Contract Z.txt", "second hour, 9 hours, photographer; second photographer; coverage")
    found = contracts.find("second photographer in the contracts").matches
    assert {match.path for match in found[:2]} == {"Contract Z.txt", "Contract Hale.txt"}
    assert found[2].path == "Contract Okafor.txt"
    assert all("second photographer" in match.excerpt for match in found[:2])


def test_one_matching_word_suffices_if_no_file_has_more(contracts: ContentIndex) -> None:
    assert set(names(contracts, "garden shooter")) == {"Tom second shooter.zip", "Clients/brief.md"}
    assert contracts.find("garden shooter").fewer == ()
    assert contracts.find("garden zeppelin").missing == ("zeppelin",)


def test_files_with_one_of_several_words_are_listed_apart(contracts: ContentIndex) -> None:
    found = contracts.find("second photographer")
    assert set(found.fewer) == {"Clients/brief.md", "Tom second shooter.zip"}


def test_either_word_is_enough_with_or(contracts: ContentIndex) -> None:
    assert {"Contract Okafor.txt", "Clients/brief.md"} < set(names(contracts, "drone or photographer"))
    assert "Clients/brief.md" not in names(contracts, "drone photographer")


def test_a_quoted_phrase_alone_counts(contracts: ContentIndex) -> None:
    assert set(names(contracts, '"second photographer"')) == {"Contract Hale.txt", "Weddings/notes.txt"}
    assert names(contracts, '"second shooter"') == ["Tom second shooter.zip"]
    assert contracts.find('"second hour of drone"').matches[0].excerpt.startswith("Coverage: 8 hours")


def test_absent_phrase_is_missing_and_its_words_are_searched(contracts: ContentIndex) -> None:
    found = contracts.find('"drone photographer"')
    assert [match.path for match in found.matches] == ["Contract Okafor.txt"]
    assert found.missing == ("drone photographer",)
    assert contracts.find('"zeppelin photographer"').missing == ("zeppelin",)


def test_a_search_stays_within_its_folder(index: ContentIndex) -> None:
    assert index.find("sugar", within="taxes").matches == ()
    assert [match.path for match in index.find("tax", 1, within="taxes").matches] == ["taxes/2024.txt"]


def test_a_changed_file_is_found_by_its_new_text_only(index: ContentIndex) -> None:
    index.put("cake.md", "Now about submarines.")
    assert names(index, "sugar") == []
    assert names(index, "submarines") == ["cake.md"]
    index.remove("cake.md")
    assert names(index, "submarines") == []
    assert index.size == sum(len(text) for path, text in TEXTS.items() if path != "cake.md")


def test_a_long_file_is_one_match_with_the_right_excerpt() -> None:
    text = "filler words here. " * 500 + "The password hint\nis walrus. " + "more filler follows. " * 500
    (found,) = indexed({"long.txt": text}).find("walrus").matches
    assert "password hint is walrus" in found.excerpt
    assert len(found.excerpt) <= 300


@pytest.mark.parametrize("odd", ["\x1b[31m", "\x1b]0;owned\x07", "\x08", "\x9b2J", "\u202e", "\u2066"])
def test_an_excerpt_contains_no_control_characters(odd: str) -> None:
    (found,) = indexed({"a.txt": f"The hint {odd}is\twalrus.\nNothing else."}).find("walrus").matches
    assert not [letter for letter in found.excerpt if not letter.isprintable()]
    assert found.excerpt.startswith("The hint ")
    assert found.excerpt.endswith("is walrus. Nothing else.")
