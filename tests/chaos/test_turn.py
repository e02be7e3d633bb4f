"""SIGKILL at points of whole turns: conversation, committee and executor die together in the middle of everything,
another process goes on, and the folder is as if nothing had happened (A10)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from libs.database import Dsns
from tests.chaos.driver import Scenario, catalogue, die, survive
from tests.chaos.turn_scenario import turn_scenario
from tests.chaos.turn_story import accept, every_turn_ended_well

Hit = tuple[str, int]
SOON = 5.0
WORK = (
    "conversation_worker:context",
    "conversation_worker:answer",
    "committee_worker:plan",
    "committee_worker:review",
    "committee_worker:resolve",
)
WAITS = {"expiry": "ignored", "clarification": "unclear", "lost": "garbled"}
"""Leases that only these turns come to."""
TURNS = {**WAITS, "contents": "unpack"}
SIDES = ("run:before", "run:after", "finish:before", "finish:after")
ELSEWHERE = {"tool_executor:effect", "tool_executor:settle", "conversation_worker:turn", "tool_executor:assets"}
"""The first two are killed in test_effects, with tools that act outside; the third in test_slots, where one turn keeps
the only slot. The last deletes what no row names, an hour later or more: no test kills it, test_assets runs it."""
REMOVE, COMMIT = 2, 5
"""The executor's calls of a tidy turn: scan, remove, list, sort, commit."""
POINTS: list[Hit] = [
    *((f"{work}:{side}", 1) for work in WORK for side in SIDES),
    *((f"conversation_worker:{wait}:{side}", 1) for wait in WAITS for side in ("run:before", "finish:after")),
    *((f"tool_executor:tool:{side}", COMMIT) for side in SIDES),
    ("tool_executor:tool:run:after", REMOVE),
    *((f"tool_executor:history:{side}", 1) for side in ("run:before", "finish:after")),
    *((f"tool_executor:contents:{side}", 1) for side in ("run:before", "finish:after")),
    ("writer:commit:before", 1),
    ("writer:commit:after", 9),
    ("conversation_worker:suma.message.received.v1:before", 1),
    ("conversation_worker:suma.approval.decided.v1:before", 1),
    ("conversation_worker:suma.approval.decided.v1:after", 1),
    ("conversation_worker:suma.tool.succeeded.v1:before", COMMIT),
    ("committee_worker:suma.plan.requested.v1:after", 1),
    ("tool_executor:suma.tool.requested.v1:after", COMMIT),
]


def kind(point: str) -> str:
    return TURNS.get(point.split(":")[1], "tidy")


def cast_for(kind: str) -> Scenario:
    """People answer those that act; the others are not waited for long."""
    return partial(turn_scenario, patience=SOON) if kind in WAITS.values() else turn_scenario


@pytest.mark.requirement("A10")
async def test_every_kind_of_lease_is_killed_somewhere(home: Dsns, tmp_path: Path) -> None:
    async with turn_scenario(home, str(tmp_path), "m", lambda point: None) as (_, services):
        kinds = {f"{service.name}:{kind.name}" for service in services for kind in service.kinds}
    assert kinds - ELSEWHERE == {point.rsplit(":", 2)[0] for point, _ in POINTS if ":run:" in point}
    assert {point for point, _ in POINTS} <= set(catalogue(services))


@pytest.mark.requirement("A10", "A12", "A25", "A3")
@pytest.mark.parametrize(("point", "hit"), POINTS)
async def test_a_turn_outlives_its_process_and_changes_the_folder_once(
    home: Dsns, tmp_path: Path, point: str, hit: int
) -> None:
    turns = await accept(home, tmp_path, [kind(point)])
    scenario, world = cast_for(kind(point)), str(tmp_path)
    await die(scenario, home, world, point, hit)
    await survive(scenario, home, world)
    await every_turn_ended_well(home, tmp_path, turns)
