"""Leased work: started once, renewed, cancelled, lost, taken over; its end is written once or refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from libs import ids
from libs.bus.ports import OWNED_SECONDS
from libs.changes import Cause, Changeset
from libs.errors import Conflict, Rejected, Unavailable
from libs.leases.ports import TTL_SECONDS, Lease, NewLease
from libs.leases.postgres import PostgresLeases
from tests import infrastructure
from tests.libs.runtime.conftest import GROUP, Workshop, raising


async def wait(workshop: Workshop, held: Lease) -> None:
    await workshop.released.wait()


def waiting(workshop: Workshop) -> Workshop:
    """Work that continues until the test ends it."""
    workshop.on_run = lambda held: wait(workshop, held)
    return workshop


async def test_work_with_room_is_claimed_at_birth_and_ends_once(workshop: Workshop) -> None:
    async with workshop.open():
        lease = await workshop.start()
        await workshop.until_ended()
    assert workshop.ended == [f"{lease}:done"]
    assert await workshop.eye.fetchval("select count(*) from bus.leases") == 0


async def test_a_wait_is_run_when_it_falls_due(workshop: Workshop) -> None:
    async with workshop.open():
        lease = await workshop.start(delay=3600)
        await workshop.start("now")
        await workshop.until_ended()
        assert workshop.ended == ["now:done"]
        await workshop.later(3601)
        await workshop.until_ended(2)
    assert workshop.ended[1] == f"{lease}:done"


@pytest.mark.requirement("A18")
async def test_a_worker_that_wakes_after_its_lease_moved_cannot_write(workshop: Workshop) -> None:
    async with infrastructure.platform(workshop.where) as other, workshop.open():
        writing = asyncio.ensure_future(other.writer.run())
        await other.writer.apply(workshop.request().start(NewLease("x", "elsewhere", {}, 0)))
        (zombie,) = await PostgresLeases(other.database, "zombie").claim_due(GROUP, "elsewhere", room=1, per_tenant=1)
        await workshop.later(TTL_SECONDS + 1)
        (heir,) = await PostgresLeases(other.database, "heir").claim_due(GROUP, "elsewhere", room=1, per_tenant=1)
        late = await workshop.platform.writer.apply(Changeset(Cause.of_lease(zombie)))
        mine = await other.writer.apply(Changeset(Cause.of_lease(heir)))
        writing.cancel()
    assert (heir.token, heir.attempts) == (zombie.token + 1, 2)
    assert (late.verdict, mine.verdict) == ("lost", "fresh")


async def test_heartbeat_after_a_release_does_not_reclaim_the_lease(workshop: Workshop) -> None:
    async with infrastructure.platform(workshop.where) as other:
        writing = asyncio.ensure_future(other.writer.run())
        await other.writer.apply(workshop.request().start(NewLease("x", "elsewhere", {}, 0)))
        writing.cancel()
        leases = PostgresLeases(other.database, "worker")
        held = await leases.claim_due(GROUP, "elsewhere", room=1, per_tenant=1)
        await leases.release(held, delay=0.5 * TTL_SECONDS)
        assert await leases.renew(held) == {}
        await workshop.later(0.6 * TTL_SECONDS)
        assert [again.id for again in await leases.claim_due(GROUP, "elsewhere", room=1, per_tenant=1)] == ["x"]


async def test_freeing_dead_owners_does_not_wait_for_locked_leases(workshop: Workshop) -> None:
    async with infrastructure.platform(workshop.where) as other:
        writing = asyncio.ensure_future(other.writer.run())
        for name in ("a", "b"):
            await other.writer.apply(workshop.request().start(NewLease(name, "elsewhere", {}, 0)))
        leases = PostgresLeases(other.database, "dead")
        await leases.claim_due(GROUP, "elsewhere", room=2, per_tenant=2)
        writing.cancel()
        async with workshop.eye.transaction():
            await workshop.eye.execute("select from bus.leases where id = 'a' for update")
            async with asyncio.timeout(60):
                assert await leases.free(["dead"]) == 1
        assert await leases.free(["dead"]) == 1


async def blocked(workshop: Workshop, processes: int) -> None:
    """Wait until so many sessions wait for row locks."""
    waiting = "select count(distinct pid) from pg_locks where not granted"
    async with asyncio.timeout(60):
        while await workshop.eye.fetchval(waiting) < processes:
            await asyncio.sleep(0)


@pytest.mark.requirement("A15")
async def test_freeing_and_deleting_dead_owners_do_not_deadlock(
    workshop: Workshop,
) -> None:
    groups = {GROUP: ["memory.requests"]}
    async with infrastructure.platform(workshop.where) as dead, infrastructure.platform(workshop.where) as other:
        assert (await dead.bus.assignments(groups))[GROUP]
        await workshop.later(OWNED_SECONDS * 5)
        async with workshop.eye.transaction():
            await workshop.eye.execute("select from bus.partitions for update")
            freed = asyncio.ensure_future(other.leases.free([dead.member]))
            await blocked(workshop, 1)
            owned = asyncio.ensure_future(other.bus.assignments(groups))
            await blocked(workshop, 2)
        assert await freed == 0
        assert (await owned)[GROUP]


@pytest.mark.requirement("A18")
async def test_work_with_a_lost_lease_is_cancelled_without_an_end(workshop: Workshop) -> None:
    stopped = asyncio.Event()

    async def until_cancelled(_: Lease) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    workshop.on_run = until_cancelled
    async with workshop.open():
        lease = await workshop.start()
        await workshop.started.wait()
        await workshop.eye.execute("update bus.leases set token = token + 1, owner = 'thief' where id = $1", lease)
        async with asyncio.timeout(60):
            await stopped.wait()
    assert workshop.ended == []


@pytest.mark.requirement("A23")
async def test_cancel_from_another_process_ends_the_work_as_cancelled(workshop: Workshop) -> None:
    waiting(workshop)
    async with infrastructure.platform(workshop.where) as other, workshop.open():
        writing = asyncio.ensure_future(other.writer.run())
        lease = await workshop.start()
        await workshop.started.wait()
        await other.writer.apply(workshop.request().cancel(lease))
        await workshop.until_ended()
        writing.cancel()
    assert workshop.ended == [f"{lease}:CANCELLED"]


@pytest.mark.requirement("A23")
async def test_cancel_before_the_work_begins_is_reported(workshop: Workshop) -> None:
    waiting(workshop)
    async with workshop.open():
        writer = workshop.platform.writer
        hooks = writer.hooks

        def begin_and_cancel(held: Lease) -> None:
            hooks.begin(held)
            hooks.cancelled([held.id])

        writer.hooks = replace(hooks, begin=begin_and_cancel)
        lease = await workshop.start()
        await workshop.until_ended()
    assert workshop.ended == [f"{lease}:CANCELLED"]


async def test_unclaimed_wait_is_cancelled_at_once(workshop: Workshop) -> None:
    async with workshop.open():
        lease = await workshop.start(delay=3600)
        await workshop.platform.writer.apply(workshop.request().cancel(lease))
        await workshop.until_ended()
    assert workshop.ended == [f"{lease}:CANCELLED"]
    assert not workshop.started.is_set()


@pytest.mark.requirement("P8")
async def test_another_tenant_can_neither_cancel_nor_end_a_lease(workshop: Workshop) -> None:
    async with workshop.open():
        lease = await workshop.start(delay=3600)
        await workshop.platform.writer.apply(workshop.request("t2").cancel(lease).end(lease))
    assert await workshop.eye.fetchval("select not cancelled from bus.leases where id = $1", lease)


async def test_ended_wait_never_runs(workshop: Workshop) -> None:
    async with workshop.open():
        lease = await workshop.start(delay=3600)
        await workshop.platform.writer.apply(workshop.request().end(lease))
        await workshop.later(3601)
        await workshop.start("after")
        await workshop.until_ended()
    assert workshop.ended == ["after:done"]


async def test_conflict_at_the_end_repeats_only_the_decision(workshop: Workshop) -> None:
    conflicts = iter(range(7))
    runs: list[str] = []

    async def run(held: Lease) -> None:
        runs.append(held.id)

    async def end(_: str) -> None:
        if next(conflicts, None) is not None:
            raise Conflict

    workshop.on_run, workshop.on_end = run, end
    async with workshop.open():
        lease = await workshop.start()
        await workshop.until_ended()
    assert (runs, workshop.ended) == ([lease], [f"{lease}:done"])


@pytest.mark.parametrize(
    ("error", "code"), [(Rejected("no"), "REJECTED"), (RuntimeError("a bug"), "HANDLER_CRASHED")], ids=str
)
async def test_unwritable_end_becomes_a_failure_and_the_process_survives(
    workshop: Workshop, error: Exception, code: str
) -> None:
    workshop.on_end = raising(error)
    async with workshop.open() as running:
        lease = await workshop.start()
        await workshop.until_ended()
        assert not running.failed.done()
    assert workshop.ended == [f"{lease}:{code}"]


async def test_work_that_is_refused_fails_at_once(workshop: Workshop) -> None:
    workshop.on_run = raising(Rejected("no"))
    async with workshop.open():
        lease = await workshop.start()
        await workshop.until_ended()
    assert workshop.ended == [f"{lease}:REJECTED"]


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (Unavailable(), 3),
        (RuntimeError(), 3),
        (asyncio.CancelledError(), 3),
        (OverflowError(), 2),
        (KeyError("x"), 2),
        (ValueError(), 2),
    ],
    ids=repr,
)
async def test_failing_work_is_retried_until_attempts_are_exhausted(
    workshop: Workshop, error: BaseException, attempts: int
) -> None:
    runs: list[int] = []

    async def run(held: Lease) -> None:
        runs.append(held.attempts)
        raise error

    workshop.on_run, workshop.attempts = run, 3
    async with workshop.open():
        await workshop.start()
        async with asyncio.timeout(60):
            while not workshop.ended:
                await workshop.later(10)
                await asyncio.sleep(0.02)
    assert runs == [*range(1, attempts + 1)]


async def test_running_work_finishes_before_the_process_stops(workshop: Workshop) -> None:
    waiting(workshop)
    async with workshop.open():
        await workshop.start()
        await workshop.started.wait()
        asyncio.get_running_loop().call_later(0.1, workshop.released.set)
    assert len(workshop.ended) == 1


async def test_a_process_that_crashes_gives_its_leases_back_at_once(workshop: Workshop) -> None:
    waiting(workshop)
    async with workshop.open() as running:
        await workshop.start()
        await workshop.started.wait()
        running.failed.set_exception(RuntimeError("a part of the process"))
    assert workshop.ended == []
    assert (
        await workshop.eye.fetchval("select count(*) from bus.leases where owner is null and due_at <= bus.now()") == 1
    )


async def test_work_without_room_waits_and_then_runs(workshop: Workshop) -> None:
    waiting(workshop)
    workshop.room = 1
    async with workshop.open():
        for _ in range(3):
            await workshop.start()
        await workshop.started.wait()
        assert await workshop.eye.fetchval("select count(*) from bus.leases where owner is not null") == 1
        workshop.released.set()
        await workshop.until_ended(3)


async def test_thousands_of_leases_do_not_delay_another_tenants_lease(workshop: Workshop) -> None:
    await workshop.eye.execute(
        "insert into bus.leases (id, grp, kind, tenant, key, due_at, input)"
        " select 'a' || n, $1, 'tool', 'a', 'a:' || n, bus.now() - interval '1 hour', '{}' from"
        " generate_series(1, 2000) as n",
        GROUP,
    )
    await workshop.eye.execute(
        "insert into bus.leases (id, grp, kind, tenant, key, due_at, input) values ('b', $1, 'tool', 'b',"
        " 'b', bus.now(), '{}')",
        GROUP,
    )
    held = await workshop.platform.leases.claim_due(GROUP, "tool", room=4, per_tenant=64)
    assert [lease.tenant for lease in held].count("b") == 1
    assert len(held) == 4


async def test_two_members_never_claim_the_same_lease(workshop: Workshop) -> None:
    await workshop.eye.execute(
        "insert into bus.leases (id, grp, kind, tenant, key, due_at, input)"
        " select 'x' || n, $1, 'tool', 't', 'k', bus.now(), '{}' from generate_series(1, 40) as n",
        GROUP,
    )
    members = [PostgresLeases(workshop.platform.database, ids.new()) for _ in range(4)]
    claimed = await asyncio.gather(*(member.claim_due(GROUP, "tool", room=20, per_tenant=64) for member in members))
    every = [held.id for part in claimed for held in part]
    assert len(every) == len(set(every))
