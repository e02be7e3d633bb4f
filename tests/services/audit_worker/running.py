"""An audit worker in its own process, with helpers to send events and to inspect the chain."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from libs import ids
from libs.audit import CheckpointFile
from libs.bus.projections import Projections
from libs.changes import Cause, Changeset
from libs.clock import SystemClock
from libs.database import Dsns
from libs.events import ActionRecorded
from libs.identity import internal
from libs.keys import Keys
from libs.runtime.follower import Follower
from libs.runtime.host import host, prepare
from libs.runtime.platform import Platform
from libs.runtime.service import Service
from services.audit_worker.service import build
from services.audit_worker.store import GROUP, Store
from tests.infrastructure import PACE, platform

PROJECTED = "project:after"


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


@dataclass
class MovedClock:
    """The machine's clock plus an offset."""

    by: timedelta = timedelta()

    def now(self) -> datetime:
        return SystemClock().now() + self.by


@dataclass(frozen=True)
class RunningAudit:
    platform: Platform
    service: Service
    where: Dsns
    points: Points
    clock: MovedClock
    problems: Callable[[], list[str]] = field(default=list)

    @property
    def checkpoints(self) -> CheckpointFile:
        return CheckpointFile(self.platform.data_dir / "audit" / "checkpoints.jsonl")

    async def say(self, *events: ActionRecorded, tenant: str = "acme", session: str = "s-1", turn: str = "t-1") -> None:
        """Publish events of one changeset, as any service does."""
        cause = Cause.request(
            "tester", id=ids.new(), tenant=tenant, key=f"{tenant}:{session}", session=session, turn=turn
        )
        await self.platform.writer.apply(Changeset(cause).emit(*events))

    async def chained(self, *events: ActionRecorded, **where: str) -> None:
        """Publish events, and return once they are chained."""
        tenant = where.get("tenant", "acme")
        wanted = await self.count(tenant) + len(events)
        await self.say(*events, **where)
        await self.reached(wanted, tenant)

    async def reached(self, wanted: int, tenant: str = "acme") -> None:
        """Wait until a chain has so many records; check again after each step of the follower."""
        while True:
            seen = self.points.seen[PROJECTED]
            if await self.count(tenant) >= wanted:
                return
            await self.points.passed(PROJECTED, seen + 1)

    def follower(self) -> Follower:
        """Return a follower as another process has it."""
        return Follower([self.service], Projections(self.platform.database), ids.new(), lambda point: None)

    async def count(self, tenant: str) -> int:
        head = await Store(self.platform.database).head(tenant)
        return head.count if head else 0

    async def get(self, route: str, *, tenant: str = "acme", token: str | None = None, **params: Any) -> httpx.Response:
        if token is None:
            token = internal.issue(self.platform.keys, tenant=tenant, audience=GROUP, now=self.clock.now())
        assert self.service.api is not None
        transport = httpx.ASGITransport(app=self.service.api.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://audit") as client:
            return await client.get(f"/internal/v1/audit/{route}", params=params, headers={internal.HEADER: token})

    async def export(self, tenant: str = "acme") -> list[bytes]:
        answer = await self.get("export", tenant=tenant)
        assert answer.status_code == 200
        return answer.content.splitlines(keepends=True)

    async def rows(self, query: str, *args: Any, tenant: str = "acme") -> list[Mapping[str, Any]]:
        async with self.platform.database.read(GROUP, tenant) as connection:
            return [dict(row) for row in await connection.fetch(query, *args)]

    async def tamper(self, statement: str, tenant: str = "acme") -> None:
        """Run SQL as an attacker who owns the database but not the signing key."""
        connection = await asyncpg.connect(self.where.owner)
        try:
            await connection.execute("select set_config('suma.tenants', $1, false)", f"{{{tenant}}}")
            await connection.execute(statement)
        finally:
            await connection.close()


@asynccontextmanager
async def running_audit(where: Dsns, keys: Keys, data_dir: Path) -> AsyncIterator[RunningAudit]:
    points, clock = Points(), MovedClock()
    async with platform(where, keys=keys, data_dir=data_dir, point=points, clock=clock) as given:
        service = build(given)
        await prepare(given, [service])
        async with host(given, [service], pace=PACE) as running:
            yield RunningAudit(given, service, where, points, clock, running.problems)


def action(n: int = 1, **fields: Any) -> ActionRecorded:
    said: dict[str, Any] = {
        "action": "tool.execute",
        "phase": "decision",
        "verdict": "allow",
        "principal": "ada",
        "resource": f"call-{n}",
        "revision": "policy-1",
    }
    return ActionRecorded(**said | fields)
