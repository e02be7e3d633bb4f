"""What tells something asks for nothing; it may be what a pronoun stands for, and may not be passed over where files
could be meant.
"""

from __future__ import annotations

import pytest

from libs.models.offline.clauses import Mood, Named
from libs.models.offline.goals import wanted
from libs.models.offline.reading import read
from libs.models.offline.telling import tells
from libs.retrieval.words import Word, language_of, words

KNOWN = ("setup.exe", "notes.txt", "recipe soup.txt", "recipe cake.txt")


def of_files(word: Word) -> bool:
    return "images" in word.concepts


@pytest.mark.parametrize(
    "said",
    [
        "my feet are killing me",
        "I deleted the pictures yesterday",
        "nobody reads that",
        "mein Enkel schläft heute hier",
        "im Urlaub hat meine Schwester viel gelesen",
        "he guardado dos recetas",
        "I don't want to lose the pictures",
    ],
)
def test_somebody_else_than_the_assistant_does_something(said: str) -> None:
    assert tells(words(said), language_of(said), of_files)


@pytest.mark.parametrize(
    "said",
    [
        "delete the pictures",
        "I want the pictures gone",
        "the pictures can go",
        "if it is a picture",
        "where my pictures are",
        "die größer als die anderen sind",
        "pasa las fotos a Verano",
        "the pictures are moved",
    ],
)
def test_a_wish_a_condition_and_a_relative_clause_are_no_story(said: str) -> None:
    assert not tells(words(said), language_of(said), of_files)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("my niece put a program on here, setup.exe. Could you delete it?", "setup.exe"),
        ("Nobody ever reads notes.txt. Call it minutes.txt instead.", "notes.txt"),
        ("notes.txt is useless and can go", "notes.txt"),
    ],
)
def test_what_was_told_of_is_what_the_pronoun_means(said: str, name: str) -> None:
    asked = wanted(read(said, KNOWN))[-1]
    assert name in [item.text for item in asked.items if isinstance(item, Named)]


def test_a_story_about_files_asks_for_nothing() -> None:
    told = read("The recipes are from my mother. Delete setup.exe", KNOWN)
    assert [clause.mood for clause in told.clauses] == [Mood.TOLD, Mood.DO]


@pytest.mark.parametrize(
    ("story", "wish"),
    [
        ("Margaret once sent me some recipes packed in a zip.", "Please delete setup.exe"),
        ("The recent recipes are so hard to find among the old ones.", "Please delete setup.exe"),
        ("Der Kunde hat schon zweimal gefragt.", "Bitte lösch setup.exe"),
        ("Hab kein Bock mehr die zu suchen.", "Lösch setup.exe"),
        ("Der Chef will das wissen.", "Lösch setup.exe"),
        ("My boss wants to see it.", "Delete setup.exe"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_reason_asks_for_nothing_wherever_it_stands(story: str, wish: str, *, first: bool) -> None:
    told = read(f"{story} {wish}." if first else f"{wish}. {story}", KNOWN)
    assert [clause.concepts for clause in told.clauses if clause.mood is not Mood.TOLD] == [{"remove"}]


@pytest.mark.parametrize(
    "said", ["he wants them in Docs", "der Chef will, dass du sie löschst", "Helen asked to have it deleted"]
)
def test_what_somebody_wants_done_is_no_story(said: str) -> None:
    assert any(clause.mood is Mood.DO for clause in read(said, KNOWN).clauses)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("borra setup.exe y el archivo notes.txt", "notes.txt"),
        ("delete setup.exe and my notes.txt", "notes.txt"),
        ("lösch setup.exe und meine notes.txt", "notes.txt"),
        ("borra setup.exe y mi notes.txt", "notes.txt"),
    ],
)
def test_what_is_somebody_s_goes_on_with_a_list(said: str, name: str) -> None:
    told = read(said, KNOWN)
    assert {clause.mood for clause in told.clauses} == {Mood.DO}
    assert name in {named.text for clause in told.clauses for named in clause.names}


@pytest.mark.parametrize("said", ["él borró las fotos", "y mi hermana es muy lista", "and my sister is away"])
def test_somebody_who_does_something_tells_all_the_same(said: str) -> None:
    assert tells(words(said), language_of(said), of_files, goes_on=True)
