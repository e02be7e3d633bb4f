"""Limits: who is sent away before anything is done for them, and when they may come again.

By rate (a tenant's requests a minute, and a principal's), by depth (turns that are open already, in a session, of a
tenant, in all), and by what this process has in hand itself. Each refusal is a 429 with a `Retry-After` that rests on
what was counted. Nothing here guards data: a limit that cannot be asked is replaced by one that can, and work is
bounded behind it all the same (docs/operations/overload.md).
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from libs.cache import Limit, LocalWindows
from libs.errors import Crowded, Unavailable
from libs.identity import Principal
from libs.runtime.platform import Platform
from libs.telemetry import metrics
from services.gateway.settings import Settings
from services.gateway.store import GROUP, Store, Waiting

MINUTE = 60.0
WAIT_MOST = 60.0
LOOK_SECONDS, ANSWER_SECONDS, LATE_SECONDS = 1.0, 2.0, 0.25
COUNTED_SECONDS = 1.0
COUNTED_MOST = 10_000
WORKERS = ("conversation_worker", "committee_worker", "tool_executor")


class TooMany(Crowded):
    """There is no room for this now; `retry_after` is in seconds."""

    def __init__(self, code: str, message: str, *, wait: float) -> None:
        super().__init__(message, code=code)
        self.retry_after = min(max(wait, 1.0), WAIT_MOST)
        metrics.refused.labels(code).inc()


class Rates:
    """Requests a minute. Replicas share one count in Redis; while that is away each counts for itself."""

    def __init__(self, platform: Platform, settings: Settings) -> None:
        self._shared, self._own = platform.windows, LocalWindows()
        self._settings = settings

    async def admit(self, who: Principal) -> None:
        """Count a request. Raises `TooMany`."""
        each = self._settings.requests_per_minute_each
        limits = (
            Limit("TENANT_RATE_LIMITED", who.tenant, self._settings.requests_per_minute, MINUTE),
            Limit("RATE_LIMITED", who.tenant, each, MINUTE, whose=who.id),
        )
        try:
            reached = await self._shared.admit(limits)
        except Unavailable:
            reached = await self._own.admit(limits)
        if reached is not None:
            limit = reached.limit
            whose = "you have" if limit.whose else "your tenant has"
            raise TooMany(limit.code, f"{whose} made {limit.most} requests in a minute", wait=reached.wait)


class Depths:
    """Turns that are open. A tenant's are counted once a second and by what we let in since."""

    def __init__(self, platform: Platform, store: Store, settings: Settings) -> None:
        self._platform, self._store, self._settings = platform, store, settings
        self._tenants: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self.behind = 0
        """Records that our own projection has not shown yet."""
        self.backlog = 0
        """What waits for our workers, in all: records not read yet, and leases that nobody holds."""
        self._drained = 0.0

    async def admit(self, tenant: str, session: str) -> None:
        """Let one more message in. Raises `TooMany`."""
        self._overall()
        found = await self._store.waiting(tenant, session, most=self._settings.turns_open_most + 1)
        if found.session >= self._settings.turns_open_each_session:
            await self._refuse("SESSION_FULL", tenant, found, session)
        if self._grown(tenant, found.tenant) > self._settings.turns_open_most:
            await self._refuse("TENANT_FULL", tenant, found, None)

    async def look(self) -> None:
        """Count what waits in all, for ever."""
        while True:
            before = self.backlog
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    self.backlog = await self._waiting()
            except (Unavailable, TimeoutError):
                # What cannot be asked cannot be written either: the writer's own queue is the bound then.
                self.backlog = 0
            self._drained = max(0.0, (before - self.backlog) / LOOK_SECONDS)
            await asyncio.sleep(LOOK_SECONDS)

    def problems(self) -> Sequence[str]:
        return [f"bus: {self.behind} records behind"] if self.behind > self._settings.lag_most else []

    async def _waiting(self) -> int:
        lag = await self._platform.bus.lag([*WORKERS, GROUP])
        self.behind = sum(records for (group, _), records in lag.items() if group == GROUP)
        due = await self._platform.leases.backlog(most=self._settings.backlog_most + 1)
        return sum(lag.values()) - self.behind + due

    def _overall(self) -> None:
        over = self.backlog - self._settings.backlog_most
        if over > 0:
            wait = over / self._drained if self._drained else WAIT_MOST
            raise TooMany("BACKLOG_FULL", f"{self.backlog} pieces of work wait already", wait=wait)

    def _grown(self, tenant: str, counted: int) -> int:
        """How many are open with this one, as far as this process knows."""
        now = asyncio.get_running_loop().time()
        at, known = self._tenants.pop(tenant, (now, counted))
        if now - at > COUNTED_SECONDS:
            at, known = now, counted
        self._tenants[tenant] = at, known + 1
        if len(self._tenants) > COUNTED_MOST:
            self._tenants.popitem(last=False)
        return known + 1

    async def _refuse(self, code: str, tenant: str, found: Waiting, session: str | None) -> None:
        most = self._settings.turns_open_each_session if session else self._settings.turns_open_most
        over = (found.session if session else found.tenant) - most + 1
        ended = await self._store.ended_lately(tenant, session, seconds=MINUTE)
        wait = over * MINUTE / ended if ended else WAIT_MOST
        whose = "this session has" if session else "your tenant has"
        raise TooMany(code, f"{whose} {most} turns that are not over", wait=wait)


@dataclass(eq=False)
class Seat:
    """A request in hand."""

    tenant: str | None = None
    bytes: int = 0
    taken: bool = True


class Crowd:
    """The requests that this process has in hand, by tenant, with their bodies; streams have bounds of their own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._seats: set[Seat] = set()
        self._tenants: Counter[str] = Counter()
        self._bytes = 0
        self._lates = [0.0] * 3
        self._empty = asyncio.Event()
        self._empty.set()

    def enter(self, *, writes: bool) -> Seat:
        """Take a request in hand. Raises `TooMany`."""
        if len(self._seats) >= self._settings.requests_most:
            raise TooMany("PROCESS_BUSY", "this server has all the requests in hand that it can", wait=1.0)
        if writes and min(self._lates) > self._settings.late_most:
            raise TooMany("PROCESS_BUSY", "this server is slow with what it has in hand", wait=max(self._lates) * 2)
        seat = Seat()
        self._seats.add(seat)
        self._empty.clear()
        metrics.requests_in_hand.set(len(self._seats))
        return seat

    def belong(self, seat: Seat, tenant: str) -> None:
        """It is this tenant's. Raises `TooMany`: others shall find room too."""
        if seat.tenant is not None or not seat.taken:
            return
        if self._tenants[tenant] >= self._settings.requests_most_each:
            raise TooMany("TENANT_BUSY", "your tenant has all the requests in hand that it may have here", wait=1.0)
        seat.tenant = tenant
        self._tenants[tenant] += 1

    def carry(self, seat: Seat, size: int) -> None:
        """So much more of its body is in memory. Raises `TooMany`."""
        if self._bytes + size > self._settings.bodies_most:
            raise TooMany("PROCESS_BUSY", "this server has all the bodies in hand that it can", wait=1.0)
        seat.bytes += size
        self._bytes += size

    def leave(self, seat: Seat) -> None:
        """It is answered, or goes on as a stream."""
        if not seat.taken:
            return
        seat.taken = False
        self._seats.discard(seat)
        self._bytes -= seat.bytes
        if seat.tenant is not None:
            self._tenants[seat.tenant] -= 1
            if not self._tenants[seat.tenant]:
                del self._tenants[seat.tenant]
        metrics.requests_in_hand.set(len(self._seats))
        if not self._seats:
            self._empty.set()

    async def empty(self) -> None:
        """Until nothing is in hand."""
        await self._empty.wait()

    async def look(self) -> None:
        """Measure how late the event loop is, for ever. Late once is a hiccup; three times in a row is a load."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LATE_SECONDS
            await asyncio.sleep(LATE_SECONDS)
            late = max(0.0, loop.time() - due)
            self._lates = [*self._lates[1:], late]
            metrics.loop_lag.set(late)
