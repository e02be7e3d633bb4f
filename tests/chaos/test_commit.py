"""The executor killed or stalled around and in the middle of a commit: all of it is in effect or nothing, once, and who
wakes too late changes nothing (A18, A25)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import asyncpg
import pytest

from libs.database import Dsns
from tests.chaos.driver import die, doomed, survive
from tests.chaos.turn_scenario import stalled, stalling_scenario, turn_scenario, woken
from tests.chaos.turn_story import MANY_FILES, accept, after, before, every_turn_ended_well, touched, tree
from tests.support.processes import Child

TIDY_COMMIT = 5
"""Which of the executor's calls is the commit of a tidy turn."""
MIDDLE = MANY_FILES // 2
ANSWERS = """
select count(*) from bus.log where type = 'suma.tool.succeeded.v1' and data ->> 'commit_id' is not null
"""


async def committed(where: Dsns) -> int:
    """How often it was told that the commit succeeded."""
    eye = await asyncpg.connect(where.bus)
    try:
        return int(await eye.fetchval(ANSWERS))
    finally:
        await eye.close()


@pytest.mark.requirement("A25", "A11")
@pytest.mark.parametrize("point", ["run:after", "finish:before"])
async def test_unrecorded_commit_on_disk_is_answered_and_not_repeated(home: Dsns, tmp_path: Path, point: str) -> None:
    (turn,) = await accept(home, tmp_path, ["tidy"])
    await die(turn_scenario, home, str(tmp_path), f"tool_executor:tool:{point}", TIDY_COMMIT)
    there = touched(tmp_path, turn)
    assert tree(tmp_path, turn) == after(turn)
    assert await committed(home) == 0
    await survive(turn_scenario, home, str(tmp_path))
    assert touched(tmp_path, turn) == there
    assert await committed(home) == 1
    await every_turn_ended_well(home, tmp_path, [turn])


@pytest.mark.requirement("A25", "A10")
@pytest.mark.parametrize(
    ("step", "hit"), [("staged", 1), ("detach", MIDDLE), ("placing", 1), ("attach", MIDDLE), ("committed", 1)]
)
async def test_killed_commit_of_a_thousand_files_is_completed_or_undone(
    home: Dsns, tmp_path: Path, step: str, hit: int
) -> None:
    (turn,) = await accept(home, tmp_path, ["many"])
    await die(turn_scenario, home, str(tmp_path), f"tool_executor:files:{step}", hit)
    assert tree(tmp_path, turn) != after(turn) or step == "committed"
    await survive(turn_scenario, home, str(tmp_path))
    assert await committed(home) == 1
    await every_turn_ended_well(home, tmp_path, [turn])


@pytest.mark.requirement("A25", "A18", "A10")
@pytest.mark.parametrize("step", ["detach", "attach"])
async def test_executor_stalled_beyond_its_lease_changes_nothing_on_waking(
    home: Dsns, tmp_path: Path, step: str
) -> None:
    (turn,) = await accept(home, tmp_path, ["many"])
    stalling = partial(stalling_scenario, at=f"tool_executor:files:{step}", hit=MIDDLE)
    child = Child(doomed, stalling, home, str(tmp_path), "", 0)
    try:
        await stalled(tmp_path)
        assert tree(tmp_path, turn) not in (before(turn), after(turn))
        await survive(turn_scenario, home, str(tmp_path), dead=())
        there = touched(tmp_path, turn)
        child.resume()
        await woken(tmp_path)
        assert touched(tmp_path, turn) == there
        assert await committed(home) == 1
        await every_turn_ended_well(home, tmp_path, [turn])
    finally:
        child.kill()
