"""A gateway alone on a real database, and someone who plays the conversation worker by publishing what it would say."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

import asyncpg
import httpx
import orjson
import uvicorn
from fastapi import FastAPI

from libs import ids
from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.changes.writer import Applied
from libs.database import Dsns
from libs.events import Event
from libs.identity.keys import ApiKey, mint
from libs.leases.ports import Start
from libs.runtime.host import Running, host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Service, Subscription
from services.gateway.api.gateway import Gateway
from services.gateway.keys import ensure_local_key
from services.gateway.service import build, watch
from services.gateway.store import Numbered
from services.gateway.viewer import first
from tests import infrastructure

BASE = "http://localhost:8010"
PATIENCE = 10.0
Json = Any


def client(app: Any, key: str, **headers: str) -> httpx.AsyncClient:
    """An HTTP client in process; headers without a value are left out."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    held = {"Authorization": f"Bearer {key}", **headers}
    return httpx.AsyncClient(transport=transport, base_url=BASE, headers={n: v for n, v in held.items() if v})


@dataclass
class House:
    """What a test holds in its hands."""

    where: Dsns
    platform: Platform
    service: Service
    running: Running
    owner: str
    """The key that `client` uses unless told otherwise."""
    tenant: str = "local"

    @property
    def gateway(self) -> Gateway:
        return cast("Gateway", cast("FastAPI", self.app).state.gateway)

    @property
    def app(self) -> Any:
        assert self.service.api is not None
        return self.service.api.app

    def client(self, key: str | None = None, **headers: str) -> httpx.AsyncClient:
        """An HTTP client in process, with the owner's key unless another is given."""
        return client(self.app, key or self.owner, **headers)

    async def worker_says(self, session: str, *events: Event, correlation: str | None = None) -> Applied:
        """Publish events of a session as the conversation worker does."""
        key = f"{self.tenant}:{session}"
        cause = Cause.request("conversation_worker", id=ids.new(), tenant=self.tenant, key=key, session=session)
        cause = replace(cause, correlation=correlation or cause.correlation)
        return await self.platform.writer.apply(Changeset(cause).say(*events))

    async def worker_waits(self) -> None:
        """Something is due that nobody has room for."""
        cause = Cause.request("conversation_worker", id=ids.new(), tenant=self.tenant, key=f"{self.tenant}:s")
        await self.platform.writer.apply(Changeset(cause).start(Start(ids.new(), "elsewhere", {}, delay=0)))

    async def seen(self, session: str, found: Callable[[Numbered], bool]) -> Numbered:
        """The first event of the projection that is the one waited for."""
        event = await first(self.gateway.streams, self.tenant, session, after=0, wait=PATIENCE, found=found)
        assert event is not None, "the event was not projected"
        return event

    async def caught_up(self, session: str, seq: int) -> None:
        await self.seen(session, lambda event: event.seq >= seq)

    async def handled(self, record: Record) -> str:
        """Hand a record to the gateway as a consumer does, once more if it has been; the verdict."""
        (handle,) = [s.handle for s in self.service.subscriptions if s.event.type == record.type]
        changeset = await handle(Cause.record("gateway", record), record.envelope())
        return (await self.platform.writer.apply(changeset)).verdict

    async def key(
        self, *scopes: str, tenant: str | None = None, principal: str = "ada", expires: datetime | None = None
    ) -> str:
        """A key that the server knows."""
        text, stored = mint(tenant or self.tenant, principal, scopes=scopes, expires=expires)
        await self._keep(stored)
        return text

    async def revoke(self, key: str) -> None:
        revoked = "update gateway.api_keys set revoked_at = now() where key_id = $1"
        await self.execute(self.tenant, revoked, key.split("_")[1])

    async def execute(self, tenant: str, statement: str, *args: Any) -> None:
        async with self.connection(tenant) as connection:
            await connection.execute(statement, *args)

    async def rows(self, query: str, *args: Any, tenant: str | None = None) -> Sequence[asyncpg.Record]:
        async with self.connection(tenant or self.tenant) as connection:
            return await connection.fetch(query, *args)

    @asynccontextmanager
    async def connection(self, tenant: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
        """As suma_app, with one tenant's rows in sight."""
        connection = await asyncpg.connect(self.where.app)
        try:
            await connection.execute("select set_config('suma.tenants', $1, false)", f"{{{tenant}}}")
            yield connection
        finally:
            await connection.close()

    async def published(self, type: str) -> AsyncIterator[Json]:
        """The data of every event of a type, in the order of the log; of this tenant alone."""
        query = "select data::text from bus.log where type = $1 and tenant = $2 order by at, position"
        connection = await asyncpg.connect(self.where.bus)
        try:
            for row in await connection.fetch(query, type, self.tenant):
                yield orjson.loads(row["data"])
        finally:
            await connection.close()

    async def audited(self, action: str) -> Sequence[Json]:
        """What was recorded of an action."""
        return [data async for data in self.published("suma.action.recorded.v1") if data["action"] == action]

    async def _keep(self, key: ApiKey) -> None:
        await self.execute(
            key.tenant,
            "insert into gateway.api_keys (tenant_id, key_id, hash, principal, scopes, expires_at, created_at)"
            " values ($1, $2, $3, $4, $5, $6, now())",
            key.tenant,
            key.id,
            key.hash,
            key.principal,
            sorted(key.scopes),
            key.expires,
        )


@asynccontextmanager
async def house(where: Dsns, owner: str, worker: Sequence[Subscription] = (), **ports: Any) -> AsyncIterator[House]:
    """A process with the gateway in it, and whatever plays the conversation worker."""
    settings = {"gateway": {"local_key": owner, "command_wait": 0.1, **ports.pop("settings", {})}}
    async with infrastructure.platform(where, settings=settings, **ports) as platform:
        service = build(platform)
        services = [service, Service("conversation_worker", worker)]
        await prepare(platform, services)
        async with host(platform, services, pace=infrastructure.PACE) as running:
            watch(service, running.problems, running.health)
            made = House(where, platform, service, running, owner)
            await ensure_local_key(platform, owner)
            yield made


@asynccontextmanager
async def served(house: House) -> AsyncIterator[str]:
    """The gateway on a real socket; its URL."""
    # asyncio turns Nagle's algorithm off only where the protocol is named; else each answer takes 40 ms more.
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    door.bind(("127.0.0.1", 0))
    door.listen(128)
    config = uvicorn.Config(house.app, log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[door]))
    try:
        yield f"http://127.0.0.1:{door.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
