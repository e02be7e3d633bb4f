"""Open event streams on one gateway: the time from an event's publication to each client, and the gateway's memory.

A worker publishes events at a steady rate: its commit, the projection, the read and the way to the client count. One
stream is compared with a thousand: on sessions of their own, ten tabs on each of a hundred, and all on one session.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from random import Random

import httpx
from rich.text import Text
from typing_extensions import override

from deploy.local.ports import free_port
from libs import ids
from libs.bus.log import SCHEMA
from libs.changes import Cause, Changeset
from libs.database import Dsns, migrate
from libs.events import TurnAnalysed
from libs.identity.keys import mint
from libs.runtime.host import host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Service, Subscription
from services.gateway.service import build
from tests import infrastructure
from tests.benchmarks.contenders.gateway import serve
from tests.benchmarks.contest import Server
from tests.benchmarks.rows import Row, most
from tests.benchmarks.start import megabytes
from tests.infrastructure import TEMPLATE, fresh_database
from tests.support.processes import Child

STREAMS, TABS = 1000, 10
RATE = 40.0
"""Events a second, on all sessions together."""
FAN_RATE = 4.0
"""The same where each event goes to a thousand clients."""
WARM_SECONDS = 2.0
WITHIN = 60.0
OPENED_AT_ONCE = 50
TENANT = "local"
MARK = re.compile(rb'"tags": ?\["(\d+)"')


@dataclass
class Measured:
    latencies: list[float] = field(default_factory=list)
    """Seconds from the publication to a client."""
    memory: float = 0.0
    growth: float = 0.0
    """Megabytes of the gateway: once its streams were open, and how many more at the end."""

    def at(self, share: float) -> float:
        """Milliseconds."""
        return sorted(self.latencies)[int(len(self.latencies) * share)] * 1000


async def measure(tell: Callable[[str], None], *, quick: bool) -> tuple[list[Row], Text]:
    seconds = 6.0 if quick else 30.0
    async with gateway() as loaded:
        shapes = {"one": (1, 1), "own": (STREAMS, 1), "tabs": (STREAMS // TABS, TABS), "fan": (1, STREAMS)}
        found = {}
        for name, (sessions, each) in shapes.items():
            tell(f"{sessions * each} streams on {sessions} sessions")
            rate = FAN_RATE if name == "fan" else RATE
            found[name] = await loaded.run(sessions, each, rate=rate, seconds=seconds)
    return list(_rows(found)), Text()


def _rows(found: dict[str, Measured]) -> Sequence[Row]:
    one, goal = found["one"], most(5.0)

    def p99(name: str, about: str) -> Row:
        return Row(f"event to client, p99: {about}", found[name].at(0.99), "ms", "one stream", one.at(0.99), goal=goal)

    own = found["own"]
    return [
        Row("event to client, p50: 1,000 streams", own.at(0.5), "ms", "one stream", one.at(0.5)),
        p99("own", "1,000 streams, a session each"),
        p99("tabs", "1,000 streams, ten on a session"),
        p99("fan", "1,000 streams, one session"),
        Row("memory of a stream", (own.memory - one.memory) / STREAMS * 1024, "kB"),
        Row("memory that 1,000 streams gain under load", max(own.growth, found["tabs"].growth), "MB", goal=most(5.0)),
    ]


@dataclass
class LoadedGateway:
    """A gateway, a worker that publishes, and the clients, which are in this process."""

    platform: Platform
    http: httpx.AsyncClient
    port: int
    pid: int
    key: str

    async def run(self, sessions: int, each: int, *, rate: float, seconds: float) -> Measured:
        """Open the streams, publish for so long, and close them."""
        names = await self._sessions(sessions)
        measured = Measured()
        clients = [await client for client in self._opening([name for name in names for _ in range(each)], measured)]
        try:
            await self._published(names, each, rate, WARM_SECONDS, measured)
            measured.latencies.clear()
            measured.memory = megabytes(self.pid)
            await self._published(names, each, rate, seconds, measured)
            measured.growth = megabytes(self.pid) - measured.memory
        finally:
            for client in clients:
                client.close()
        return measured

    def _opening(self, names: Sequence[str], measured: Measured) -> Sequence[asyncio.Task[asyncio.Transport]]:
        gate = asyncio.Semaphore(OPENED_AT_ONCE)
        return [asyncio.ensure_future(self._open(name, measured, gate)) for name in names]

    async def _open(self, session: str, measured: Measured, gate: asyncio.Semaphore) -> asyncio.Transport:
        async with gate:
            loop = asyncio.get_running_loop()
            client = Client(measured)
            transport, _ = await loop.create_connection(lambda: client, "127.0.0.1", self.port)
            head = f"GET /v1/sessions/{session}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.key}"
            transport.write(f"{head}\r\n\r\n".encode())
            await asyncio.wait_for(client.open, WITHIN)
            return transport

    async def _sessions(self, count: int) -> list[str]:
        gate = asyncio.Semaphore(OPENED_AT_ONCE)

        async def opened() -> str:
            async with gate:
                return str((await self.http.post("/v1/sessions", json={})).json()["session_id"])

        return list(await asyncio.gather(*(opened() for _ in range(count))))

    async def _published(
        self, names: Sequence[str], each: int, rate: float, seconds: float, measured: Measured
    ) -> None:
        """Publish on schedule, however long each event takes, until all have arrived."""
        rng, began, tasks = Random(1), time.perf_counter(), []
        for n in range(int(rate * seconds)):
            await asyncio.sleep(max(0.0, began + n / rate - time.perf_counter()))
            tasks.append(asyncio.ensure_future(self._say(rng.choice(names))))
        await asyncio.gather(*tasks)
        async with asyncio.timeout(WITHIN):
            while len(measured.latencies) < len(tasks) * each:
                await asyncio.sleep(0.05)

    async def _say(self, session: str) -> None:
        key = f"{TENANT}:{session}"
        cause = Cause.request("conversation_worker", id=ids.new(), tenant=TENANT, key=key, session=session)
        note = TurnAnalysed(turn_id="t", intent="task", sentiment="neutral", tags=(str(time.perf_counter_ns()),))
        await self.platform.writer.apply(Changeset(cause).emit(note))


class Client(asyncio.Protocol):
    """A client of one stream, as cheap as can be: it looks for the moment that each event carries."""

    def __init__(self, measured: Measured) -> None:
        self._measured = measured
        self._rest = b""
        self.open: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @override
    def data_received(self, data: bytes) -> None:
        now = time.perf_counter_ns()
        if not self.open.done():
            assert data.startswith(b"HTTP/1.1 200"), data
            self.open.set_result(None)
        *whole, self._rest = (self._rest + data).split(b"\n\n")
        for event in whole:
            if mark := MARK.search(event):
                self._measured.latencies.append((now - int(mark[1])) / 1e9)


@asynccontextmanager
async def gateway(*subscriptions: Subscription) -> AsyncIterator[LoadedGateway]:
    """A gateway in a process of its own, and in this one a conversation worker with these subscriptions."""
    owner, port = mint(TENANT, "owner", scopes=["*"])[0], free_port()
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(Server.started())
        where = await stack.enter_async_context(fresh_database(server.postgres, TEMPLATE))
        await _migrated(where)
        child = Child(serve, where, owner, port)
        stack.callback(child.kill)
        held = {"Authorization": f"Bearer {owner}"}
        http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=held, timeout=WITHIN, trust_env=False)
        await stack.enter_async_context(http)
        await _ready(http)
        platform = await stack.enter_async_context(infrastructure.platform(where))
        worker = Service("conversation_worker", subscriptions)
        await prepare(platform, [worker])
        await stack.enter_async_context(host(platform, [worker]))
        yield LoadedGateway(platform, http, port, child.pid, owner)


async def _migrated(where: Dsns) -> None:
    await migrate(where.owner, SCHEMA)
    async with infrastructure.platform(where) as platform:
        await prepare(platform, [build(platform)])


async def _ready(http: httpx.AsyncClient) -> None:
    async with asyncio.timeout(WITHIN):
        while True:
            try:
                if (await http.get("/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.05)
