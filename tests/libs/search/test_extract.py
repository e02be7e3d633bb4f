"""Summaries by extraction: word for word, always the same, and cut where sentences end."""

from __future__ import annotations

import pytest

from libs.search.extract import sentences, summarize


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("It rains. We stay.", ["It rains.", "We stay."]),
        ("Dr. Smith came, e.g. by train. He left!", ["Dr. Smith came, e.g. by train.", "He left!"]),
        ("J. R. R. Tolkien wrote it. We read it.", ["J. R. R. Tolkien wrote it.", "We read it."]),
        ("Pi is 3.14 or so. Really?", ["Pi is 3.14 or so.", "Really?"]),
        ("A line\nthat goes on. Next", ["A line that goes on.", "Next"]),
        ("- one thing\n- another thing", ["one thing", "another thing"]),
        ("# A heading\nA sentence.", ["A sentence."]),
        ("“Stop.” He went.", ["“Stop.”", "He went."]),
        ("\n \n...", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, cut: list[str]) -> None:
    assert sentences(text) == cut


def test_topics_of_many_sentences_are_chosen_first() -> None:
    text = "Bees make honey in the garden. The weather was fine today. Honey of bees from the garden is sweet. I nap."
    assert summarize(text, 1).sentences[0].startswith("Bees make honey")


def test_repeated_sentence_appears_once() -> None:
    text = "The budget grew by ten percent. The budget grew by ten percent. Two people left the company."
    assert summarize(text, 2).sentences == ("The budget grew by ten percent.", "Two people left the company.")


def test_summary_is_deterministic_and_within_the_limit() -> None:
    text = " ".join(f"Sentence number {n} speaks of topic {n % 7} and of nothing else." for n in range(200))
    found = summarize(text, 4)
    assert found == summarize(text, 4)
    assert (len(found.sentences), found.of) == (4, 200)


@pytest.mark.parametrize("text", ["", "   ", "123", "word", "a b"])
def test_text_without_sentences_has_no_summary(text: str) -> None:
    assert summarize(text).sentences == ()
