"""Chunks: they cover the text, their ranges cut it exactly, and none is larger than it may be."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.search import HashedEmbedder
from libs.search.chunks import Chunk, Size, Strategy, Unit, chunked, cut

TEXTS = st.text(st.sampled_from('ab1 .!?…"-#*\n\t\r\x1cä界'), max_size=400)
SIZES = st.builds(Size, st.integers(1, 60), st.sampled_from(Unit))
TWO_TOPICS = (
    "The dentist wrote a letter. The dentist sent the letter with a bill. The letter of the dentist names a date. "
    "Tomatoes need much sun. Tomatoes need much water, too. Tomatoes need warm nights."
)


def chunks_of(text: str, strategy: Strategy, size: Size) -> list[Chunk]:
    return asyncio.run(chunked(text, strategy, HashedEmbedder(), size))


@pytest.mark.requirement("S4-45")
@given(TEXTS, st.sampled_from(Strategy), SIZES)
def test_chunks_cover_the_text_in_exact_bounded_ranges(text: str, strategy: Strategy, size: Size) -> None:
    found = chunks_of(text, strategy, size)
    assert "".join("".join(chunk.text.split()) for chunk in found) == "".join(text.split())
    at = 0
    for chunk in found:
        assert at <= chunk.start < chunk.end
        assert chunk.text == text[chunk.start : chunk.end] == chunk.text.strip()
        assert (chunk.first, chunk.last) == (1 + text[: chunk.start].count("\n"), 1 + text[: chunk.end].count("\n"))
        assert size.holds(len(chunk.text), len(chunk.text.split()))
        at = chunk.end


@pytest.mark.parametrize(
    ("strategy", "most", "texts"),
    [
        (Strategy.FIXED, 22, ["One two three. Four", "five.\n\nSix seven.", "Eight nine ten."]),
        (Strategy.SENTENCE, 22, ["One two three.", "Four five.\n\nSix seven.", "Eight nine ten."]),
        (Strategy.SENTENCE, 37, ["One two three. Four five.\n\nSix seven.", "Eight nine ten."]),
        (Strategy.PARAGRAPH, 37, ["One two three. Four five.", "Six seven. Eight nine ten."]),
    ],
)
def test_chunks_end_where_their_strategy_says(strategy: Strategy, most: int, texts: list[str]) -> None:
    text = "One two three. Four five.\n\nSix seven. Eight nine ten."
    assert [chunk.text for chunk in cut(text, strategy, Size(most))] == texts


def test_a_change_of_topic_begins_a_semantic_chunk() -> None:
    letter, garden = chunks_of(TWO_TOPICS, Strategy.SEMANTIC, Size(1_000))
    assert letter.text.endswith("names a date.")
    assert garden.text.startswith("Tomatoes need much sun.")


def test_list_items_and_headings_are_cut_apart() -> None:
    text = "# Plan\nBuy paint\n- red paint\n- blue and\n  green"
    assert [chunk.text for chunk in cut(text, Strategy.SENTENCE, Size(19))] == [
        "# Plan\nBuy paint",
        "- red paint",
        "- blue and\n  green",
    ]


@pytest.mark.parametrize("part", ["word ", ".", '."', "- a\n", "\n ", "ä\n\n", "x"])
@pytest.mark.parametrize("strategy", [Strategy.FIXED, Strategy.SENTENCE, Strategy.PARAGRAPH])
def test_a_long_text_takes_linear_time(part: str, strategy: Strategy) -> None:
    def seconds(repeated: int) -> float:
        text = part * repeated + "x"
        start = time.process_time()
        cut(text, strategy)
        return time.process_time() - start

    # Quadratic time would be 64 times as long.
    assert seconds(64_000) < 30 * max(seconds(8_000), 0.002)
