"""SIGKILL at every point of the echo turn: every accepted turn ends, with one effect and one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import asyncpg
import pytest

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events import MessageReceived
from tests import infrastructure
from tests.chaos.driver import DENSE, catalogue, die, survive
from tests.chaos.echo_scenario import echo_scenario
from tests.support.echo_service import CURSORS, PROJECTOR, Echo, declare_projections

KINDS = ("hi", "fail", "later", "bad", "stumble")
POINTS = catalogue([*Echo(infrastructure.NOWHERE, "").services(), PROJECTOR])
FAST = ("writer:commit:", "tool_executor:tool:run:", "conversation_worker:suma.message.received.v1:")
"""Points of the fast tier: around every commit, around the effect, and around the first event of a turn."""
EACH_POINT = [pytest.param(point, marks=() if point.startswith(FAST) else pytest.mark.slow) for point in POINTS]


LOGGED = """
select part, "position", event_id from bus.log where topic = 'memory.events' order by part, "position"
"""
PROJECTED = """
select p.part, p."position", p.event_id from echo.projected p join bus.log using (event_id)
where topic = 'memory.events' order by p.part, p.n
"""
COUNTED = """
select topic, part, event_id, count(p.n) as projected from bus.log l full join echo.projected p using (event_id, part)
where topic is null or topic = any ('{memory.events,conversation.inbound}')
group by topic, part, event_id having count(p.n) <> 1 or count(l.event_id) = 0
"""


def kinds_for(point: str) -> tuple[str, ...]:
    """The turns that come to a point: the plain one everywhere, and the special one where only it does."""
    if ":parked:" in point:
        return ("hi", "stumble")
    if "tool.failed" in point:
        return ("hi", "fail")
    if ":sweep:" in point:
        return ("hi", "later")
    if "turn.ended" in point or "reader:wake" in point:
        return ("hi", "bad")
    return ("hi", "hi")


async def accept(where: Dsns, kinds: Sequence[str]) -> list[str]:
    """Messages that were answered with 202, by a process that is gone; their projection is left to the next one."""
    await declare_projections(where)
    turns = [f"{kind}-{ids.new()}" for kind in kinds]
    holder = await asyncpg.connect(where.bus)
    # A process that is alone has no other to wake.
    another = "insert into bus.members values ('elsewhere', $1, now() + interval '1 year')"
    await holder.execute(another, ids.new())
    async with infrastructure.platform(where) as platform, holder.transaction():
        await holder.execute(CURSORS)
        writing = asyncio.ensure_future(platform.writer.run())
        await asyncio.sleep(0)
        for turn in turns:
            cause = Cause.request("gateway", id=ids.new(), tenant="t1", key=f"t1:{turn}", session=turn, turn=turn)
            event = MessageReceived(message_id=turn, turn_id=turn, text="hello", principal="p")
            await platform.writer.apply(Changeset(cause).emit(event))
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    await holder.close()
    return turns


async def every_turn_ended_well(where: Dsns, world: str, turns: Sequence[str]) -> None:
    eye = await asyncpg.connect(where.owner.replace("suma_owner", "postgres"))
    elsewhere = await asyncpg.connect(world)
    try:
        for turn in turns:
            answers = await eye.fetch(
                "select type from bus.log where headers ->> 'turnid' = $1"
                " and type = any ('{suma.message.completed.v1,suma.turn.ended.v1}')",
                turn,
            )
            fine = not turn.startswith(("bad-", "fail-"))
            assert [row["type"] for row in answers] == [
                "suma.message.completed.v1" if fine else "suma.turn.ended.v1"
            ], turn
            calls = await eye.fetch(
                "select data ->> 'call_id' as id from bus.log where headers ->> 'turnid' = $1 and type like"
                " 'suma.tool.requested%'",
                turn,
            )
            assert len(calls) == (0 if turn.startswith("bad-") else 1)
            effects = await elsewhere.fetchval(
                "select count(*) from effects where key = any ($1)", [row["id"] for row in calls]
            )
            assert effects == int(fine)
        assert await eye.fetchval(DENSE)
        assert await eye.fetchval(
            "select (select count(*) from echo.noted where grp = 'audit_worker')"
            " = (select count(*) from bus.log where topic = 'audit.events')"
        )
        assert await eye.fetch(COUNTED) == []
        assert await eye.fetch(PROJECTED) == await eye.fetch(LOGGED)
    finally:
        await eye.close()
        await elsewhere.close()


@pytest.mark.slow
@pytest.mark.requirement("A10")
async def test_run_of_every_kind_of_turn_reaches_every_point(echo_where: Dsns, world: str) -> None:
    turns = await accept(echo_where, KINDS)
    faults = await survive(echo_scenario, echo_where, world)
    await every_turn_ended_well(echo_where, world, turns)
    assert set(POINTS) - set(faults.seen) == set()
    assert set(faults.seen) - set(POINTS) == set()


@pytest.mark.requirement("A10", "A11", "A12", "P1", "P2")
@pytest.mark.parametrize("point", EACH_POINT)
async def test_kill_at_any_point_loses_nothing_and_repeats_nothing(echo_where: Dsns, world: str, point: str) -> None:
    turns = await accept(echo_where, kinds_for(point))
    await die(echo_scenario, echo_where, world, point)
    await survive(echo_scenario, echo_where, world)
    await every_turn_ended_well(echo_where, world, turns)
