"""Limits on open turns: of a session, of a tenant, and in all, by the backlog of the workers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress

from libs.bus.relay import lag
from libs.errors import Unavailable
from libs.runtime import Platform
from services.gateway.http.admission import MINUTE, WAIT_MOST, TooMany
from services.gateway.schema import GROUP
from services.gateway.sessions.store import Store, Waiting
from services.gateway.settings import Settings

LOOK_SECONDS, ANSWER_SECONDS = 1.0, 2.0
IDLE_SECONDS = 10.0
"""The pause between two looks at the backlog while there is none and nothing is admitted here."""
COUNTED_SECONDS = 1.0
COUNTED_MOST = 10_000
LAG_MOST = 10_000
"""Unprojected records above which the gateway is not ready."""
WORKERS = ("conversation_worker", "committee_worker", "tool_executor")


class Estimates:
    """Counts that were read at most a second ago, each with what this process has added since."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def below(self, name: str, most: int, now: float) -> bool:
        """Return whether a count is known and below `most`."""
        at, count = self._counts.get(name, (float("-inf"), 0))
        return now - at <= COUNTED_SECONDS and count < most

    def known(self, name: str, read: int, now: float) -> int:
        """Return the count, and replace it by the one just read if it is too old."""
        at, count = self._counts.get(name, (float("-inf"), 0))
        if now - at <= COUNTED_SECONDS:
            return count
        self.put(name, read, now)
        return read

    def put(self, name: str, count: int, now: float) -> None:
        self._counts.pop(name, None)
        self._counts[name] = now, count
        if len(self._counts) > COUNTED_MOST:
            self._counts.popitem(last=False)

    def add(self, name: str) -> None:
        at, count = self._counts.get(name, (float("-inf"), 0))
        self._counts[name] = at, count + 1


class OpenTurns:
    """Limits on open turns. Counts are read once a second and increased by each message accepted since; a session's
    refusal rests on a count that was read for it.
    """

    def __init__(self, platform: Platform, store: Store, settings: Settings) -> None:
        self._platform, self._store, self._settings = platform, store, settings
        self._tenants = Estimates()
        self._sessions = Estimates()
        self.behind = 0
        """Records that this service has not projected yet."""
        self.backlog = 0
        """The workers' whole backlog: unread records and unheld leases."""
        self._drained = 0.0
        self._admitted = asyncio.Event()

    async def admit(self, tenant: str, session: str) -> None:
        """Admit one more message. Raises TooMany."""
        self._admitted.set()
        self._check_backlog()
        place, settings = f"{tenant}:{session}", self._settings
        now = asyncio.get_running_loop().time()
        if not (
            self._sessions.below(place, settings.turns_open_each_session, now)
            and self._tenants.below(tenant, settings.turns_open_most, now)
        ):
            found = await self._store.waiting(tenant, session, most=settings.turns_open_most + 1)
            if found.session >= settings.turns_open_each_session:
                await self._refuse("SESSION_FULL", tenant, found, session)
            self._sessions.put(place, found.session, now)
            if self._tenants.known(tenant, found.tenant, now) >= settings.turns_open_most:
                await self._refuse("TENANT_FULL", tenant, found, None)
        self._sessions.add(place)
        self._tenants.add(tenant)

    def opened(self, tenant: str, session: str) -> None:
        """Note a session that has no turn yet."""
        self._sessions.put(f"{tenant}:{session}", 0, asyncio.get_running_loop().time())

    async def measure(self) -> None:
        """Measure the whole backlog periodically, until cancelled."""
        while True:
            before = self.backlog
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    self.backlog = await self._waiting()
            except (Unavailable, TimeoutError):
                # A database that cannot be read cannot be written: the writer's own queue is the limit then.
                self.backlog = 0
            self._drained = max(0.0, (before - self.backlog) / LOOK_SECONDS)
            if not (self.backlog or self.behind):
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._admitted.wait(), IDLE_SECONDS)
            self._admitted.clear()
            await asyncio.sleep(LOOK_SECONDS)

    def problems(self) -> Sequence[str]:
        return [f"bus: the projection is {self.behind} records behind"] if self.behind > LAG_MOST else []

    async def _waiting(self) -> int:
        behind = await lag(self._platform.bus, self._platform.route, [*WORKERS, GROUP])
        self.behind = sum(records for (group, _), records in behind.items() if group == GROUP)
        due = await self._platform.leases.backlog(most=self._settings.backlog_most + 1)
        return sum(records for (group, _), records in behind.items() if group in WORKERS) + due

    def _check_backlog(self) -> None:
        over = self.backlog - self._settings.backlog_most
        if over > 0:
            wait = over / self._drained if self._drained else WAIT_MOST
            raise TooMany("BACKLOG_FULL", f"the platform has {self.backlog} waiting tasks; retry later", wait=wait)

    async def _refuse(self, code: str, tenant: str, found: Waiting, session: str | None) -> None:
        most = self._settings.turns_open_each_session if session else self._settings.turns_open_most
        over = (found.session if session else found.tenant) - most + 1
        ended = await self._store.ended_lately(tenant, session, seconds=MINUTE)
        wait = over * MINUTE / ended if ended else WAIT_MOST
        whose = "this session has" if session else "your tenant has"
        raise TooMany(code, f"{whose} {most} open turns; wait for some to end, or cancel them", wait=wait)
