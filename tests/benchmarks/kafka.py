"""Kafka as the bus, beside the log in PostgreSQL; and a consumer with its inbox, beside aiokafka with a commit for each
event (architecture.md 18).

The broker is what a user has: with the options of Kafka's own start script, and warm, since its code is compiled as it
runs and a broker runs for months. (Tests start theirs with other options, for a quick start.)
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import asyncpg
import orjson
from aiokafka import AIOKafkaConsumer
from rich.table import Table

from deploy.local.kafka import Kafka, kafka
from libs import ids
from libs.bus.kafka import Address, KafkaBus, KafkaOutlet
from libs.bus.kafka.broker import declare
from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.database import Dsns, Schema
from libs.embedded.postgres import Postgres
from libs.events import RememberRequested
from libs.events.envelope import Envelope
from libs.events.topics import MEMORY_EVENTS
from libs.runtime.host import host, prepare
from libs.runtime.service import Service, Subscription
from tests import infrastructure
from tests.benchmarks.contest import Contender, Load, Measured, Runs, Server, median, race, ratio
from tests.benchmarks.rows import Row, figure, least
from tests.benchmarks.turns import Command
from tests.infrastructure import TEMPLATE, dsns, fresh_database
from tests.support.echo_service import FOLDER
from tests.support.rows import any_row

LOG, CARRIED, ECHO_LOG, ECHO_CARRIED = "Suma", "Suma on Kafka", "Suma, bus only", "Suma on Kafka, bus only"
SINGLE, MANY = 1, 64
FULL = (Load(SINGLE, 24), Load(MANY, 384)), 5, 6_000
QUICK = (Load(SINGLE, 12), Load(MANY, 128)), 3, 2_000
BARE_TIMES = 4
"""A turn on the bus alone is so short that there must be more of them: what the relay still has in hand at the end of a
run, of at most half a second, is not in its time."""
WARM_REQUESTS = 5_000
AS_SHIPPED = (
    *("-Xms1g", "-Xmx1g", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent"),
)
"""The options of Kafka's own start script."""
KEYS = 64
"""Sessions: what both consumers handle side by side."""
GROUP = "memory_service"
SCHEMA = Schema("echo", FOLDER / "migrations", [FOLDER / "apply.sql"])
COMMIT = """
    with first as (
        insert into bus.inbox (grp, id, tenant, state, at) values ($1, $2, 't1', 'done', now()) on conflict do nothing
        returning id
    )
    insert into echo.noted (tenant_id, grp, event_id, type, key) select 't1', $1, id, $3, $4 from first
"""
Consume = Callable[[Server, Address, int], Awaitable[float]]
"""Handle so many events that are there already; events per second."""


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Table]:
    loads, rounds, events = QUICK if quick else FULL
    tell("starting Kafka")
    async with kafka(java=AS_SHIPPED) as broker, Server.started() as server:
        tell("warming Kafka up")
        await warmed(broker)
        rates: dict[str, list[float]] = defaultdict(list)
        for n in range(rounds):
            for name, consume in (("ours", ours), ("raw", raw)):
                tell(f"round {n + 1} of {rounds}: {events} events through a consumer, {name}")
                async with topic(broker, events) as address:
                    rates[name].append(await consume(server, address, events))
        # Not all four at once: their connections would be too many.
        runs: dict[tuple[str, int], Sequence[Measured]] = {}
        for times, pair in zip((1, BARE_TIMES), contenders(broker), strict=True):
            longer = [replace(load, turns=times * load.turns) for load in loads]
            runs |= await race(server, pair, longer, rounds=rounds, tell=tell)
    return [*turns(LOG, CARRIED, runs), *turns(ECHO_LOG, ECHO_CARRIED, runs), consumer(rates)], figures(runs)


def turns(log: str, carried: str, runs: Runs) -> list[Row]:
    def row(what: str, sessions: int, of: Callable[[Measured], float], unit: str, scale: float) -> Row:
        ours, theirs = runs[carried, sessions], runs[log, sessions]
        goal = least(0.9) if unit == "/s" else None
        name = f"{carried}: {what}, {sessions} session{'s' * (sessions > 1)}"
        return Row(name, median(ours, of) * scale, unit, log, median(theirs, of) * scale, goal, ratio(ours, theirs, of))

    return [
        row("turns/s", MANY, lambda run: run.rate, "/s", 1),
        row("turn p50", SINGLE, lambda run: run.p50, "ms", 1000),
        row("CPU of a turn", MANY, lambda run: (run.cpu + run.database) / len(run.latencies), "ms", 1000),
    ]


def consumer(rates: dict[str, list[float]]) -> Row:
    paired = statistics.median(our / their for our, their in zip(rates["ours"], rates["raw"], strict=True))
    name, peer = "events/s through a consumer with inbox", "raw aiokafka, a commit for each event"
    medians = {who: statistics.median(each) for who, each in rates.items()}
    return Row(name, medians["ours"], "/s", peer, medians["raw"], least(0.8), paired)


def figures(runs: Runs) -> Table:
    made = Table("contender", "sessions", "p50 ms", "p99 ms", "turns/s", title="Kafka, raw: medians of the rounds")
    for (name, sessions), measured in sorted(runs.items(), key=lambda item: item[0][1]):
        p50, p99 = (figure(median(measured, of) * 1000) for of in (lambda run: run.p50, lambda run: run.p99))
        made.add_row(name, str(sessions), p50, p99, figure(median(measured, lambda run: run.rate)))
    return made


def contenders(broker: Kafka) -> list[Sequence[Contender]]:
    def command(module: str, *more: str) -> Command:
        async def told(server: Postgres, database: str) -> Sequence[str]:
            where = dsns(server, database)
            program = f"tests.benchmarks.contenders.{module}"
            return [sys.executable, "-m", program, where.owner, where.bus, where.app, *more]

        return told

    whole = (
        Contender(LOG, command("platform"), TEMPLATE),
        Contender(CARRIED, command("platform", broker.bootstrap), TEMPLATE),
    )
    bare = (
        Contender(ECHO_LOG, command("echo"), TEMPLATE),
        Contender(ECHO_CARRIED, command("echo", broker.bootstrap), TEMPLATE),
    )
    return [whole, bare]


async def warmed(broker: Kafka) -> None:
    """Send and fetch one event after another, until the broker's code is compiled for good."""
    address = Address(broker.bootstrap, prefix=f"{ids.new()}.")
    await declare(address, [MEMORY_EVENTS])
    outlet = KafkaOutlet(address, "producer")
    consumer = AIOKafkaConsumer(
        address.prefix + MEMORY_EVENTS.name, **address.client("warm-up"), auto_offset_reset="earliest"
    )
    await consumer.start()
    for n in range(WARM_REQUESTS):
        await outlet.send([said(n)], safe=0)
        await consumer.getone()
    await consumer.stop()
    await outlet.close()


def said(n: int) -> Record:
    """An event of one of `KEYS` sessions in turn."""
    key = f"t1:{n % KEYS}"
    part = MEMORY_EVENTS.partition_of(key)
    data = RememberRequested(memory_id="m", kind="answer", text="x" * 200, user="u").model_dump_json().encode()
    headers = {"source": "suma/bench", "time": "2026-01-01T00:00:00+00:00"}
    return Record(MEMORY_EVENTS.name, part, 0, ids.new(), "t1", key, RememberRequested.type, headers, data)


@asynccontextmanager
async def topic(broker: Kafka, events: int) -> AsyncIterator[Address]:
    """So many events on Kafka."""
    address = Address(broker.bootstrap, prefix=f"{ids.new()}.")
    await declare(address, [MEMORY_EVENTS])
    outlet = KafkaOutlet(address, "producer")
    by_part: dict[int, list[Record]] = defaultdict(list)
    for n in range(events):
        record = said(n)
        by_part[record.part].append(record)
    await asyncio.gather(*(outlet.send(records, safe=0) for records in by_part.values()))
    await outlet.close()
    yield address


async def ours(server: Server, address: Address, events: int) -> float:
    """A service of one handler, hosted as always."""
    async with fresh_database(server.postgres, TEMPLATE) as where, infrastructure.platform(where) as made:
        platform = replace(made, bus=KafkaBus(address, made.member))
        handled = Handled(events)
        services = [Service(GROUP, [Subscription(RememberRequested, handled.hear)], schema=SCHEMA)]
        await prepare(platform, services)
        async with host(platform, services):
            return await handled.rate()


async def raw(server: Server, address: Address, events: int) -> float:
    """The same by hand: lanes of keys, a transaction for each event, one connection for each lane."""
    async with fresh_database(server.postgres, TEMPLATE) as where, infrastructure.platform(where) as made:
        await prepare(made, [Service(GROUP, schema=SCHEMA)])
        return await _by_hand(where, address, events)


async def _by_hand(where: Dsns, address: Address, events: int) -> float:
    handled = Handled(events)
    lanes: dict[bytes, asyncio.Queue[bytes]] = {}
    administrator = where.owner.replace("suma_owner", "postgres")
    consumer = AIOKafkaConsumer(
        address.prefix + MEMORY_EVENTS.name,
        **address.client("raw"),
        group_id=address.prefix + "raw",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )
    async with asyncpg.create_pool(administrator, min_size=KEYS, max_size=KEYS) as pool, asyncio.TaskGroup() as tasks:
        await consumer.start()

        async def lane(key: bytes, queue: asyncio.Queue[bytes]) -> None:
            async with pool.acquire() as connection:
                while True:
                    event = orjson.loads(await queue.get())
                    await connection.execute(COMMIT, GROUP, ids.new(), event["kind"], key.decode())
                    handled.one()

        working: list[asyncio.Task[None]] = []

        async def feed() -> None:
            while True:
                for records in (await consumer.getmany(timeout_ms=1000)).values():
                    for record in records:
                        handled.begin()
                        if record.key not in lanes:
                            lanes[record.key] = asyncio.Queue()
                            working.append(tasks.create_task(lane(record.key, lanes[record.key])))
                        lanes[record.key].put_nowait(record.value)

        working.append(tasks.create_task(feed()))
        rate = await handled.rate()
        for task in working:
            task.cancel()
        await consumer.stop()
        return rate


class Handled:
    """Counts, from the first event to the last."""

    def __init__(self, events: int) -> None:
        self._left = self._events = events
        self._began = 0.0
        self._all = asyncio.Event()

    async def hear(self, cause: Cause, event: Envelope[RememberRequested]) -> Changeset:
        self.begin()
        noted = {"grp": cause.group, "event_id": cause.id, "type": event.type, "key": cause.key, "turn_id": None}
        return Changeset(cause).put(any_row("echo", "noted", **noted)).on_commit(self.one)

    def begin(self) -> None:
        self._began = self._began or time.perf_counter()

    def one(self) -> None:
        self._left -= 1
        if not self._left:
            self._all.set()

    async def rate(self) -> float:
        """Events per second, once all are handled."""
        await self._all.wait()
        return self._events / (time.perf_counter() - self._began)
