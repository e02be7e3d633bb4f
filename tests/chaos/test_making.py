"""SIGKILL in the middle of a job that makes assets: another process goes on behind the last step that ended, each step
makes one asset, the file is there once, nothing is left over, and nothing is bought twice (A10, S3-15)."""

from __future__ import annotations

import hashlib
import signal
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from libs import ids
from libs.database import Dsns
from libs.runtime.host import host
from tests.chaos.driver import DENSE, WITHIN, die, doomed, survive, time_flies, until_over
from tests.chaos.making_scenario import (
    BOUGHT,
    DRAWING,
    JOB,
    JOINED,
    PRICE,
    SOLD,
    Left,
    left,
    making_scenario,
    sold,
    swept,
)
from tests.chaos.outside_scenario import noticed
from tests.chaos.turn_story import ENDS, MESSY, accept, folder, tree
from tests.infrastructure import PACE
from tests.support.processes import Child

DOCUMENT, COMMIT = 3, 4
"""The executor's calls of the job: chart, diagram, document, commit."""
MAKING = tuple(f"tool_executor:multimodal:{each}" for each in ("begun", "made", "referred", "kept"))
TOOL = tuple(f"tool_executor:tool:{each}" for each in ("run:before", "run:after", "finish:before", "finish:after"))
POINTS = [
    *((point, step) for point in MAKING for step in range(1, DOCUMENT + 1)),
    *((point, DOCUMENT) for point in TOOL),
    ("tool_executor:files:placing", 1),
    ("tool_executor:tool:finish:before", COMMIT),
]
SAID = """
select type, data ->> 'code' as code from bus.log where data ->> 'turn_id' = $1 and type like 'suma.tool.%'
and type <> 'suma.tool.requested.v1' order by at, topic, position
"""
PAID = "select cost_spent + cost_reserved from budgets.accounts where kind = 'tenant'"


async def told(where: Dsns, query: str, *args: str) -> list[tuple[Any, ...]]:
    eye = await asyncpg.connect(where.owner.replace("suma_owner", "postgres"))
    try:
        assert await eye.fetchval(DENSE)
        return [tuple(row) for row in await eye.fetch(query, *args)]
    finally:
        await eye.close()


async def whole(where: Dsns, world: Path, *, assets: int) -> Left:
    """Every asset has its one content, and no other content or blob is left."""
    await swept(where, world)
    found = await left(where, world)
    assert len(found.assets) == assets
    assert {each["content"] for each in found.assets} == {each["name"] for each in found.contents}
    assert len(found.contents) == assets
    assert {each["blob"] for each in found.contents} == found.blobs
    assert list(world.glob("**/objects/*/stages/*")) == []
    return found


async def made_once(where: Dsns, world: Path, turn: str) -> Left:
    """The job is complete: one succeeded execution and one asset of each step, and one file from one commit."""
    assert await told(where, ENDS, turn) == [("completed", None)]
    assert await told(where, SAID, turn) == [("suma.tool.succeeded.v1", None)] * COMMIT
    found = await whole(where, world, assets=DOCUMENT)
    steps = [(each["step_index"], each["attempt"], each["status"]) for each in found.executions]
    assert steps == [(step, 1, "succeeded") for step in range(1, DOCUMENT + 1)]
    made = {each["execution_id"]: each for each in found.assets}
    assert {each["id"]: each["asset_id"] for each in found.executions} == {key: made[key]["id"] for key in made}
    files = tree(world, turn)
    report = files.pop("report.pdf")
    assert files == MESSY
    assert hashlib.sha256(report).hexdigest() == made[found.executions[-1]["id"]]["checksum"]
    assert len(list((folder(world, turn) / ".suma" / "history").iterdir())) == 1
    assert list((folder(world, turn) / ".suma").glob("txn/*")) == []
    return found


@pytest.mark.requirement("A10", "S3-15")
async def test_job_passes_every_point_that_is_killed(home: Dsns, tmp_path: Path) -> None:
    (turn,) = await accept(home, tmp_path, ["job"], text=JOB)
    faults = await survive(making_scenario, home, str(tmp_path), dead=())
    await made_once(home, tmp_path, turn)
    assert {each: n for each, n in faults.seen.items() if ":multimodal:" in each} == dict.fromkeys(MAKING, DOCUMENT)
    assert all(faults.seen[point] >= hit for point, hit in POINTS)


@pytest.mark.requirement("A10", "S3-15", "S3-38")
@pytest.mark.parametrize(("point", "hit"), POINTS)
async def test_killed_job_goes_on_and_makes_each_asset_once(home: Dsns, tmp_path: Path, point: str, hit: int) -> None:
    (turn,) = await accept(home, tmp_path, ["job"], text=JOB)
    await die(making_scenario, home, str(tmp_path), point, hit)
    before = await left(home, tmp_path)
    interrupted = {each["id"]: each["token"] for each in before.of("running")}
    if point in MAKING:
        assert [each["step_index"] for each in before.of("running")] == [hit]
    await survive(making_scenario, home, str(tmp_path))
    after = {each["id"]: each for each in (await made_once(home, tmp_path, turn)).executions}
    # The attempt of an interrupted step was taken over under a newer lease; a step that had ended was left alone.
    assert all(after[id]["token"] > token for id, token in interrupted.items())
    assert [after[each["id"]] for each in before.of("succeeded")] == before.of("succeeded")


@pytest.mark.requirement("A10", "S3-15", "S3-66")
async def test_two_executors_share_a_job_and_one_is_killed(home: Dsns, tmp_path: Path) -> None:
    scenario = partial(making_scenario, waiting=True)
    (turn,) = await accept(home, tmp_path, ["job"], text=JOB)
    # It makes the chart, and dies with the diagram made and not yet recorded, while the other one is at work too.
    child = Child(doomed, scenario, home, str(tmp_path), MAKING[1], 2)
    try:
        await noticed(tmp_path / DRAWING)
        async with (
            scenario(home, str(tmp_path), ids.new(), lambda point: None) as (platform, services),
            host(platform, services, pace=PACE),
        ):
            (chart,) = (await left(home, tmp_path)).of("succeeded")
            (tmp_path / JOINED).touch()
            assert await child.ended(WITHIN) == -signal.SIGKILL
            async with time_flies(platform):
                await until_over(home, services)
    finally:
        child.kill()
    executions = (await made_once(home, tmp_path, turn)).executions
    assert executions[0] == chart
    assert [each["provider"] for each in executions] == ["local", "waiting", "local"]


@pytest.mark.requirement("A10", "A34", "S3-15")
@pytest.mark.parametrize(
    ("point", "calls"),
    [(MAKING[0], 0), (SOLD, 1), *((point, 1) for point in MAKING[1:]), (TOOL[1], 1), (TOOL[2], 1)],
)
async def test_killed_purchase_is_in_doubt_and_not_made_again(
    home: Dsns, tmp_path: Path, point: str, calls: int
) -> None:
    (turn,) = await accept(home, tmp_path, ["shop"], text=BOUGHT)
    await die(making_scenario, home, str(tmp_path), point)
    await survive(making_scenario, home, str(tmp_path))
    assert len(sold(tmp_path)) == calls
    assert await told(home, SAID, turn) == [("suma.tool.failed.v1", "PROVIDER_IN_DOUBT")]
    assert len(await told(home, ENDS, turn)) == 1
    (attempt,) = (await whole(home, tmp_path, assets=0)).executions
    assert (attempt["status"], attempt["paid"], attempt["attempt"]) == ("failed", True, 1)
    assert "was interrupted and may have been paid for" in attempt["error"]


@pytest.mark.requirement("A10", "A34", "S3-15", "S3-19")
@pytest.mark.parametrize(
    ("point", "calls"),
    [(MAKING[0], 1), (SOLD, 2), *((point, 2) for point in MAKING[1:]), (TOOL[2], 2), (TOOL[3], 1)],
)
async def test_killed_purchase_with_a_key_is_charged_once(home: Dsns, tmp_path: Path, point: str, calls: int) -> None:
    scenario = partial(making_scenario, keyed=True)
    (turn,) = await accept(home, tmp_path, ["shop"], text=BOUGHT)
    await die(scenario, home, str(tmp_path), point)
    await survive(scenario, home, str(tmp_path))
    assert await told(home, ENDS, turn) == [("completed", None)]
    (attempt,) = (await whole(home, tmp_path, assets=1)).executions
    assert sold(tmp_path) == [attempt["id"]] * calls
    assert (attempt["status"], attempt["attempt"], attempt["cost_micros"]) == ("succeeded", 1, PRICE)
    assert await told(home, PAID) == [(PRICE,)]
