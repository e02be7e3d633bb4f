"""The executor killed and stalled around an effect on another database: one intent, one effect, by its class.

A stalled process has its leave to act already: what keeps it from acting beside its successor is the world's own fence.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import pytest_asyncio

from libs.database import Dsns
from tests.chaos.driver import DOOMED, die, doomed, survive
from tests.chaos.outside_scenario import LOCKED, WOKEN, accept, noticed, outside_scenario, place, told
from tests.chaos.turn_scenario import stalled
from tests.support.effect_tools import Book, Note, Put, Send, World
from tests.support.processes import Child

SAFE = [Put.name, Note.name, Book.name]


@pytest_asyncio.fixture(loop_scope="session")
async def there(world: str) -> World:
    made = World(world)
    await made.prepare()
    return made


@pytest.mark.requirement("A17a", "A10")
@pytest.mark.parametrize("tool", SAFE)
@pytest.mark.parametrize("point", ["effects:begun", "effect:run:after", "effect:finish:before", "effect:finish:after"])
async def test_executor_killed_around_an_effect_leaves_one_effect(
    home: Dsns, tmp_path: Path, there: World, tool: str, point: str
) -> None:
    session, here = await accept(home, tmp_path, tool), place(tmp_path, there.dsn)
    await die(outside_scenario, home, here, f"tool_executor:{point}")
    await survive(outside_scenario, home, here)
    assert len(await there.made(session)) == 1
    assert await told(home, session) == ["succeeded"]


@pytest.mark.requirement("A17a", "A10")
@pytest.mark.parametrize(
    ("point", "made", "ends"),
    [
        ("effect:run:before", 1, "succeeded"),
        ("effects:begun", 0, "unknown"),
        ("effect:run:after", 1, "unknown"),
        ("effect:finish:after", 1, "succeeded"),
    ],
)
async def test_begun_at_most_once_effect_is_unknown_and_never_doubled(
    home: Dsns, tmp_path: Path, there: World, point: str, made: int, ends: str
) -> None:
    session, here = await accept(home, tmp_path, Send.name), place(tmp_path, there.dsn)
    await die(outside_scenario, home, here, f"tool_executor:{point}")
    await survive(outside_scenario, home, here)
    assert (len(await there.made(session)), await told(home, session)) == (made, [ends])


@pytest.mark.requirement("A17a", "A10")
@pytest.mark.parametrize("tool", SAFE)
@pytest.mark.parametrize("at", ["run:acting", "run:open"])
async def test_kill_in_the_middle_of_an_effect_leaves_one(
    home: Dsns, tmp_path: Path, there: World, tool: str, at: str
) -> None:
    session = await accept(home, tmp_path, tool)
    child = Child(doomed, outside_scenario, home, place(tmp_path, there.dsn, at=at, how="die"), "", 0)
    await child.ended()
    await survive(outside_scenario, home, place(tmp_path, there.dsn), dead=(DOOMED,))
    assert len(await there.made(session)) == 1
    assert await told(home, session) == ["succeeded"]


@pytest.mark.requirement("A17a", "A10", "A23")
@pytest.mark.parametrize("point", ["run:before", "run:after", "finish:before", "finish:after"])
@pytest.mark.parametrize(("tool", "made", "ends"), [(Note.name, 1, "succeeded"), (Book.name, 0, "failed")])
async def test_cancel_learns_its_result_though_the_settling_executor_dies(
    home: Dsns, tmp_path: Path, there: World, tool: str, made: int, ends: str, point: str
) -> None:
    session, here = await accept(home, tmp_path, tool), place(tmp_path, there.dsn, at="run:after", how="cancel")
    await die(outside_scenario, home, here, f"tool_executor:settle:{point}")
    await survive(outside_scenario, home, here)
    assert (len(await there.made(session)), await told(home, session)) == (made, [ends])


@pytest.mark.requirement("A17a", "A18")
@pytest.mark.parametrize(("tool", "ends"), [*((tool, "succeeded") for tool in SAFE), (Send.name, "unknown")])
async def test_stalled_executor_waking_after_its_successor_adds_no_effect(
    home: Dsns, tmp_path: Path, there: World, tool: str, ends: str
) -> None:
    session = await accept(home, tmp_path, tool)
    child = Child(doomed, outside_scenario, home, place(tmp_path, there.dsn, at="run:acting", how="stall"), "", 0)
    try:
        await stalled(tmp_path)
        await survive(outside_scenario, home, place(tmp_path, there.dsn), dead=())
        child.resume()
        await noticed(tmp_path / WOKEN)
        assert len(await there.made(session)) == 1
        assert await told(home, session) == [ends]
    finally:
        child.kill()


@pytest.mark.requirement("A17a", "A18")
async def test_undo_resumed_after_its_successor_changes_nothing(home: Dsns, tmp_path: Path, there: World) -> None:
    session = await accept(home, tmp_path, Book.name)
    child = Child(doomed, outside_scenario, home, place(tmp_path, there.dsn, at="undo:acting", how="stall"), "", 0)
    try:
        await stalled(tmp_path)
        await survive(outside_scenario, home, place(tmp_path, there.dsn), dead=())
        child.resume()
        await noticed(tmp_path / WOKEN)
        assert (len(await there.made(session)), await told(home, session)) == (1, ["succeeded"])
    finally:
        child.kill()


@pytest.mark.requirement("A17a", "A18")
@pytest.mark.parametrize("tool", SAFE)
async def test_successor_waits_for_an_executor_stalled_with_the_effect_open(
    home: Dsns, tmp_path: Path, there: World, tool: str
) -> None:
    session = await accept(home, tmp_path, tool)
    child = Child(doomed, outside_scenario, home, place(tmp_path, there.dsn, at="run:open", how="stall"), "", 0)
    try:
        await stalled(tmp_path)
        end = asyncio.ensure_future(survive(outside_scenario, home, place(tmp_path, there.dsn), dead=()))
        await noticed(tmp_path / LOCKED)
        child.resume()
        await noticed(tmp_path / WOKEN)
        await end
        assert len(await there.made(session)) == 1
        assert await told(home, session) == ["succeeded"]
    finally:
        child.kill()
