"""How the events per second of one consumer group grow with the partitions that are busy and with its replicas, each a
process of its own, on Kafka. Between two cores, PostgreSQL and Kafka, a second replica can gain little: what is told is
that none loses much."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count

import asyncpg
from rich.text import Text

from deploy.local.kafka import kafka
from libs import ids
from libs.bus.kafka import Address, KafkaBus, KafkaOutlet
from libs.bus.kafka.broker import declare
from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events import RememberRequested
from libs.events.envelope import Envelope
from libs.events.topics import MEMORY_EVENTS
from libs.runtime.host import host, prepare
from libs.runtime.service import Service, Subscription
from libs.telemetry import logs
from tests import infrastructure
from tests.benchmarks.contest import Server
from tests.benchmarks.kafka import GROUP, KEYS, SCHEMA
from tests.benchmarks.rows import Row
from tests.infrastructure import TEMPLATE, buses, fresh_database
from tests.support.processes import Child
from tests.support.rows import any_row

SHAPES = ((1, 1), (2, 1), (6, 1), (6, 2), (6, 3))
"""Busy partitions, replicas."""
DONE = "select count(*), extract(epoch from max(at) - min(at))::float8 from bus.inbox where grp = $1"


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    events = 3_000 if quick else 12_000
    rates: dict[tuple[int, int], float] = {}
    async with kafka() as broker, Server.started() as server:
        for busy, replicas in SHAPES:
            tell(f"{events} events in {busy} partitions, {replicas} replicas")
            async with fresh_database(server.postgres, TEMPLATE) as where:
                address = Address(broker.bootstrap, prefix=f"{ids.new()}.")
                rates[busy, replicas] = await _rate(where, address, busy, replicas, events)
    return list(_rows(rates)), Text()


def _rows(rates: dict[tuple[int, int], float]) -> Sequence[Row]:
    def row(shape: tuple[int, int], against: tuple[int, int]) -> Row:
        name = f"events/s, {_said(*shape)}"
        return Row(name, rates[shape], "/s", _said(*against), rates[against])

    return [row(shape, (1, 1) if shape[1] == 1 else (6, 1)) for shape in SHAPES[1:]]


def _said(busy: int, replicas: int) -> str:
    return f"{busy} busy partition{'s' * (busy > 1)}, {replicas} replica{'s' * (replicas > 1)}"


async def _rate(where: Dsns, address: Address, busy: int, replicas: int, events: int) -> float:
    """Events per second from the first commit to the last, on the database's clock."""
    await declare(address, [MEMORY_EVENTS])
    async with infrastructure.platform(where) as platform:
        await prepare(platform, [_service()])
    with ExitStack() as stack:
        for _ in range(replicas):
            stack.callback(Child(replica, where, address).kill)
        while len(await buses.shares(address, GROUP)) < replicas:
            await asyncio.sleep(0.2)
        await _say(address, busy, events)
        return await _handled(where, events)


def replica(where: Dsns, address: Address) -> None:
    """A member of the group, until it is killed."""
    logs.configure(json=False, level="CRITICAL")
    asyncio.run(_work(where, address))


async def _work(where: Dsns, address: Address) -> None:
    async with infrastructure.platform(where) as made:
        platform = replace(made, bus=KafkaBus(address, made.member))
        async with host(platform, [_service()]) as running:
            await running.failed


def _service() -> Service:
    return Service(GROUP, [Subscription(RememberRequested, _hear)], schema=SCHEMA)


async def _hear(cause: Cause, event: Envelope[RememberRequested]) -> Changeset:
    noted = {"grp": cause.group, "event_id": cause.id, "type": event.type, "key": cause.key, "turn_id": None}
    return Changeset(cause).put(any_row("echo", "noted", **noted))


async def _say(address: Address, busy: int, events: int) -> None:
    """So many events, of sessions whose partitions are the first ones."""
    outlet = KafkaOutlet(address, "producer")
    said = RememberRequested(memory_id="m", kind="answer", text="x" * 200, user="u").model_dump_json().encode()
    headers = {"source": "suma/bench", "time": "2026-01-01T00:00:00+00:00"}
    keys = _keys(busy)
    by_part: dict[int, list[Record]] = defaultdict(list)
    for n in range(events):
        key = keys[n % len(keys)]
        part = MEMORY_EVENTS.partition_of(key)
        record = Record(MEMORY_EVENTS.name, part, 0, ids.new(), "t1", key, RememberRequested.type, headers, said)
        by_part[part].append(record)
    await asyncio.gather(*(outlet.send(records, safe=0) for records in by_part.values()))
    await outlet.close()


def _keys(busy: int) -> list[str]:
    """As many sessions whatever the partitions, so that the lanes are as many."""
    named = (f"t1:{n}" for n in count())
    found: list[str] = []
    while len(found) < KEYS:
        key = next(named)
        if MEMORY_EVENTS.partition_of(key) < busy:
            found.append(key)
    return found


async def _handled(where: Dsns, events: int) -> float:
    connection = await asyncpg.connect(where.owner.replace("suma_owner", "postgres"))
    try:
        while True:
            done, seconds = await connection.fetchrow(DONE, GROUP) or (0, 0.0)
            if done >= events:
                return float(events / seconds)
            await asyncio.sleep(0.1)
    finally:
        await connection.close()
