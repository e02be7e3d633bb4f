"""Texts cut into pieces that fit and lose nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.retrieval import chunks
from libs.retrieval.chunks import Strategy


@pytest.mark.requirement("S4-45")
@pytest.mark.parametrize(
    ("strategy", "size", "expected"),
    [
        ("fixed", 16, ("One two. Three", "four.\n\nFive six.")),
        ("sentence", 16, ("One two.", "Three four.", "Five six.")),
        ("paragraph", 20, ("One two. Three four.", "Five six.")),
    ],
)
def test_each_strategy_cuts_at_its_own_places(strategy: Strategy, size: int, expected: tuple[str, ...]) -> None:
    assert chunks("One two. Three four.\n\nFive six.", strategy=strategy, size=size) == expected


def test_whole_sentences_are_put_together_while_they_fit() -> None:
    assert chunks("A b. C d. E f.", strategy="sentence", size=10) == ("A b. C d.", "E f.")


def test_nothing_gives_nothing() -> None:
    assert chunks(" \n ") == ()


@pytest.mark.requirement("S4-45")
@given(st.text(max_size=300), st.sampled_from(["fixed", "sentence", "paragraph"]), st.integers(1, 40))
def test_no_letter_is_lost_and_no_piece_is_too_long(text: str, strategy: Strategy, size: int) -> None:
    pieces = chunks(text, strategy=strategy, size=size)
    assert all(0 < len(piece) <= size for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(st.lists(st.text("ab", min_size=1, max_size=9), min_size=1), st.integers(9, 30))
def test_no_word_is_cut_that_fits_into_a_piece(words: list[str], size: int) -> None:
    assert " ".join(chunks(" ".join(words), size=size)).split() == words
