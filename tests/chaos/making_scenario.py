"""The real services with the tools that make assets, as a scenario for the kill driver; and the state that they leave.

`JOB` draws a chart and a diagram on this machine, and saves a document of both; `BOUGHT` buys a picture in a shop that
writes down the key of each call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg

from libs import ids
from libs.database import Dsns
from libs.multimodal.ports import Brief
from libs.runtime.host import host
from services.tool_executor.multimodal.assets import UNUSED_SECONDS
from tests.chaos.driver import TICK, WITHIN, Point, Stage
from tests.chaos.turn_scenario import approving
from tests.infrastructure import PACE, shift
from tests.support import producers
from tests.support.platform import build_platform, law, skills
from tests.support.producers import PICTURES, PLAIN, SVG, Drawing

TYPES = {"task_id": "types", "step_type": "generate_chart", "modality": "image", "inputs": {"of": "file_types"}}
PARTS = {
    "task_id": "parts",
    "step_type": "generate_diagram",
    "modality": "image",
    "inputs": {"source": "graph LR; a-->b"},
}
REPORT = {"task_id": "report", "step_type": "compose_srs", "modality": "document", "depends_on": ["types", "parts"]}
PUT = {"assets": ["types", "parts"], "save_as": "report.pdf"}
CAT = {"task_id": "cat", "step_type": "generate_image", "modality": "image", "prompt": "a cat"}
JOB = json.dumps({"version": "1.0", "tasks": [TYPES, PARTS, {**REPORT, "inputs": PUT}]})
BOUGHT = json.dumps({"version": "1.0", "tasks": [CAT]})
SOLD = "shop:sold"
"""The point in the middle of a paid call: the shop has done it, and has not answered."""
CALLS, PRICE = "calls", 40_000
DRAWING, JOINED = "drawing", "joined"
"""Notes of files: a diagram is being drawn, and it may be done as a second process has joined."""
SETTINGS = {"tool_executor": {"multimodal": {"producers": ["tests.support.producers:given"]}}}
EXECUTIONS = "select * from executor.multimodal_executions order by step_index, attempt"
ASSETS = """
select a.id, a.call_id, a.content, a.checksum, p.execution_id from executor.multimodal_assets a
join executor.asset_provenance p on p.asset_id = a.id order by a.created_at
"""
CONTENTS = "select name, blob from executor.asset_contents"
UNSWEPT = "select count(*) from bus.leases where kind = 'assets' and not input ? 'asset'"


@asynccontextmanager
async def making_scenario(
    where: Dsns, world: str, member: str, point: Point, *, keyed: bool = False, waiting: bool = False
) -> AsyncIterator[Stage]:
    """The three services, offline, with a person who approves; a `keyed` shop does a request with a known key once, and
    diagrams that are `waiting` are drawn only once a second process has joined."""
    costly = replace(PICTURES, provider="shop", formats=("png",), cost_micros=PRICE, destination="shop.example")
    shop = replace(costly, constraints={"honours_keys": keyed})
    producers.PRODUCERS[:] = [Drawing(shop, partial(_sold, Path(world) / CALLS, point))]
    if waiting:
        first = replace(PLAIN, provider="waiting", priority=1)
        producers.PRODUCERS.append(Drawing(first, partial(_drawn, Path(world))))
    ports: dict[str, Any] = {"policy": await law(), "member": member, "point": point}
    enabled = replace(skills(), multimodal=True)
    home = build_platform(where, Path(world), settings=SETTINGS, skills=enabled, **ports)
    async with home as stage, approving(stage[0]):
        yield stage


async def _sold(calls: Path, point: Point, brief: Brief) -> bytes:
    with calls.open("a") as file:
        file.write(f"{brief.key}\n")
    point(SOLD)
    return SVG


async def _drawn(world: Path, brief: Brief) -> bytes:
    (world / DRAWING).touch()
    while not (world / JOINED).exists():
        await asyncio.sleep(TICK)
    return SVG


def sold(world: Path) -> list[str]:
    """The key of each call of the shop."""
    calls = world / CALLS
    return calls.read_text().split() if calls.exists() else []


async def swept(where: Dsns, world: Path) -> None:
    """Let the time pass for which a content stays without an asset, and what was left be deleted."""
    async with making_scenario(where, str(world), ids.new(), lambda point: None) as (platform, services):
        await shift(platform.database, seconds=UNUSED_SECONDS + 60)
        async with host(platform, services, pace=PACE), asyncio.timeout(WITHIN):
            pool = await platform.database.bus()
            while await pool.fetchval(UNSWEPT):
                await asyncio.sleep(TICK)


@dataclass(frozen=True)
class Left:
    """The rows of jobs, and the blobs on the disk."""

    executions: list[dict[str, Any]]
    assets: list[dict[str, Any]]
    contents: list[dict[str, Any]]
    blobs: set[str]

    def of(self, status: str) -> list[dict[str, Any]]:
        return [each for each in self.executions if each["status"] == status]


async def left(where: Dsns, world: Path) -> Left:
    """What jobs have left so far."""
    eye = await asyncpg.connect(where.owner.replace("suma_owner", "postgres"))
    try:
        found = [[dict(row) for row in await eye.fetch(each)] for each in (EXECUTIONS, ASSETS, CONTENTS)]
    finally:
        await eye.close()
    blobs = {path.name for path in world.glob("data/objects/*/assets/**/*") if path.is_file()}
    return Left(found[0], found[1], found[2], blobs)
