"""Flow: lines are broken between words, and a text that comes in pieces ends as one that came whole."""

from __future__ import annotations

import pytest

from services.cli.flow import Flow, flowed

TEXT = (
    "Found in 2 files:\n- Letters/letter to Dr Patel.docx: …about my knee, which hurts\n\nThat is all of it, I think."
)


def test_text_wraps_between_words_with_list_indents() -> None:
    assert flowed(TEXT, 30).split("\n") == [
        "Found in 2 files:",
        "- Letters/letter to Dr",
        "  Patel.docx: …about my knee,",
        "  which hurts",
        "",
        "That is all of it, I think.",
    ]


@pytest.mark.parametrize("width", [0, 20, 30, 80])
def test_streamed_text_wraps_like_the_whole(width: int) -> None:
    flow = Flow(width)
    pieces = [flow.so_far(TEXT[:n]) for n in range(len(TEXT))]
    assert "".join([*pieces, flow.whole(TEXT)]) == flowed(TEXT, width)


def test_a_word_longer_than_the_line_is_left_whole() -> None:
    path = "Downloads/" + "x" * 40
    assert path in flowed(f"see {path} there", 30).split("\n")


def test_text_is_unwrapped_without_a_width() -> None:
    assert flowed(TEXT, 0) == TEXT
