"""SIGKILL and SIGSTOP of a process in which turns wait for a slot: each ends once, and the slot is neither lost nor
held twice (A10, A18)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from libs.database import Dsns
from tests.chaos.driver import catalogue, doomed, survive
from tests.chaos.outside_scenario import noticed
from tests.chaos.slot_scenario import HOLD, HOLDING, RELEASED, WAIT, ended, slot_scenario, waiting
from tests.chaos.turn_scenario import stalled
from tests.chaos.turn_story import accept, every_turn_ended_well
from tests.support.processes import Child

TURN = "conversation_worker:turn"
AT_WORK = """
select headers ->> 'turnid' as turn, type = 'suma.turn.started.v1' as starts from bus.log
where type in ('suma.turn.started.v1', 'suma.turn.ended.v1') and headers ->> 'turnid' = any ($1) order by at
"""


@pytest_asyncio.fixture(loop_scope="session")
async def holder(home: Dsns, tmp_path: Path) -> list[str]:
    """A message whose turn will hold the only slot."""
    return await accept(home, tmp_path, [HOLD])


async def most_at_once(where: Dsns, turns: list[str]) -> int:
    """How many of these were at work at the same time."""
    eye = await asyncpg.connect(where.bus)
    try:
        rows = await eye.fetch(AT_WORK, turns)
    finally:
        await eye.close()
    counts = [sum(1 if row["starts"] else -1 for row in rows[: n + 1]) for n in range(len(rows))]
    return max(counts)


async def queued(where: Dsns, folder: Path) -> list[str]:
    """Two messages of other sessions, while the slot is held."""
    await noticed(folder / HOLDING)
    return await accept(where, folder, [WAIT, WAIT])


@pytest.mark.requirement("A10", "P1")
@pytest.mark.parametrize("point", ["run:before", ""])
async def test_kill_with_queued_turns_loses_none_and_keeps_the_limit(
    home: Dsns, tmp_path: Path, holder: list[str], point: str
) -> None:
    child = Child(doomed, slot_scenario, home, str(tmp_path), f"{TURN}:{point}", 1)
    turns = await queued(home, tmp_path)
    if not point:
        await waiting(home, 2)
        child.kill()
    assert await child.ended() < 0
    (tmp_path / RELEASED).touch()
    await survive(slot_scenario, home, str(tmp_path))
    await every_turn_ended_well(home, tmp_path, holder + turns)
    assert await most_at_once(home, turns) == 1


@pytest.mark.requirement("A10", "P1", "P2")
@pytest.mark.parametrize(("point", "begun"), [("run:after", False), ("finish:before", False), ("finish:after", True)])
async def test_kill_as_a_turn_gets_the_slot_loses_neither(
    home: Dsns, tmp_path: Path, holder: list[str], point: str, begun: bool
) -> None:
    child = Child(doomed, slot_scenario, home, str(tmp_path), f"{TURN}:{point}", 1)
    turns = await queued(home, tmp_path)
    await waiting(home, 2)
    (tmp_path / RELEASED).touch()
    assert await child.ended() < 0
    await survive(slot_scenario, home, str(tmp_path))
    await every_turn_ended_well(home, tmp_path, holder + turns)
    # A turn that another process had begun is not counted in this one, and goes on beside the next.
    assert await most_at_once(home, turns) <= 1 + begun


@pytest.mark.requirement("A18", "P2")
async def test_process_stalled_with_queued_turns_regains_its_slot_on_waking(
    home: Dsns, tmp_path: Path, holder: list[str]
) -> None:
    child = Child(doomed, slot_scenario, home, str(tmp_path), "", 0)
    try:
        turns = await queued(home, tmp_path)
        await waiting(home, 2)
        child.stop()
        await taken_over(home, tmp_path, holder + turns, child)
    finally:
        child.kill()


@pytest.mark.requirement("A18", "P2")
@pytest.mark.parametrize("point", ["run:before", "run:after", "finish:before", "finish:after"])
async def test_process_stalled_as_a_turn_gets_the_slot_regains_it(
    home: Dsns, tmp_path: Path, holder: list[str], point: str
) -> None:
    child = Child(doomed, partial(slot_scenario, stall=f"{TURN}:{point}"), home, str(tmp_path), "", 0)
    try:
        turns = await queued(home, tmp_path)
        if point != "run:before":
            await waiting(home, 2)
            (tmp_path / RELEASED).touch()
        await stalled(tmp_path)
        await taken_over(home, tmp_path, holder + turns, child)
    finally:
        child.kill()


async def taken_over(where: Dsns, folder: Path, turns: list[str], child: Child) -> None:
    """Another process ends them beyond the leases of the one that stands still; which then wakes, alone, and is of use
    at once."""
    (folder / RELEASED).touch()
    await survive(slot_scenario, where, str(folder), dead=())
    await every_turn_ended_well(where, folder, turns)
    child.resume()
    more = await accept(where, folder, [WAIT, WAIT])
    await ended(where, more)
    assert await most_at_once(where, more) == 1
    await every_turn_ended_well(where, folder, turns + more)


@pytest.mark.requirement("A10")
async def test_slot_kill_points_are_in_the_catalogue(home: Dsns, tmp_path: Path) -> None:
    async with slot_scenario(home, str(tmp_path), "m", lambda point: None) as (_, services):
        points = {f"{TURN}:{part}:{side}" for part in ("run", "finish") for side in ("before", "after")}
        assert points <= set(catalogue(services))
