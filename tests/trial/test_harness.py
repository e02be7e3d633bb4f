"""The harness itself: what it must count is planted, and counted (A17a)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from libs.embedded.postgres import Postgres
from tests.trial import killer
from tests.trial.contenders import Contender, here, one_process
from tests.trial.count import LEAST_HIT, Figures, missing_hits
from tests.trial.executors import planted
from tests.trial.killer import Result
from tests.trial.processes import Broken
from tests.trial.report import counted
from tests.trial.schedule import Doom, Turn, Window

EFFECTS = ("plain", "keyed", "hasty", "silent")
PLANTED = Contender("planted", EFFECTS, planted.__name__, here, one_process(planted.OPEN))
SHORT, LONG = 2.0, 60.0
"""Seconds without a sign of life: where none will come, and where one will."""
Try = Callable[..., Awaitable[Result]]


def doomed(name: str, effect: str, *windows: Window) -> Turn:
    """A turn whose first calls are killed in these windows."""
    return Turn(name, effect, 0.0, tuple(Doom(window, 0.0) for window in windows))


@pytest_asyncio.fixture(loop_scope="session")
async def tried(server: Postgres, tmp_path: Path) -> AsyncIterator[Try]:
    """Run turns through the planted platform."""
    async with PLANTED.stage(server, tmp_path) as stage:

        async def run(turns: Sequence[Turn], *, patience: float = LONG) -> Result:
            return await killer.run(PLANTED, stage, turns, tmp_path, lambda text: None, patience=patience)

        yield run


async def test_turns_without_kills_have_one_effect_each(tried: Try) -> None:
    turns = [doomed(f"t{n}", "plain") for n in range(20)]
    result = await tried(turns)
    assert (result.kills, counted(turns, result)) == (0, {"plain": Figures(turns=20, effects=20)})


@pytest.mark.requirement("A17a")
async def test_a_planted_duplicate_is_counted(tried: Try) -> None:
    turns = [doomed("t1", "plain", Window.HELD, Window.HELD)]
    told = counted(turns, await tried(turns))["plain"]
    assert told == Figures(turns=1, hits=1, exposed=1, effects=3, duplicates=2)


async def test_repeated_keyed_request_is_no_duplicate(tried: Try) -> None:
    turns = [doomed("t1", "keyed", Window.HELD, Window.HELD)]
    assert counted(turns, await tried(turns))["keyed"] == Figures(turns=1, hits=1, exposed=1, effects=1)


@pytest.mark.requirement("A17a")
async def test_a_planted_loss_is_counted(tried: Try) -> None:
    turns = [doomed("t1", "hasty", Window.BEFORE)]
    assert counted(turns, await tried(turns))["hasty"] == Figures(turns=1, lost=1)


@pytest.mark.requirement("A17a")
async def test_a_turn_that_never_ends_is_lost(tried: Try) -> None:
    turns = [doomed("t1", "silent", Window.HELD), doomed("t2", "plain")]
    told = counted(turns, await tried(turns, patience=SHORT))
    assert told["silent"] == Figures(turns=1, hits=1, exposed=1, effects=1, lost=1)
    assert told["plain"].lost == 0


@pytest.mark.parametrize("window", [Window.BEFORE, Window.DURING, Window.HELD])
async def test_kill_aimed_between_intent_and_outcome_hits_the_turn(tried: Try, window: Window) -> None:
    turns = [doomed("t1", "keyed", window)]
    result = await tried(turns)
    assert (result.aimed, result.met) == ({window: 1}, {window: 1})
    assert (result.hits, counted(turns, result)["keyed"].effects) == ({"t1": 1}, 1)


async def test_kills_are_added_where_too_few_were_drawn(server: Postgres, tmp_path: Path) -> None:
    turns = [doomed(f"t{n}", "keyed") for n in range(20)]
    async with PLANTED.stage(server, tmp_path) as stage:
        result = await killer.run(PLANTED, stage, turns, tmp_path, lambda text: None, least=LEAST_HIT)
    assert missing_hits(counted(turns, result)) == []


async def test_a_kill_before_the_effect_leaves_no_effect_behind(tried: Try) -> None:
    turns = [doomed("t1", "plain", Window.BEFORE)]
    assert counted(turns, await tried(turns))["plain"] == Figures(turns=1, hits=1, effects=1)


async def test_a_process_that_fails_by_itself_breaks_the_trial(server: Postgres, tmp_path: Path) -> None:
    wrong = Contender("wrong", EFFECTS, planted.__name__, here, one_process(planted.OPEN, planted.__name__))
    async with wrong.stage(server, tmp_path) as stage:
        with pytest.raises(Broken, match="takes"):
            await killer.run(wrong, stage, [doomed("t1", "plain")], tmp_path, lambda text: None)
