"""Skills found by what they say of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from libs.retrieval import Matrix, Retriever
from libs.retrieval.offline import HashedEmbedder
from libs.skills import Skills

BUNDLED = Path(__file__).parents[3] / "skills"
DESCRIBED = {"dedupe": ["remove duplicate files"], "sort": ["organize files by type", "sort into folders"]}


class Counting:
    """The offline embedder, remembering what it embedded."""

    def __init__(self) -> None:
        self._embedder = HashedEmbedder()
        self.embedded: list[str] = []
        self.name, self.dims, self.calibrate = self._embedder.name, self._embedder.dims, self._embedder.calibrate
        self.embed_query = self._embedder.embed_query

    async def embed_document(self, texts: Sequence[str]) -> Matrix:
        self.embedded += texts
        return await self._embedder.embed_document(texts)


@pytest.mark.requirement("S4-46", "S4-47")
async def test_each_bundled_tools_own_words_find_its_skill() -> None:
    skills = Skills.load([BUNDLED])
    retriever = Retriever(HashedEmbedder())
    await retriever.build(
        {
            skill.name: [skill.description, *(tool.description for tool in skill.tools)]
            for skill in skills.skills.values()
        }
    )
    for tool in [tool for skill in skills.skills.values() for tool in skill.tools]:
        matches = await retriever.query(tool.description)
        assert matches[0].id == tool.skill
        assert retriever.confident(matches), (tool.name, matches[:2])


async def test_the_best_of_an_ids_texts_counts_once() -> None:
    retriever = Retriever(HashedEmbedder())
    await retriever.build(DESCRIBED)
    matches = await retriever.query("sort into folders")
    assert [match.id for match in matches] == ["sort", "dedupe"]
    assert matches[0].score == pytest.approx(1.0)


@pytest.mark.requirement("S4-17", "S4-47")
async def test_a_changed_description_embeds_only_that_skill_anew() -> None:
    embedder = Counting()
    retriever = Retriever(embedder)
    await retriever.build(DESCRIBED)
    embedder.embedded.clear()
    await retriever.build({**DESCRIBED, "dedupe": ["find identical files"]})
    assert embedder.embedded == ["find identical files"]


async def test_what_is_gone_is_no_longer_found() -> None:
    retriever = Retriever(HashedEmbedder())
    await retriever.build(DESCRIBED)
    await retriever.build({"dedupe": DESCRIBED["dedupe"]})
    assert [match.id for match in await retriever.query("sort into folders")] == ["dedupe"]


async def test_an_empty_index_is_never_confident() -> None:
    retriever = Retriever(HashedEmbedder())
    assert not retriever.confident(await retriever.query("anything"))
