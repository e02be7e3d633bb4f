"""What a model is shown of a step whose result is too large for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from typing_extensions import override

from libs.database import Dsns
from libs.events.committee import Task
from libs.models.ports import ModelText, PlanDraft
from tests.support.platform import plan, run_platform
from tests.support.scripted import Scripted


class Remembering(Scripted):
    """A scripted model that keeps the task of its answer."""

    @override
    async def answer(self, task: Task) -> AsyncIterator[ModelText]:
        self.task = task
        yield ModelText("Done.")


@pytest.mark.parametrize("files", [20, 300, 3000], ids=["shown", "summarised", "a blob"])
async def test_large_result_still_names_the_excluded_files(home: Dsns, tmp_path: Path, files: int) -> None:
    model = Remembering(plans=[PlanDraft(plan(("manage-files.list", {"path": ".", "include": ["*"]})))])
    async with run_platform(home, tmp_path, model=model) as at:
        root = at.folder(*(f"a photo with a long name, number {n:05}.jpg" for n in range(files)))
        (Path(root) / "project" / ".git").mkdir(parents=True)
        turn = await at.say("list the files", session="s", root=root)
        assert (await at.ended(turn, session="s")).state == "completed"
    (seen,) = model.task.observations
    assert seen.left_alone is not None
    assert seen.left_alone["repositories"] == ["project"]
