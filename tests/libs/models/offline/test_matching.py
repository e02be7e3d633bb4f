"""The matcher: calibrated scores, near misses, and a thousand skills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from typing_extensions import override

from libs.events.values import Step
from libs.models.offline.ground import Ground
from libs.models.offline.matching import Matcher, rivals, sure
from libs.models.offline.reading import read
from libs.retrieval import Matrix
from libs.retrieval.offline import HashedEmbedder
from libs.skills import ToolDefinition

Catalogue = Sequence[ToolDefinition]


class Counting(HashedEmbedder):
    """Ours, remembering what it embedded; `flat` squeezes its cosines as another model's might be."""

    def __init__(self, flat: float = 1.0) -> None:
        self.embedded: list[str] = []
        self._flat = flat

    @override
    async def embed_document(self, texts: Sequence[str]) -> Matrix:
        self.embedded += texts
        return await super().embed_document(texts) * self._flat

    @override
    def calibrate(self, cosine: float) -> float:
        return super().calibrate(cosine / self._flat)


async def scores(matcher: Matcher, text: str, tools: Catalogue) -> dict[str, float]:
    ranked = await matcher.rank(read(text).clauses[0], tools, Ground(), least=0.0)
    return {found.tool.name: found.score for found in ranked}


@pytest.mark.requirement("S4-44", "S4-46")
async def test_every_phrase_of_a_tool_means_that_tool(catalogue: Catalogue) -> None:
    matcher, tools = Matcher(HashedEmbedder()), [tool for tool in catalogue if tool.in_workspace]
    for tool in tools:
        for phrase in tool.phrases:
            told = await scores(matcher, phrase, tools)
            assert all(0 <= score <= 1 for score in told.values())
            if len(read(phrase).clauses) == 1:
                assert told[tool.name] >= max(told.values()) - 0.05, (tool.name, phrase)


@pytest.mark.requirement("S4-46")
async def test_another_embedders_cosines_come_to_the_same_scores(catalogue: Catalogue) -> None:
    ours = await scores(Matcher(Counting()), "sort the images by type", catalogue)
    theirs = await scores(Matcher(Counting(flat=0.5)), "sort the images by type", catalogue)
    assert theirs == pytest.approx(ours, abs=1e-5)


@pytest.mark.requirement("S4-46", "S4-50")
async def test_a_near_miss_is_not_sure(catalogue: Catalogue) -> None:
    ranked = await Matcher(HashedEmbedder()).rank(read("clean up").clauses[0], catalogue, Ground())
    assert not sure(ranked)
    assert {found.tool.skill for found in ranked[:2]} == {"organize-by-type", "remove-duplicates"}


@pytest.mark.requirement("S4-47")
async def test_a_changed_tool_alone_is_embedded_anew(catalogue: Catalogue) -> None:
    embedder = Counting()
    matcher = Matcher(embedder)
    await scores(matcher, "sort by type", catalogue)
    embedder.embedded.clear()
    changed = [replace(catalogue[0], digest="new"), *catalogue[1:]]
    await scores(matcher, "sort by type", changed)
    assert set(embedder.embedded) == {*catalogue[0].phrases, catalogue[0].description}


@pytest.mark.requirement("S4-44")
async def test_a_thousand_other_skills_do_not_hide_the_right_one(catalogue: Catalogue) -> None:
    sort = next(tool for tool in catalogue if tool.name == "organize-by-type.sort")
    others = [
        replace(
            sort, name=f"zz{n}.run", skill=f"zz{n}", description=f"Zz{n}.", phrases=(f"frobnicate zz{n}",), digest="1"
        )
        for n in range(1000)
    ]
    ranked = await Matcher(HashedEmbedder()).rank(read("sort by type").clauses[0], [*others, *catalogue], Ground())
    assert ranked[0].tool == sort
    assert sure(ranked)


@pytest.mark.requirement("S4-44")
async def test_all_that_is_worth_offering_is_ranked_and_equal_scores_come_by_name(catalogue: Catalogue) -> None:
    sort = next(tool for tool in catalogue if tool.name == "organize-by-type.sort")
    twins = [replace(sort, name=f"zz{n:02}.run", skill=f"zz{n:02}") for n in reversed(range(40))]
    others = [replace(sort, name=f"yy{n}.run", phrases=(f"frobnicate yy{n}",), description="Yy.") for n in range(40)]
    clause = read("sort by type").clauses[0]
    ranked = await Matcher(HashedEmbedder()).rank(clause, [*others, *twins], Ground())
    assert [found.tool.name for found in ranked] == [f"zz{n:02}.run" for n in range(40)]
    assert len(await Matcher(HashedEmbedder()).rank(clause, others, Ground())) >= 16


@pytest.mark.requirement("S4-31")
async def test_a_step_whose_words_mean_another_skill_does_not_agree(catalogue: Catalogue) -> None:
    step = Step(
        step_id="s",
        ordinal=1,
        description="Remove duplicate files.",
        skill="organize-by-type",
        tool="organize-by-type.sort",
    )
    matcher = Matcher(HashedEmbedder())
    assert [each.tool.skill for each in await rivals(matcher, step, catalogue)] == [
        "remove-duplicates",
        "organize-by-type",
    ]
    right = step.model_copy(update={"skill": "remove-duplicates", "tool": "remove-duplicates.remove"})
    assert await rivals(matcher, right, catalogue) == ()
