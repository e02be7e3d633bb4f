"""Projections: each record once and in order, with its cause or soon after it, and never at its cause's expense."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import asyncpg
import pytest
import pytest_asyncio

from libs import ids
from libs.bus.ports import Partition
from libs.bus.projections import Projections, Subject
from libs.bus.relay import lag
from libs.changes import Cause, Changeset
from libs.events.topics import MEMORY_EVENTS
from libs.runtime.follower import Follower
from libs.runtime.host import Running, host
from libs.runtime.service import Projection, Service
from tests import infrastructure
from tests.conformance.bus.conftest import LOOK_EVERY, WITHIN, Cluster
from tests.conformance.bus.listener import GROUP, projecting_member
from tests.support.echo_service import CURSORS, PROJECTOR, declare_projections
from tests.support.processes import Child
from tests.support.rows import any_row

PROJECTED = "select what from echo.projected order by n"
AT_HEAD = """
select bool_and(o.position = h.next - 1) from bus.offsets o join bus.heads h using (topic, part)
where o.grp = $1 and o.topic = 'memory.events'
"""
EACH_ONCE = """
select (select array_agg(event_id order by part, position) from bus.log where topic = 'memory.events')
    = (select array_agg(event_id order by part, n) from echo.projected)
"""


@pytest_asyncio.fixture(loop_scope="session")
async def projected(cluster: Cluster) -> Cluster:
    """A cluster whose memory events are projected."""
    await declare_projections(cluster.where)
    return cluster


async def rows(cluster: Cluster) -> list[str]:
    return [row["what"] for row in await cluster.eye.fetch(PROJECTED)]


@asynccontextmanager
async def following(cluster: Cluster, service: Service = PROJECTOR) -> AsyncIterator[Running]:
    async with (
        cluster.platform() as platform,
        host(platform, [service], pace=infrastructure.PACE) as running,
    ):
        yield running


@asynccontextmanager
async def held(cluster: Cluster, statement: str) -> AsyncIterator[None]:
    """Hold the locks of a statement."""
    holder = await asyncpg.connect(cluster.where.owner.replace("suma_owner", "postgres"))
    try:
        async with holder.transaction():
            await holder.execute(statement)
            yield
    finally:
        await holder.close()


async def test_an_event_is_projected_in_its_own_commit(projected: Cluster) -> None:
    await projected.say("first")
    assert await rows(projected) == ["first"]
    await projected.say("second")
    assert await rows(projected) == ["first", "second"]


async def test_failed_projection_neither_undoes_its_cause_nor_is_skipped(projected: Cluster) -> None:
    await projected.say("before")
    await projected.say("wrong", text="wrong")
    await projected.say("after")
    assert await projected.written() == ["before", "wrong", "after"]
    async with following(projected) as running:
        while not any("stopped projecting memory.events" in problem for problem in running.problems()):
            await asyncio.sleep(LOOK_EVERY)
        assert await rows(projected) == ["before"]
        await projected.mend("mended")
        await projected.until("select count(*) = 3 from echo.projected")
        assert await rows(projected) == ["before", "wrong", "after"]
        while running.problems():
            await asyncio.sleep(LOOK_EVERY)
    await projected.say("inline again")
    assert (await rows(projected))[3:] == ["inline again"]


async def test_follower_stops_right_before_the_record_at_fault(projected: Cluster) -> None:
    async with held(projected, CURSORS):
        for n in range(20):
            await projected.say(f"{n}", text="wrong" if n == 13 else "")
    async with following(projected):
        await projected.until("select count(*) >= 13 from echo.projected")
    assert await rows(projected) == [f"{n}" for n in range(13)]


async def test_failing_tenant_leaves_other_partitions_projected(projected: Cluster) -> None:
    await projected.say("wrong", text="wrong")
    other = next(
        f"k{n}" for n in range(99) if MEMORY_EVENTS.partition_of(f"t1:k{n}") != MEMORY_EVENTS.partition_of("t1:k")
    )
    await projected.say("fine", key=other)
    assert await rows(projected) == ["fine"]


async def test_row_that_is_locked_delays_no_cause(projected: Cluster) -> None:
    await projected.mend("shared")
    async with following(projected):
        async with held(projected, "select from echo.tallies for update"):
            await projected.say("first")
            await projected.say("second")
            assert await rows(projected) == []
        await projected.until("select count(*) = 2 from echo.projected")
    assert await rows(projected) == ["first", "second"]


async def test_backlog_counts_as_lag(projected: Cluster) -> None:
    async with held(projected, CURSORS):
        await projected.say("first")
        await projected.say("second")
    behind = await lag(projected.publisher.bus, projected.publisher.route, [PROJECTOR.name])
    assert behind[PROJECTOR.name, MEMORY_EVENTS.name] == 2


@pytest.mark.requirement("P2", "P3")
async def test_concurrent_writers_and_followers_project_each_record_once(projected: Cluster) -> None:
    """Some commits find the shared row locked, and some cursors are taken: those records are left to the followers."""
    await projected.mend("shared")

    async def disturb() -> None:
        while True:
            async with held(projected, "select from echo.tallies for update"):
                await asyncio.sleep(LOOK_EVERY)

    async with following(projected), following(projected), projected.speaking() as (second, _):
        disturbing = asyncio.ensure_future(disturb())
        speakers = (projected.publisher, second)
        await asyncio.gather(
            *(projected.say(f"{key}.{n}", key=f"{key}", by=speakers[key % 2]) for n in range(20) for key in range(6))
        )
        disturbing.cancel()
        await asyncio.gather(disturbing, return_exceptions=True)
        await projected.until("select count(*) >= 120 from echo.projected")
    assert await projected.eye.fetchval(EACH_ONCE)
    assert await projected.eye.fetchval(AT_HEAD, PROJECTOR.name)


@pytest.mark.requirement("P1", "P2")
@pytest.mark.parametrize("point", ["project:before", "project:after"])
async def test_killed_follower_loses_and_repeats_nothing(projected: Cluster, point: str) -> None:
    async with held(projected, CURSORS):
        for n in range(5):
            await projected.say(f"{n}", key=f"{n}")
    child = Child(projecting_member, projected.place, "doomed", point)
    projected.children.append(child)
    assert await child.ended(WITHIN) == -signal.SIGKILL
    async with following(projected):
        await projected.until("select count(*) >= 5 from echo.projected")
    assert await projected.eye.fetchval(EACH_ONCE)


async def test_watcher_sees_the_commits_of_another_process(projected: Cluster) -> None:
    seen: asyncio.Queue[Subject] = asyncio.Queue()

    def watch(subjects: Sequence[Subject]) -> None:
        for subject in subjects:
            seen.put_nowait(subject)

    watching = Service(PROJECTOR.name, projections=[Projection(MEMORY_EVENTS, watch)])
    async with following(projected, watching), projected.speaking() as (elsewhere, _):
        await projected.say("here", by=elsewhere)
        async with asyncio.timeout(WITHIN):
            subject = await seen.get()
    assert (subject.tenant, subject.turn) == ("t1", "here")


async def test_lone_process_notifies_no_other(projected: Cluster) -> None:
    follower = Follower([PROJECTOR], Projections(projected.publisher.database), ids.new(), lambda point: None)
    await follower.look()
    assert follower.alone
    async with projected.listening():
        await projected.until("select exists (select from bus.members)")
        await follower.look()
        assert not follower.alone


@pytest.mark.requirement("P1", "P2")
async def test_new_projection_begins_where_handlers_have_left_off(cluster: Cluster) -> None:
    """Those of an earlier release had one event parked and one in hand, and had handled another beyond both."""
    part = MEMORY_EVENTS.partition_of("t1:k")
    beside = [f"k{n}" for n in range(99) if MEMORY_EVENTS.partition_of(f"t1:k{n}") == part]
    async with cluster.listening():
        await cluster.say("done")
        parked = await cluster.say("parked", key=beside[0], text="needs:later")
        await cluster.say("in hand", key=beside[1], text="awaits:never")
        await cluster.say("beyond", key=beside[2])
        await cluster.until("select count(*) = 2 from echo.noted")
        await cluster.until("select exists (select from bus.parked where event_id = $1)", parked)
        await declare_projections(cluster.where, GROUP)
        await cluster.publisher.bus.advance({GROUP: {Partition(MEMORY_EVENTS.name, part): 99}})
    async with following(cluster, Service(GROUP, projections=[Projection(MEMORY_EVENTS)])):
        await cluster.until(AT_HEAD, GROUP)
    assert await rows(cluster) == ["parked", "in hand"]
    assert await cluster.eye.fetchval("select count(*) from bus.parked") == 0
    record = await cluster.record(await cluster.say("new"))
    old_handler = Changeset(Cause.record(GROUP, record)).put(any_row("echo", "tally.spend", name="x", amount=1))
    assert (await cluster.publisher.writer.apply(old_handler)).verdict == "seen"
    assert (await rows(cluster))[2:] == ["new"]
