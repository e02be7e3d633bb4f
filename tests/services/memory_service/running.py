"""A memory service in its own process, with helpers for its events and its HTTP API."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.events.base import Event
from libs.identity import internal
from libs.runtime.host import host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Service
from libs.search import Embedder
from libs.search.embedder import HashedEmbedder
from services.memory_service.service import build
from services.memory_service.store import GROUP
from tests.infrastructure import PACE, platform

OWNER = ("memory",)


class Points:
    """Counter of fault points; waits until a point was passed often enough."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self._passed = asyncio.Event()

    def __call__(self, point: str) -> None:
        self.seen[point] += 1
        self._passed.set()

    async def passed(self, point: str, times: int) -> None:
        async with asyncio.timeout(60):
            while self.seen[point] < times:
                self._passed.clear()
                await self._passed.wait()


@dataclass(frozen=True)
class RunningMemory:
    platform: Platform
    service: Service
    points: Points

    async def say(self, event: Event, *, tenant: str = "acme", session: str | None = "s-1") -> None:
        """Publish an event as the conversation worker does; return once it was handled."""
        point = f"{GROUP}:{event.type}:after"
        before = self.points.seen[point]
        key = f"{tenant}:{session or 'nowhere'}"
        cause = Cause.request("tester", id=ids.new(), tenant=tenant, key=key, session=session, turn="t-1")
        await self.platform.writer.apply(Changeset(cause).emit(event))
        await self.points.passed(point, before + 1)

    def token(
        self,
        tenant: str = "acme",
        session: str | None = "s-1",
        audience: str = GROUP,
        user: str | None = None,
    ) -> str:
        now = self.platform.clock.now()
        return internal.issue(self.platform.keys, tenant=tenant, session=session, audience=audience, now=now, user=user)

    async def ask(
        self,
        method: str,
        route: str,
        json: Any = None,
        *,
        tenant: str = "acme",
        session: str | None = "s-1",
        token: str | None = None,
        user: str | None = "ada",
        **more: Any,
    ) -> httpx.Response:
        headers = {
            **more.pop("headers", {}),
            internal.HEADER: self.token(tenant, session, user=user) if token is None else token,
        }
        headers |= {"Content-Type": "application/json"} if "content" in more else {}
        async with self.platform.clients[GROUP]() as client:
            return await client.request(method, route, json=json, headers=headers, **more)

    async def remember(self, text: str, *, user: str | None = "ada", **fields: Any) -> httpx.Response:
        """Send HTTP requests for a person with permission. `tenant` and `session` are the token's."""
        return await self.ask(
            "POST", "/remember", {"text": text, "scopes": OWNER, **_rest(fields)}, user=user, **_token(fields)
        )

    async def recalled(self, query: str, *, user: str | None = "ada", **fields: Any) -> list[str]:
        """Return the recalled texts, best first."""
        answer = await self.ask("POST", "/recall", {"query": query, **_rest(fields)}, user=user, **_token(fields))
        assert answer.status_code == 200, answer.text
        return [memory["text"] for memory in answer.json()["memories"]]

    async def rows(self, query: str, *, tenant: str = "acme") -> list[Mapping[str, Any]]:
        async with self.platform.database.read(GROUP, tenant) as connection:
            return [dict(row) for row in await connection.fetch(query)]

    async def recorded(self) -> list[dict[str, Any]]:
        """Return the records on audit.events, in order."""
        pool = await self.platform.database.bus()
        rows = await pool.fetch(
            "select data::text as data from bus.log where topic = 'audit.events' order by at, position"
        )
        events = [orjson.loads(row["data"]) for row in rows]
        return [record for event in events for record in event.get("records", [event])]


def _token(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in ("tenant", "session")}


def _rest(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in ("tenant", "session")}


@asynccontextmanager
async def running_memory(
    where: Dsns,
    *,
    embedder: Embedder | None = None,
    fault: Callable[[str], None] = lambda point: None,
    **ports: Any,
) -> AsyncIterator[RunningMemory]:
    """`fault` is called at each fault point, before it is counted."""
    points = Points()

    def point(name: str) -> None:
        fault(name)
        points(name)

    ports.setdefault("settings", {GROUP: {"mind_seconds": 0}})
    clients: dict[str, Callable[[], httpx.AsyncClient]] = {}
    async with platform(where, point=point, embedder=embedder or HashedEmbedder(), clients=clients, **ports) as given:
        service = build(given)
        assert service.api is not None
        transport = httpx.ASGITransport(app=service.api.app)
        clients[GROUP] = lambda: httpx.AsyncClient(transport=transport, base_url="http://memory")
        await prepare(given, [service])
        async with host(given, [service], pace=PACE):
            yield RunningMemory(given, service, points)
