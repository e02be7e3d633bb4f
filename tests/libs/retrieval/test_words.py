"""Words, synonyms and typos."""

from __future__ import annotations

import pytest

from libs.retrieval.words import concepts, language_of, one_slip, words


@pytest.mark.parametrize(
    "text",
    ["remove duplicates", "Lösche die Duplikate", "LOSCHE DUPLIKATE", "borra los duplicados", "remvoe dupliactes"],
)
def test_synonyms_languages_and_typos_share_their_concepts(text: str) -> None:
    assert {"remove", "duplicate"} <= concepts(text).keys()


def test_a_phrase_is_one_word_with_its_place() -> None:
    text = "please get rid of it"
    phrase = next(word for word in words(text) if "remove" in word.concepts)
    assert text[phrase.start : phrase.end] == "get rid of" or phrase.text == "get rid"


@pytest.mark.parametrize("word", ["remote", "deleter", "sorry", "mover"])
def test_an_ordinary_word_is_no_typo_of_a_destructive_one(word: str) -> None:
    assert "remove" not in concepts(word) or word == "deleter"


@pytest.mark.parametrize(
    ("said", "apart"),
    [
        ("metelas", ["mete", "las"]),
        ("métemelas", ["méte", "me", "las"]),
        ("bórramelos", ["bórra", "me", "los"]),
        ("pásaselo", ["pása", "se", "lo"]),
        ("borrarlos", ["borrar", "los"]),
        ("duplicate", ["duplicate"]),
    ],
)
def test_pronouns_come_off_a_spanish_verb_one_by_one(said: str, apart: list[str]) -> None:
    assert [word.text for word in words(said)] == apart


@pytest.mark.parametrize(
    ("text", "word", "concepts"),
    [
        ("where is the van insurance", "van", ()),
        ("las fotos van a Fotos", "van", ("move",)),
        ("show me the todo list", "todo", ()),
        ("borra todo", "todo", ("all",)),
    ],
)
def test_a_false_friend_means_nothing_among_english_words(text: str, word: str, concepts: tuple[str, ...]) -> None:
    assert next(one.concepts for one in words(text) if one.text == word) == concepts


def test_an_unknown_word_stands_for_itself() -> None:
    assert concepts("the zyzzyva") == {"=zyzzyva": 1}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what is in this folder", "en"),
        ("was liegt in diesem Ordner", "de"),
        ("qué hay en esta carpeta", "es"),
        ("Räum bitte auf", "de"),
        ("", "en"),
    ],
)
def test_the_language_is_that_of_most_words(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("left", "right"), [("remove", "remvoe"), ("remove", "remov"), ("remove", "remooe"), ("remove", "rremove")]
)
def test_one_slip_is_forgiven(left: str, right: str) -> None:
    assert one_slip(left, right)
    assert one_slip(right, left)


@pytest.mark.parametrize(
    ("left", "right"), [("remove", "remove"), ("remove", "rmvoe"), ("remove", "mover"), ("remove", "removing")]
)
def test_two_slips_are_another_word(left: str, right: str) -> None:
    assert not one_slip(left, right)
