"""A gateway on a real database, with a simulated conversation worker that publishes its events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

import asyncpg
import httpx
import orjson
from fastapi import FastAPI

from libs import ids
from libs.changes import Cause, Changeset
from libs.changes.writer import Applied, Writer
from libs.database import Dsns
from libs.events import Event
from libs.identity.keys import ApiKey, mint
from libs.leases.ports import NewLease
from libs.runtime.host import Running, host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Service, Subscription
from services import http_server
from services.connections import Bounds
from services.gateway.identity.directory import Directory
from services.gateway.identity.local_key import ensure_local_key
from services.gateway.service import build
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.viewer import first
from services.gateway.surfaces.context import Gateway
from tests import infrastructure

BASE = "http://localhost:8010"
PATIENCE = 60.0
Json = Any


def client(app: Any, key: str, **headers: str) -> httpx.AsyncClient:
    """Return an in-process HTTP client; headers without a value are left out."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    held = {"Authorization": f"Bearer {key}", **headers}
    return httpx.AsyncClient(transport=transport, base_url=BASE, headers={n: v for n, v in held.items() if v})


@dataclass
class RunningGateway:
    """A gateway with its database, keys and published events."""

    where: Dsns
    platform: Platform
    service: Service
    running: Running
    owner: str
    """The default key of `client`."""
    tenant: str = "local"

    @property
    def context(self) -> Gateway:
        return cast("Gateway", cast("FastAPI", self.app).state.surfaces)

    @property
    def app(self) -> Any:
        assert self.service.api is not None
        return self.service.api.app

    def client(self, key: str | None = None, **headers: str) -> httpx.AsyncClient:
        """Return an in-process HTTP client, with the owner's key unless another is given."""
        return client(self.app, key or self.owner, **headers)

    async def worker_says(self, session: str, *events: Event, correlation: str | None = None) -> Applied:
        """Publish events of a session as the conversation worker does."""
        key = f"{self.tenant}:{session}"
        cause = Cause.request("conversation_worker", id=ids.new(), tenant=self.tenant, key=key, session=session)
        cause = replace(cause, correlation=correlation or cause.correlation)
        return await self.platform.writer.apply(Changeset(cause).emit(*events))

    async def projected_elsewhere(self, session: str, turn: str, event: Event) -> None:
        """Publish an event from another process, whose commit projects it."""
        key = f"{self.tenant}:{session}"
        cause = Cause.request("elsewhere", id=ids.new(), tenant=self.tenant, key=key, session=session, turn=turn)
        writer = Writer(self.platform.database, self.platform.clock, ids.new())
        writing = asyncio.ensure_future(writer.run())
        try:
            await writer.apply(Changeset(cause).emit(event))
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    async def worker_waits(self) -> None:
        """Create a due lease that no worker has room for."""
        cause = Cause.request("conversation_worker", id=ids.new(), tenant=self.tenant, key=f"{self.tenant}:s")
        await self.platform.writer.apply(Changeset(cause).start(NewLease(ids.new(), "elsewhere", {}, delay=0)))

    async def seen(self, session: str, found: Callable[[Numbered], bool]) -> Numbered:
        """Wait for the first projected event that matches."""
        event = await first(self.context.streams, self.tenant, session, after=0, wait=PATIENCE, found=found)
        assert event is not None, "the event was not projected"
        return event

    async def caught_up(self, session: str, seq: int) -> None:
        await self.seen(session, lambda event: event.seq >= seq)

    async def key(
        self, *scopes: str, tenant: str | None = None, principal: str = "ada", expires: datetime | None = None
    ) -> str:
        """Create and register a key."""
        text, stored = mint(tenant or self.tenant, principal, scopes=scopes, expires=expires)
        await self._keep(stored)
        return text

    async def revoke(self, key: str) -> None:
        """Revoke a key as another replica does."""
        revoked = "update gateway.api_keys set revoked_at = now() where key_id = $1"
        await self.own(self.tenant, revoked, key.split("_")[1])

    async def execute(self, tenant: str, statement: str, *args: Any) -> None:
        async with self.connection(tenant) as connection:
            await connection.execute(statement, *args)

    async def own(self, tenant: str, statement: str, *args: Any) -> None:
        """Connect as suma_owner, the only role that writes keys."""
        async with self.connection(tenant, self.where.owner) as connection:
            await connection.execute(statement, *args)

    async def rows(self, query: str, *args: Any, tenant: str | None = None) -> Sequence[asyncpg.Record]:
        async with self.connection(tenant or self.tenant) as connection:
            return await connection.fetch(query, *args)

    @asynccontextmanager
    async def connection(
        self, tenant: str, dsn: str | None = None
    ) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
        """Query as suma_app unless another role is named, with one tenant's rows visible."""
        connection = await asyncpg.connect(dsn or self.where.app)
        try:
            await connection.execute("select set_config('suma.tenants', $1, false)", f"{{{tenant}}}")
            yield connection
        finally:
            await connection.close()

    async def published(self, type: str) -> AsyncIterator[Json]:
        """Return the data of this tenant's events of a type, in log order."""
        query = "select data::text from bus.log where type = $1 and tenant = $2 order by at, position"
        connection = await asyncpg.connect(self.where.bus)
        try:
            for row in await connection.fetch(query, type, self.tenant):
                yield orjson.loads(row["data"])
        finally:
            await connection.close()

    async def audited(self, action: str) -> Sequence[Json]:
        """Return the audit records of an action."""
        alone = [data async for data in self.published("suma.action.recorded.v1")]
        together = [data async for event in self.published("suma.actions.recorded.v1") for data in event["records"]]
        return [data for data in (*alone, *together) if data["action"] == action]

    async def _keep(self, key: ApiKey) -> None:
        await Directory(self.platform.database).put_tenant(key.tenant)
        await Directory(self.platform.database).put_key(key, name="test", by="test")


@asynccontextmanager
async def running_gateway(
    where: Dsns,
    owner: str,
    worker: Sequence[Subscription] | None = (),
    *,
    others: Sequence[Callable[[Platform], Service]] = (),
    **ports: Any,
) -> AsyncIterator[RunningGateway]:
    """A process that runs the gateway, a simulated conversation worker unless `worker` is None, and `others`."""
    settings = {"gateway": {"local_key": owner, "command_wait": 0.1, "key_seconds": 0.0, **ports.pop("settings", {})}}
    async with infrastructure.platform(where, settings=settings, **ports) as platform:
        service = build(platform)
        simulated = [Service("conversation_worker", worker)] if worker is not None else []
        services = [service, *simulated, *(other(platform) for other in others)]
        await prepare(platform, services)
        async with host(platform, services, pace=infrastructure.PACE) as running:
            made = RunningGateway(where, platform, service, running, owner)
            await ensure_local_key(platform, owner)
            yield made


@asynccontextmanager
async def served(gateway: RunningGateway) -> AsyncIterator[str]:
    """Serve the gateway on a real socket; yield its URL."""
    with closing(http_server.bind("127.0.0.1", 0, variable="SUMA_PORT")) as door:
        assert gateway.service.api is not None
        bounds = Bounds(send_seconds=gateway.service.api.send_seconds)
        async with http_server.serving(gateway.app, door, bounds=bounds):
            yield http_server.url_of(door)
