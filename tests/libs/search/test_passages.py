"""Passages by meaning: the nearest one of each file, within bounds."""

from __future__ import annotations

import pytest

from libs.search import HashedEmbedder, Passages
from libs.search.chunks import Size, Strategy, cut

LETTER = "The dentist writes about a crown.\n\nThe bill of the dentist comes to 80 euros.\n\nKind regards"
GARDEN = "Tomatoes need much sun.\n\nBeans need water."


async def put(passages: Passages, path: str, text: str) -> bool:
    chunks = cut(text, Strategy.PARAGRAPH, Size(45))
    return passages.put(path, chunks, await HashedEmbedder().embed_documents([one.text for one in chunks]))


async def found(passages: Passages, query: str, least: float = 0.2) -> list[tuple[str, int]]:
    vector = await HashedEmbedder().embed_query(query)
    return [(near.path, near.place.first) for near in passages.near(vector, least, lambda _: True)]


@pytest.mark.requirement("S4-27")
async def test_the_nearest_passage_of_each_file_is_found() -> None:
    passages = Passages(100)
    await put(passages, "letter.txt", LETTER)
    await put(passages, "garden.txt", GARDEN)
    assert await found(passages, "the dentist's bill") == [("letter.txt", 3)]
    assert (await found(passages, "sun for tomatoes"))[0] == ("garden.txt", 1)


async def test_a_kept_cosine_is_near_the_real_one() -> None:
    passages = Passages(100)
    await put(passages, "letter.txt", LETTER)
    vector = await HashedEmbedder().embed_query("the dentist's bill")
    real = float((await HashedEmbedder().embed_documents([LETTER.split("\n\n")[1]]))[0] @ vector)
    assert passages.near(vector, 0.2, lambda _: True)[0].cosine == pytest.approx(real, abs=0.01)


async def test_removed_and_replaced_passages_are_not_found() -> None:
    passages = Passages(100)
    await put(passages, "a.txt", LETTER)
    await put(passages, "a.txt", GARDEN)
    await put(passages, "b.txt", LETTER)
    passages.remove("b.txt")
    assert await found(passages, "the dentist's bill") == []
    assert passages.paths == ["a.txt"]


async def test_a_file_without_room_is_left_out_whole() -> None:
    passages = Passages(3)
    assert await put(passages, "a.txt", LETTER)
    assert not await put(passages, "b.txt", GARDEN)
    assert passages.paths == ["a.txt"]
    # Rows are used again.
    assert await put(passages, "a.txt", GARDEN)
    assert await put(passages, "c.txt", GARDEN)
