"""Short kill trials of Suma: its executor dies around effects of every class, and none is lost or doubled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from libs.embedded.postgres import Postgres
from tests.trial import killer, report
from tests.trial.contenders import CONTENDERS, OURS
from tests.trial.report import Account
from tests.trial.schedule import Doom, Turn, Window, draw

SEED, TURNS = 3, 12
WINDOWS = (Window.BEFORE, Window.HELD)
EACH = [Turn(f"{effect}-{window}", effect, 0.0, (Doom(window, 0.0),)) for window in WINDOWS for effect in OURS]
Try = Callable[..., Awaitable[Account]]


@pytest_asyncio.fixture(loop_scope="session")
async def tried(server: Postgres, tmp_path: Path) -> AsyncIterator[Try]:
    """Run turns through Suma."""
    suma = CONTENDERS["suma"]
    async with suma.stage(server, tmp_path) as stage:

        async def run(turns: Sequence[Turn], *, at_once: int = killer.AT_ONCE) -> Account:
            result = await killer.run(suma, stage, turns, tmp_path, lambda text: None, at_once=at_once)
            return report.account(suma.name, turns, result, ours=True)

        yield run


@pytest.mark.requirement("A17a", "A10")
async def test_kill_around_an_effect_leaves_one_of_each_class(tried: Try) -> None:
    told = await tried(EACH, at_once=1)
    assert told.problems == [], told.document()
    met = {effect: (each.hits, each.exposed) for effect, each in told.figures.items()}
    assert met == dict.fromkeys(OURS, (len(WINDOWS), 1))
    assert told.figures["at_most_once"].unknown == len(WINDOWS)


@pytest.mark.requirement("A17a", "A10", "A12")
async def test_turns_that_die_together_repeat_nothing_and_lose_nothing(tried: Try) -> None:
    told = await tried(draw(SEED, TURNS, OURS))
    assert told.faults == [], told.document()


async def test_trial_ends_when_a_stop_outlasts_the_last_turn(server: Postgres, tmp_path: Path) -> None:
    suma, turns = CONTENDERS["suma"], [Turn(f"t{n}", OURS[n % len(OURS)], 0.0, ()) for n in range(4)]
    async with suma.stage(server, tmp_path) as stage, asyncio.timeout(90):
        result = await killer.run(suma, stage, turns, tmp_path, lambda text: None, at_once=1, stops=1, stopped=1.0)
    assert (result.stops, len(result.ended)) == (1, len(turns))
