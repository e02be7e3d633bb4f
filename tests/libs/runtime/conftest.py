"""A service whose handler and leased work do what a test requires, in a real host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import pytest_asyncio

from libs import ids
from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.errors import SumaError
from libs.events import RememberRequested
from libs.events.envelope import Envelope
from libs.leases.ports import Lease, NewLease
from libs.runtime.host import Running, host
from libs.runtime.platform import Platform
from libs.runtime.service import Kind, Service, Subscription
from tests import infrastructure

GROUP = "memory_service"
WITHIN = 60.0


@dataclass
class Workshop:
    where: Dsns
    platform: Platform
    eye: asyncpg.Connection[asyncpg.Record]
    ended: list[str] = field(default_factory=list)
    """Ends of leases, in order: `id:done`, or `id:` and the error's code."""
    started: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    handled: list[str] = field(default_factory=list)
    on_event: Callable[[Envelope[RememberRequested]], Awaitable[None]] | None = None
    on_end: Callable[[str], Awaitable[None]] | None = None
    on_run: Callable[[Lease], Awaitable[None]] | None = None
    report_fails: bool = False
    fuses: bool = False
    after_death: bool = False
    room: int = 64
    attempts: int = 5

    def service(self) -> Service:
        subscription = Subscription(RememberRequested, self._handle, self._on_dead, fuses=self.fuses)
        kind = Kind("tool", self._run, self._finish, self._fail, room=self.room, attempts=self.attempts)
        return Service(GROUP, [subscription], [kind])

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Running]:
        async with host(
            self.platform, [self.service()], pace=infrastructure.PACE, after_death=self.after_death
        ) as running:
            yield running

    async def start(self, id: str = "", *, tenant: str = "t1", delay: float | None = None) -> str:
        lease = id or ids.new()
        await self.platform.writer.apply(self.request(tenant).start(NewLease(lease, "tool", {}, delay)))
        return lease

    async def say(self, text: str, key: str = "k", *, by: str = GROUP) -> str:
        event = RememberRequested(memory_id=text, kind="fact", text=text, user="u")
        cause = Cause.request(by, id=ids.new(), tenant="t1", key=f"t1:{key}")
        (record,) = (await self.platform.writer.apply(Changeset(cause).emit(event))).records
        return record.event_id

    def request(self, tenant: str = "t1") -> Changeset:
        return Changeset(Cause.request(GROUP, id=ids.new(), tenant=tenant, key=f"{tenant}:{ids.new()}"))

    async def until(self, so: Callable[[], bool]) -> None:
        async with asyncio.timeout(WITHIN):
            while not so():
                await asyncio.sleep(0.01)

    async def until_ended(self, count: int = 1) -> None:
        await self.until(lambda: len(self.ended) >= count)

    async def later(self, seconds: float) -> None:
        await infrastructure.shift(self.platform.database, seconds=seconds)

    async def _run(self, lease: Lease) -> str:
        self.started.set()
        if self.on_run is not None:
            await self.on_run(lease)
        return "done"

    async def _finish(self, lease: Lease, result: str) -> Changeset:
        if self.on_end is not None:
            await self.on_end(result)
        return Changeset(Cause.of_lease(lease)).on_commit(lambda: self.ended.append(f"{lease.id}:{result}"))

    async def _fail(self, lease: Lease, error: SumaError) -> Changeset:
        return Changeset(Cause.of_lease(lease)).on_commit(lambda: self.ended.append(f"{lease.id}:{error.code}"))

    async def _handle(self, cause: Cause, event: Envelope[RememberRequested]) -> Changeset:
        if self.on_event is not None:
            await self.on_event(event)
        return Changeset(cause).on_commit(lambda: self.handled.append(event.data.text))

    def _on_dead(self, cause: Cause, record: Record, error: SumaError) -> Changeset:
        if self.report_fails:
            raise KeyError("nobody to tell")
        return Changeset(cause)


@pytest_asyncio.fixture(loop_scope="session")
async def workshop(echo_where: Dsns) -> AsyncIterator[Workshop]:
    async with infrastructure.platform(echo_where) as platform:
        eye = await asyncpg.connect(echo_where.owner.replace("suma_owner", "postgres"))
        yield Workshop(echo_where, platform, eye)
        await eye.close()


def raising(error: BaseException) -> Callable[[Any], Awaitable[None]]:
    """Return a function that always raises this error."""

    async def fail(_: object) -> None:
        raise error

    return fail
