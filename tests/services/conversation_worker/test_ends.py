"""Whatever comes, in whatever order: a turn ends exactly once, and nothing is left open."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from libs.database import Dsns
from libs.events import ApprovalRequested, ToolCancelRequested, TurnEnded
from libs.events.base import Event
from libs.events.topics import INBOUND, TOOL_RESULTS
from tests.support.platform import RunningPlatform, plan, run_platform, scripted_model

MAKE = plan(
    ("manage-files.list", {"path": "."}),
    ("manage-files.create", {"path": ".", "name": "n", "type": "directory"}),
    ("manage-files.rename", {"path": "n", "new_name": "m"}),
)


async def trouble(at: RunningPlatform, dice: random.Random, turns: list[str], asked: list[ApprovalRequested]) -> None:
    """One thing that a person, an attacker or a failure might do."""
    match dice.randrange(6):
        case 0:
            await at.cancel(dice.choice(turns), session="s")
        case 1:
            await at.publish(ToolCancelRequested(turn_id=dice.choice(turns)), session="s")
        case 2 if asked:
            await at.decide(dice.choice(asked), dice.choice(["approve", "deny", "override", "nonsense"]), session="s")
        case 3:
            said: list[Event] = [e for e in await at.logged("s") if e.topic in (INBOUND, TOOL_RESULTS)]
            await at.publish(dice.choice(said), session="s")
        case 4:
            await at.roll_back(session="s")
        case _:
            await at.platform.bus.waiting()


@pytest.mark.requirement("A12", "A22a")
@pytest.mark.parametrize("seed", range(8))
async def test_every_turn_ends_exactly_once(home: Dsns, tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    async with run_platform(home, tmp_path, model=scripted_model(MAKE, MAKE, MAKE)) as at:
        where = at.folder("a", "b")
        turns = [await at.say("make", session="s", root=where) for _ in range(3)]
        for _ in range(15):
            asked = [e for e in await at.logged("s") if isinstance(e, ApprovalRequested)]
            await trouble(at, dice, turns, asked)
        for turn in turns:
            await at.cancel(turn, session="s")
        for turn in turns:
            await at.ended(turn, session="s")
        await at.quiet()
        ended = [e.turn_id for e in await at.logged("s") if isinstance(e, TurnEnded)]
        assert sorted(ended) == sorted(set(ended))
        assert set(turns) <= set(ended)
