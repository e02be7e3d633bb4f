"""A cluster: one database, one publisher, and as many members as a test starts."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import orjson
import pytest
import pytest_asyncio

from libs import ids
from libs.bus.ports import Record
from libs.changes import Cause, Changeset, DeadLetterAction
from libs.database import Dsns
from libs.errors import Conflict
from libs.events import FeedbackGiven, RememberRequested
from libs.events.topics import MEMORY_EVENTS
from libs.runtime.host import Running, host, prepare
from libs.runtime.platform import Platform
from tests import infrastructure
from tests.conformance.bus.adapters import ADAPTERS, KafkaPlace, Place
from tests.conformance.bus.listener import GROUP, Listener, member
from tests.infrastructure import buses
from tests.support.processes import Child
from tests.support.rows import any_row

WITHIN = 30.0
LOOK_EVERY = 0.02


@dataclass
class Cluster:
    place: Place
    publisher: Platform
    eye: asyncpg.Connection[asyncpg.Record]
    children: list[Child] = field(default_factory=list)

    @property
    def where(self) -> Dsns:
        return self.place.where

    def platform(self, **ports: Any) -> AbstractAsyncContextManager[Platform]:
        return self.place.platform(**ports)

    @asynccontextmanager
    async def listening(self, **ports: Any) -> AsyncIterator[Running]:
        """Run a member in this process."""
        async with self.speaking(**ports) as (_, running):
            yield running

    @asynccontextmanager
    async def speaking(self, **ports: Any) -> AsyncIterator[tuple[Platform, Running]]:
        """Run a member in this process that also publishes."""
        async with (
            self.platform(**ports) as platform,
            host(platform, [Listener(platform).service()], pace=infrastructure.PACE) as running,
        ):
            yield platform, running

    def child(self, name: str, fatal: str = "") -> Child:
        """Start a member in its own process."""
        child = Child(member, self.place, name, fatal)
        self.children.append(child)
        return child

    async def say(
        self, what: str, *, key: str = "k", text: str = "", tenant: str = "t1", by: Platform | None = None
    ) -> str:
        """Publish `what`; return the event's id."""
        event = RememberRequested(memory_id=what, kind="fact", text=text, user="u")
        return await self._publish(event, what, key, tenant, by or self.publisher)

    async def urge(self, what: str, *, key: str = "k", tenant: str = "t1") -> str:
        return await self._publish(FeedbackGiven(subject=what, score=1, user="u"), what, key, tenant, self.publisher)

    async def _publish(
        self, event: RememberRequested | FeedbackGiven, what: str, key: str, tenant: str, by: Platform
    ) -> str:
        cause = Cause.request("gateway", id=ids.new(), tenant=tenant, key=f"{tenant}:{key}", turn=what)
        (record,) = (await by.writer.apply(Changeset(cause).emit(event))).records
        return record.event_id

    async def mend(self, name: str, *, tenant: str = "t1") -> None:
        """Create the tally that `needs:NAME` waits for."""
        cause = Cause.request("gateway", id=ids.new(), tenant=tenant, key=f"{tenant}:{name}")
        await self.publisher.writer.apply(Changeset(cause).put(any_row("echo", "tally.spend", name=name, amount=0)))

    async def replay(self, event_id: str, *, tenant: str = "t1") -> bool:
        """Replay a dead letter to its group; return False if it is not dead (any more) or another tenant's."""
        cause = Cause.request("gateway", id=ids.new(), tenant=tenant, key=f"{tenant}:{event_id}")
        try:
            await self.publisher.writer.apply(
                Changeset(cause).act_on_dead_letters(DeadLetterAction("replay", GROUP, event_id))
            )
        except Conflict:
            return False
        return True

    async def heard(self, key: str = "k", tenant: str = "t1") -> list[str]:
        """Return the handled events of a key, in order of handling."""
        rows = await self.eye.fetch("select turn_id from echo.noted where key = $1 order by n", f"{tenant}:{key}")
        return [row["turn_id"] for row in rows]

    async def written(self, key: str = "k", tenant: str = "t1") -> list[str]:
        """Return the log's events of a key, in order."""
        rows = await self.eye.fetch(
            "select headers ->> 'turnid' as what from bus.log where key = $1 and topic = $2 order by position",
            f"{tenant}:{key}",
            MEMORY_EVENTS.name,
        )
        return [row["what"] for row in rows]

    async def until_heard(self, count: int) -> None:
        await self.until("select count(*) >= $1 from echo.noted", count)

    async def until(self, question: str, *args: object) -> None:
        """Wait until the query returns true."""
        async with asyncio.timeout(WITHIN):
            while not await self.eye.fetchval(question, *args):
                await asyncio.sleep(LOOK_EVERY)

    async def shared_by(self, members: int) -> None:
        """Wait until so many members share all partitions evenly."""
        most = math.ceil(MEMORY_EVENTS.partitions / members)
        async with asyncio.timeout(WITHIN):
            while True:
                held = (await self.place.shares(GROUP)).values()
                if len(held) == members and sum(held) == MEMORY_EVENTS.partitions and max(held) <= most:
                    return
                await asyncio.sleep(LOOK_EVERY)

    async def later(self, seconds: float) -> None:
        """Advance the database's time."""
        await infrastructure.shift(self.publisher.database, seconds=seconds)

    async def state(self, event_id: str) -> str | None:
        found: str | None = await self.eye.fetchval(
            "select state from bus.inbox where grp = $1 and id = $2", GROUP, event_id
        )
        return found

    async def record(self, event_id: str) -> Record:
        row = await self.eye.fetchrow(
            "select topic, part, position, tenant, key, type, headers::text, data::text from bus.log where"
            " event_id = $1",
            event_id,
        )
        assert row is not None
        return Record(
            row["topic"],
            row["part"],
            row["position"],
            event_id,
            row["tenant"],
            row["key"],
            row["type"],
            orjson.loads(row["headers"]),
            row["data"].encode(),
        )


@pytest.fixture(params=["postgres", pytest.param("kafka", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, echo_where: Dsns) -> Place:
    bootstrap = request.getfixturevalue("broker").bootstrap if request.param == "kafka" else ""
    return ADAPTERS[request.param](echo_where, bootstrap)


@pytest_asyncio.fixture(loop_scope="session")
async def cluster(place: Place) -> AsyncIterator[Cluster]:
    async with place.platform() as publisher:
        await prepare(publisher, [Listener(publisher).service()])
        writing = asyncio.ensure_future(publisher.writer.run())
        eye = await asyncpg.connect(place.where.owner.replace("suma_owner", "postgres"))
        cluster = Cluster(place, publisher, eye)
        yield cluster
        for child in cluster.children:
            child.kill()
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await eye.close()
    if isinstance(place, KafkaPlace):
        await buses.forget(place.address)
