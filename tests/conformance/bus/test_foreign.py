"""Foreign writers on Kafka's topics: messages that are not our events do no harm."""

from __future__ import annotations

import asyncio

import orjson
import pytest
import pytest_asyncio
from aiokafka import AIOKafkaProducer
from prometheus_client import REGISTRY

from deploy.local.kafka import Kafka
from libs import ids
from libs.bus.kafka import messages
from libs.bus.ports import Record
from libs.database import Dsns
from libs.events import RememberRequested
from libs.events.topics import MEMORY_EVENTS
from libs.telemetry import metrics
from tests.conformance.bus.adapters import ADAPTERS, KafkaPlace, Place
from tests.conformance.bus.conftest import LOOK_EVERY, WITHIN, Cluster
from tests.conformance.bus.listener import GROUP

ROUNDS = 8
EVENT = RememberRequested(memory_id="forged", kind="fact", text="", user="u")


@pytest.fixture
def place(broker: Kafka, echo_where: Dsns) -> Place:
    return ADAPTERS["kafka"](echo_where, broker.bootstrap)


class Stranger:
    """A foreign producer."""

    def __init__(self, place: KafkaPlace) -> None:
        self._address = place.address

    async def put(self, *records: Record, **headers: bytes) -> None:
        """Return a message like our events, except for these headers, value and key."""
        producer = AIOKafkaProducer(**self._address.client("stranger"))
        await producer.start()
        for record in records:
            key, value, ours = messages.written(record, safe=0)
            await producer.send_and_wait(
                self._address.prefix + record.topic,
                headers.get("value", value),
                key=headers.get("key", key),
                partition=record.part,
                headers=[*{**dict(ours), **{n: t for n, t in headers.items() if n not in ("key", "value")}}.items()],
            )
        await producer.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def stranger(cluster: Cluster) -> Stranger:
    assert isinstance(cluster.place, KafkaPlace)
    return Stranger(cluster.place)


def forged(*, id: str | None = None, tenant: str = "t1", key: str = "k", type: str = EVENT.type) -> Record:
    part = MEMORY_EVENTS.partition_of(f"{tenant}:{key}")
    headers = {"source": "elsewhere", "time": "2026-01-01T00:00:00+00:00", "turnid": "u1"}
    data = EVENT.model_dump_json().encode()
    return Record(MEMORY_EVENTS.name, part, 0, id or ids.new(), tenant, f"{tenant}:{key}", type, headers, data)


@pytest.mark.requirement("A16")
async def test_foreign_event_between_own_ones_is_handled_in_order(cluster: Cluster, stranger: Stranger) -> None:
    async with cluster.speaking() as (member, _):
        for n in range(ROUNDS):
            await asyncio.gather(cluster.say(str(n), by=member), stranger.put(forged(key="k"), forged(key="k")))
        await cluster.until_heard(3 * ROUNDS)
        async with asyncio.timeout(WITHIN):
            while (await cluster.publisher.bus.lag([GROUP]))[GROUP, MEMORY_EVENTS.name]:
                await asyncio.sleep(LOOK_EVERY)
    assert [what for what in await cluster.heard() if what != "forged"] == await cluster.written()


async def healthy(cluster: Cluster) -> None:
    """Check that the partition and its offset advance."""
    await cluster.say("healthy")
    await cluster.until("select exists (select from echo.noted where turn_id = 'healthy')")


@pytest.mark.requirement("A13", "A14a")
async def test_message_that_is_no_event_is_skipped(cluster: Cluster, stranger: Stranger) -> None:
    async with cluster.listening() as running:
        await stranger.put(forged(), ce_id=b"")
        await stranger.put(forged(), ce_tenantid=b"\xff")
        await stranger.put(forged(type="suma.unheard.of.v9"))
        await healthy(cluster)
        assert not running.failed.done()
    assert await cluster.heard() == ["healthy"]
    assert (await cluster.publisher.bus.lag([GROUP]))[GROUP, MEMORY_EVENTS.name] == 0


@pytest.mark.requirement("A13", "A14a")
async def test_malformed_message_with_a_tenant_becomes_a_dead_letter(cluster: Cluster, stranger: Stranger) -> None:
    bad: list[dict[str, bytes]] = [
        {"value": b"no json"},
        {"value": b'{"memory_id": "\\u0000"}'},
        {"value": orjson.dumps("x" * 400_000)},
        {"value": b"[" * 50_000},
        {"ce_time": b"yesterday"},
        {"key": b"t2:k"},
        {"ce_specversion": b"9"},
    ]
    async with cluster.listening() as running:
        for changes in bad:
            await stranger.put(forged(), **changes)
        await cluster.until("select count(*) = $1 from bus.inbox where state = 'dead'", len(bad))
        await healthy(cluster)
        assert not running.failed.done()
    assert await cluster.eye.fetchval("select count(*) from bus.log where topic = 'dlq.events'") == len(bad)
    assert await cluster.heard() == ["healthy"]


@pytest.mark.requirement("A12")
async def test_event_repeated_on_the_topic_has_one_effect(cluster: Cluster, stranger: Stranger) -> None:
    async with cluster.listening():
        again = await cluster.record(await cluster.say("once"))
        await cluster.until_heard(1)
        await stranger.put(*[again] * 20)
        await asyncio.gather(*(stranger.put(again) for _ in range(5)))
        await healthy(cluster)
    assert await cluster.heard() == ["once", "healthy"]


async def test_the_counter_of_foreign_messages_is_there_before_the_first(cluster: Cluster) -> None:
    metrics.foreign.clear()
    async with cluster.listening():
        labels = {"topic": MEMORY_EVENTS.name}
        assert REGISTRY.get_sample_value("suma_bus_foreign_messages_total", labels) == 0
