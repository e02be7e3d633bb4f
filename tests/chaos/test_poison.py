"""Work that kills its process: after three deaths it is a dead letter, its turn fails, and other work goes on."""

from __future__ import annotations

from pathlib import Path

import asyncpg
import orjson
import pytest

from libs.database import Dsns
from tests import infrastructure
from tests.chaos.driver import DOOMED, die, survive
from tests.chaos.turn_scenario import turn_scenario
from tests.chaos.turn_story import accept

DEATHS = 3
NAMES = ("event.dead_lettered", "plan.rejected", "turn.ended")
SAID = "select type, at, data::text from bus.log where topic <> 'audit.events'"


async def free_the_dead(where: Dsns) -> None:
    """As the next process of the data directory does when it starts."""
    async with infrastructure.platform(where) as platform:
        await platform.leases.free([DOOMED])


@pytest.mark.requirement("A10", "A13", "A14")
async def test_a_turn_that_kills_three_processes_is_a_dead_letter(home: Dsns, tmp_path: Path) -> None:
    (turn,) = await accept(home, tmp_path, ["tidy"])
    for _ in range(DEATHS):
        await die(turn_scenario, home, str(tmp_path), "committee_worker:plan:run:before")
        await free_the_dead(home)
    await survive(turn_scenario, home, str(tmp_path))

    eye = await asyncpg.connect(home.owner.replace("suma_owner", "postgres"))
    said = {row["type"]: (row["at"], orjson.loads(row["data"])) for row in await eye.fetch(SAID)}
    await eye.close()
    (died, letter), (reported, rejected), (_, ended) = (said[f"suma.{name}.v1"] for name in NAMES)
    reason = f"The process died 3 times while it worked on “plan” of turn {turn}."
    assert (letter["event_topic"], letter["event_type"], letter["error"]) == ("leases", "plan", reason)
    assert (rejected["code"], rejected["reason"]) == ("PROCESS_DIED", reason)
    assert (ended["turn_id"], ended["state"], ended["reason"]) == (turn, "failed", "PROCESS_DIED")
    assert died == reported, "the dead letter and the report are one transaction"
