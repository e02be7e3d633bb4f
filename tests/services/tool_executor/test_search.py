"""Content search says which files it does not know as they are now (S4-23)."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import ToolSucceeded
from libs.events.values import Hitl
from tests.house import House, house, mind, plan

SEARCH = ("search-files.search", {"query": "harbour", "top_k": 3, "path": "."})
WRITE = ("manage-files.create", {"path": ".", "name": "new.txt", "type": "file", "content": "harbour"})


async def found(at: House) -> ToolSucceeded:
    turn = await at.say("search", session="s", root=at.folder(), hitl=Hitl.BYPASS)
    await at.finish(turn, session="s")
    told = [e for e in await at.logged("s") if isinstance(e, ToolSucceeded)]
    return next(e for e in told if isinstance(e.data.json_, dict) and "matches" in e.data.json_)


@pytest.mark.requirement("S4-22", "S4-23")
async def test_a_file_that_is_only_staged_is_counted_as_stale_and_the_answer_says_so(
    home: Dsns, tmp_path: Path
) -> None:
    async with house(home, tmp_path, model=mind(plan(WRITE, SEARCH))) as at:
        (at.folder() / "old.txt").write_text("the harbour at night")
        told = await found(at)
        assert told.data.json_["stale"] == 1
        assert [match["path"] for match in told.data.json_["matches"]] == ["old.txt"]
        assert any("Content index out of date for 1 nodes" in warning for warning in told.warnings)


@pytest.mark.requirement("S4-23")
async def test_an_index_that_is_up_to_date_warns_of_nothing(home: Dsns, tmp_path: Path) -> None:
    async with house(home, tmp_path, model=mind(plan(SEARCH))) as at:
        (at.folder() / "old.txt").write_text("the harbour at night")
        told = await found(at)
        assert (told.data.json_["stale"], told.warnings) == (0, ())
