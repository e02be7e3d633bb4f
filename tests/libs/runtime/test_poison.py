"""Deaths are counted: of leases by their owners, of events by attempts without an end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from libs.leases.ports import TTL_SECONDS, Lease, NewLease
from libs.leases.postgres import PostgresLeases
from tests import infrastructure
from tests.libs.runtime.conftest import GROUP, Workshop


async def start(workshop: Workshop, *names: str) -> None:
    async with infrastructure.platform(workshop.where) as other:
        writing = asyncio.ensure_future(other.writer.run())
        for name in names:
            await other.writer.apply(workshop.request().start(NewLease(name, "tool", {}, 0)))
        writing.cancel()


async def claim(workshop: Workshop, member: str, most: int = 9) -> Sequence[Lease]:
    return await PostgresLeases(workshop.platform.database, member).claim_due(GROUP, "tool", room=most, per_tenant=most)


async def die(workshop: Workshop, member: str) -> None:
    await workshop.platform.leases.free([member])


async def test_release_and_orderly_leave_are_not_counted_as_deaths(workshop: Workshop) -> None:
    await start(workshop, "x")
    (held,) = await claim(workshop, "a")
    await PostgresLeases(workshop.platform.database, "a").release([held], delay=0)
    await claim(workshop, "b")
    await PostgresLeases(workshop.platform.database, "b").leave()
    await claim(workshop, "c")
    await workshop.later(TTL_SECONDS + 1)
    (own,) = await claim(workshop, "c")
    assert (own.attempts, own.deaths) == (4, 0), "a process that claims its own lease again is alive"
    await workshop.later(TTL_SECONDS + 1)
    (lost,) = await claim(workshop, "d")
    assert lost.deaths == 1
    await die(workshop, "d")
    (freed,) = await claim(workshop, "e")
    assert freed.deaths == 2


async def test_work_that_outlived_two_processes_runs_alone(workshop: Workshop) -> None:
    await start(workshop, "a", "b", "c")
    for member in ("first", "second"):
        assert len(await claim(workshop, member)) == 3
        await die(workshop, member)
    await start(workshop, "fresh")
    suspect, fresh = sorted(await claim(workshop, "third"), key=lambda held: held.deaths, reverse=True)
    assert (suspect.deaths, fresh.id) == (2, "fresh")
    assert await claim(workshop, "third") == []
    await die(workshop, "third")
    left = {held.id: held.deaths for held in await claim(workshop, "fourth")}
    assert left.pop(suspect.id) == 3
    assert left.pop("fresh") == 1
    assert list(left.values()) == [2], "the two that stood beside it did not die with it"


async def test_orderly_stop_counts_as_no_death(workshop: Workshop) -> None:
    async def wait(held: Lease) -> None:
        await workshop.released.wait()

    workshop.on_run = wait
    async with workshop.open() as running:
        await workshop.start()
        await workshop.started.wait()
        running.failed.set_exception(RuntimeError("a part of the process"))
    assert await workshop.eye.fetchval("select deaths from bus.leases where owner is null") == 0
