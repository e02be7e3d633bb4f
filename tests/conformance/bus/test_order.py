"""Order per key; no reader skips an event that an open transaction may still publish."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from libs import ids
from libs.changes import Cause, Changeset, batch
from libs.clock import SystemClock
from libs.events import RememberRequested
from libs.events.topics import MEMORY_EVENTS
from tests.conformance.bus.conftest import Cluster


@pytest.mark.requirement("A16", "P3")
async def test_events_of_a_key_are_handled_in_commit_order(cluster: Cluster) -> None:
    async with cluster.listening():
        for number in range(20):
            await asyncio.gather(*(cluster.say(str(number), key=f"k{key}") for key in range(10)))
        await cluster.until_heard(200)
    for key in range(10):
        assert await cluster.heard(f"k{key}") == [str(number) for number in range(20)]


@pytest.mark.requirement("A16")
async def test_no_reader_passes_a_transaction_that_is_still_open(cluster: Cluster) -> None:
    elsewhere = _key_of_another_partition("k")
    slow = await asyncpg.connect(cluster.where.app)
    async with cluster.listening():
        transaction = slow.transaction()
        await transaction.start()
        await slow.fetchval("select bus.commit($1)", _publishing("first", key="t1:k"))
        second = asyncio.ensure_future(cluster.say("second"))
        await cluster.until("select count(*) > 0 from pg_locks where not granted")
        await _publish_beside(cluster, "beside", key=elsewhere)
        await cluster.until_heard(1)
        assert await cluster.heard() == []
        await transaction.commit()
        await second
        await cluster.until_heard(3)
    await slow.close()
    assert await cluster.heard() == ["first", "second"]


@pytest.mark.requirement("A16")
async def test_a_transaction_that_fails_leaves_no_gap(cluster: Cluster) -> None:
    slow = await asyncpg.connect(cluster.where.app)
    async with cluster.listening():
        transaction = slow.transaction()
        await transaction.start()
        await slow.fetchval("select bus.commit($1)", _publishing("never", key="t1:k"))
        second = asyncio.ensure_future(cluster.say("second"))
        await cluster.until("select count(*) > 0 from pg_locks where not granted")
        await transaction.rollback()
        await second
        await cluster.until_heard(1)
    await slow.close()
    assert await cluster.heard() == ["second"]


def _publishing(what: str, *, key: str) -> str:
    """Return the batch of a changeset with one event."""
    cause = Cause.request("gateway", id=ids.new(), tenant="t1", key=key)
    event = RememberRequested(memory_id=what, kind="fact", text="", user="u")
    entry = batch.Queued([Changeset(cause).emit(event)], [batch.item(cause, "done")], (cause.group, cause.key))
    envelope = batch.envelope(cause, event, now=SystemClock().now(), traceparent=None)
    entry.spoken.append((*batch.spoken(envelope, {}), 0))
    return batch.document([entry])


async def _publish_beside(cluster: Cluster, what: str, *, key: str) -> None:
    """Publish from another process, whose writer does not wait for ours."""
    other = await asyncpg.connect(cluster.where.app)
    await other.fetchval("select bus.commit($1)", _publishing(what, key=f"t1:{key}"))
    await other.close()


def _key_of_another_partition(key: str) -> str:
    taken = MEMORY_EVENTS.partition_of(f"t1:{key}")
    return next(other for other in map(str, range(100)) if MEMORY_EVENTS.partition_of(f"t1:{other}") != taken)
