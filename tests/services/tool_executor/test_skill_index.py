"""The index of skills: one skill is sure above the threshold and ahead of the next, and only changes are embedded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typing_extensions import override

from libs.search import HashedEmbedder, Matrix
from libs.skills import SkillDefinition
from services.tool_executor.skills.search import SkillIndex, choices
from tests.support.platform import skills

LETTERS, PHOTOS, DUPLICATES = (skills().skills[name] for name in ("summarize", "organize-by-type", "remove-duplicates"))


class Counting(HashedEmbedder):
    """An embedder that counts the texts that it embeds; its model can be changed."""

    def __init__(self) -> None:
        self.name, self.count = "one", 0

    @override
    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.count += len(texts)
        return await super().embed_documents(texts)


def texts_of(*chosen: SkillDefinition) -> int:
    return sum(1 + sum(1 + len(tool.examples) for tool in skill.tools) for skill in chosen)


@pytest.mark.requirement("S4-46")
@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ((0.94, 0.80), 1),
        ((0.751, 0.70), 1),
        # A gap of exactly 0.05 asks, whatever the floats are.
        ((0.75, 0.70), 2),
        ((0.85, 0.80), 2),
        ((0.72, 0.69), 2),
        ((0.90, 0.86, 0.84), 2),
        ((0.70, 0.10), 0),
        ((0.701, 0.10), 1),
        ((0.71,), 1),
        ((), 0),
    ],
)
def test_a_skill_is_sure_above_threshold_and_gap(scores: tuple[float, ...], chosen: int) -> None:
    found = [*zip((LETTERS, PHOTOS, DUPLICATES), scores, strict=False)]
    assert [*choices(found)] == [skill for skill, _ in found[:chosen]]


@pytest.mark.requirement("S4-16", "S4-17")
async def test_a_changed_description_embeds_that_skill_only() -> None:
    index = SkillIndex(embedder := Counting())
    await index.nearest("photos", [LETTERS, PHOTOS])
    assert embedder.count == texts_of(LETTERS, PHOTOS)
    changed = replace(LETTERS, description="Writes letters to aunts.")
    found = await index.nearest("letters to aunts", [changed, PHOTOS])
    assert embedder.count == texts_of(LETTERS, PHOTOS, changed)
    assert found[0][0] is changed


@pytest.mark.requirement("S4-17", "S4-44")
async def test_a_changed_model_embeds_every_skill_again() -> None:
    index = SkillIndex(embedder := Counting())
    await index.nearest("photos", [LETTERS, PHOTOS])
    embedder.name = "two"
    await index.nearest("photos", [LETTERS, PHOTOS])
    assert embedder.count == 2 * texts_of(LETTERS, PHOTOS)


async def test_skills_of_one_name_in_two_folders_are_apart() -> None:
    other = replace(PHOTOS, folder=Path("/elsewhere"), description="Bakes bread.")
    found = await SkillIndex(Counting()).nearest("bakes bread", [PHOTOS, other])
    assert found[0][0] is other
