"""A folder with a foreign `.suma` can be worked in, and the answer says once what became of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import ToolSucceeded, TurnEnded
from libs.events.values import Hitl
from libs.workspace.commit import commit
from libs.workspace.engine import no_fence
from libs.workspace.operations import Delete
from libs.workspace.stage import Stage
from libs.workspace.tree import Tree
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

LIST = ("manage-files.list", {"path": "."})
DELETE = ("manage-files.delete", {"paths": ["a.txt"]})


async def warnings(at: RunningPlatform, folder: Path) -> list[str]:
    turn = await at.say("go", session="s", root=folder, hitl=Hitl.BYPASS)
    ended = await at.finish(turn, session="s")
    assert isinstance(ended, TurnEnded)
    assert ended.state == "completed"
    told = [event for event in await at.logged("s") if isinstance(event, ToolSucceeded) and event.turn_id == turn]
    return [warning for event in told for warning in event.warnings if ".suma" in warning]


@pytest.mark.parametrize("kind", ["garbage", "valid"])
async def test_a_foreign_journal_is_named_once_and_not_acted_on(home: Dsns, tmp_path: Path, kind: str) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST), plan(DELETE))) as at:
        folder = at.folder("a.txt", "b.txt")
        if kind == "garbage":
            (folder / ".suma/txn/evil").mkdir(parents=True)
        else:
            stage = Stage(Tree.scan(folder))
            stage.apply(Delete(path="b.txt"))
            commit(folder, stage, commit_id="theirs", fence=no_fence)
        told = await warnings(at, folder)
        assert [".suma-set-aside-1" in warning for warning in told] == [True]
        assert (folder / ".suma-set-aside-1").is_dir()
        assert await warnings(at, folder) == []
        assert not (folder / "a.txt").exists()
        await at.roll_back(session="s")


async def test_own_journal_is_kept_between_turns(home: Dsns, tmp_path: Path) -> None:
    async with run_platform(home, tmp_path, model=scripted_model(plan(LIST), plan(DELETE), plan(LIST))) as at:
        folder = at.folder("a.txt", "b.txt")
        assert [await warnings(at, folder) for _ in range(3)] == [[], [], []]
        assert (folder / ".suma/history").is_dir()
