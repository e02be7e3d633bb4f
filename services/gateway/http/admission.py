"""Limits: requests refused before they cause work, and when clients may retry.

The limits are by rate (requests a minute, of a tenant and of a principal), by this process's own load, and by depth
(`sessions.open_turns`). Each refusal is a 429 with a `Retry-After` computed from the counts. No limit protects data. A
limit that is unavailable is replaced by another one, and later stages bound their work anyway
(docs/operations/overload.md).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from libs.cache import Limit, LimitState, LocalWindows
from libs.errors import Crowded, Unavailable
from libs.identity import Principal
from libs.runtime import Platform
from libs.telemetry import metrics
from services.gateway.settings import Settings

if TYPE_CHECKING:
    from libs.identity.signed_requests import Signed

MINUTE = 60.0
WAIT_MOST = 60.0
LATE_SECONDS = 0.25
CODES = (
    *("TENANT_RATE_LIMITED", "RATE_LIMITED", "ROUTE_RATE_LIMITED", "BACKLOG_FULL", "SESSION_FULL", "TENANT_FULL"),
    *("PROCESS_BUSY", "TENANT_BUSY", "TOO_MANY_STREAMS", "UPLOADS_FULL"),
)
"""Every code of a request that is refused before it causes work."""
POLICIES = {"TENANT_RATE_LIMITED": "tenant", "RATE_LIMITED": "principal", "ROUTE_RATE_LIMITED": "route"}
"""Names of the rate limits in the RateLimit headers."""
WHOSE = {
    "TENANT_RATE_LIMITED": "your tenant has",
    "RATE_LIMITED": "you have",
    "ROUTE_RATE_LIMITED": "your key has, on this route,",
}


class TooMany(Crowded):
    """The platform is at its limit; retry after `retry_after` seconds."""

    def __init__(self, code: str, message: str, *, wait: float, states: Sequence[LimitState] = ()) -> None:
        super().__init__(message, code=code)
        self.states = states
        self.retry_after = min(max(wait, 1.0), WAIT_MOST)
        metrics.refused.labels(code).inc()


@dataclass(frozen=True, slots=True)
class Identified:
    """The identity behind a request, and the credential that proved it."""

    who: Principal
    credential: Hashable
    signed: Signed | None
    """The request's signature; the body is still to be compared with it."""


class RateLimiter:
    """Limits on requests a minute. Replicas share one count in Redis; without Redis each counts alone."""

    def __init__(self, platform: Platform, settings: Settings) -> None:
        self._shared, self._local = platform.windows, LocalWindows()
        self._settings = settings

    async def admit(self, who: Principal, route: str) -> Sequence[LimitState]:
        """Count a request to a route, and return the states of its limits. Raises TooMany."""
        limits = self._limits(who, route)
        try:
            states = await self._shared.admit(limits)
        except Unavailable:
            # The total is then at most the limit times the replicas. No limit protects data, so that is acceptable.
            states = await self._local.admit(limits)
        for reached in states:
            if reached.wait:
                whose, most = WHOSE[reached.limit.code], reached.limit.most
                message = f"{whose} made {most} requests in a minute; retry later"
                raise TooMany(reached.limit.code, message, wait=reached.wait, states=states)
        return states

    def _limits(self, who: Principal, route: str) -> Sequence[Limit]:
        settings = self._settings
        of_route = settings.requests_per_minute_by_route.get(route, settings.requests_per_minute_route)
        return (
            Limit("TENANT_RATE_LIMITED", who.tenant, settings.requests_per_minute, MINUTE),
            Limit("RATE_LIMITED", who.tenant, settings.requests_per_minute_each, MINUTE, whose=f"of {who.id}"),
            # A key and the browsers that it signed in share a limit.
            Limit("ROUTE_RATE_LIMITED", who.tenant, of_route, MINUTE, whose=f"{_key(who)} at {route}"),
        )


def _key(who: Principal) -> str:
    """Return the key behind a credential: `web:` and `code:` name the key that signed in."""
    kind, _, id = who.credential.partition(":")
    return f"key {id}" if kind in ("key", "web", "code") else f"{kind} of {who.id}"


@dataclass(eq=False)
class Slot:
    """A tenant's request, with the bytes of its body in memory."""

    tenant: str
    bytes: int = 0
    sends_file: bool = False
    """Whether its body is an uploaded file, which is stored as it arrives."""
    keeps_body: bool = False
    """Whether its body stays in memory until the end of its response, since the protocol's SDK holds it."""


class ConcurrencyLimiter:
    """Limits on the requests that this process runs, by tenant, and on their bodies. Streams have separate limits, but
    the bodies that they keep count here.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.closed = False
        """Whether new requests are refused, since the process stops."""
        self._present: set[Slot] = set()
        """Requests with a valid key, from the first byte of their body until they are released."""
        self._slots: set[Slot] = set()
        self._tenants: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        """Body bytes by tenant."""
        self._lags = [0.0] * 3
        self._empty = asyncio.Event()
        self._empty.set()

    def arrive(self, slot: Slot) -> None:
        """Register a request whose body is still to come: a shutdown waits for it."""
        self._present.add(slot)
        self._empty.clear()

    def carry(self, slot: Slot, size: int) -> None:
        """Count bytes of an incoming body. Raises TooMany."""
        most = self._settings.bodies_most
        if self._bytes.total() + size > most:
            raise TooMany("PROCESS_BUSY", "this server is at its limit of request bytes; retry shortly", wait=1.0)
        # Half, so that one tenant alone cannot keep all others out.
        if self._bytes[slot.tenant] + size > most // 2:
            raise TooMany("TENANT_BUSY", "your tenant is at its limit of request bytes here; retry shortly", wait=1.0)
        slot.bytes += size
        self._bytes[slot.tenant] += size

    def enter(self, slot: Slot, *, writes: bool) -> None:
        """Start a request whose body is complete, or is a file. Raises TooMany."""
        if len(self._slots) >= self._settings.requests_most:
            raise TooMany("PROCESS_BUSY", "this server is at its request limit; retry shortly", wait=1.0)
        # Only writes: each leads to work of other services, while a read ends here.
        if writes and min(self._lags) > self._settings.late_most:
            raise TooMany("PROCESS_BUSY", "this server is overloaded; retry shortly", wait=max(self._lags) * 2)
        if self._tenants[slot.tenant] >= self._settings.requests_most_each:
            raise TooMany("TENANT_BUSY", "your tenant is at its request limit here; retry shortly", wait=1.0)
        if slot.sends_file:
            self._check_files(slot.tenant)
        self._slots.add(slot)
        self._tenants[slot.tenant] += 1
        metrics.requests_in_hand.set(len(self._slots))

    def _check_files(self, tenant: str) -> None:
        files = Counter(slot.tenant for slot in self._slots if slot.sends_file)
        most = self._settings.uploads_at_once
        if files.total() >= most:
            raise TooMany("PROCESS_BUSY", "this server is receiving as many files as it can; retry shortly", wait=2.0)
        if files[tenant] >= most // 2:
            raise TooMany("TENANT_BUSY", "your tenant is sending as many files here as it may; retry shortly", wait=2.0)

    def leave(self, slot: Slot) -> None:
        """Release a request that was answered or refused, and its body. Safe to repeat."""
        self._drop_body(slot)
        self.release(slot)

    def release(self, slot: Slot) -> None:
        """Release a request that continues as a stream, or waits under another limit. A body that it keeps still counts
        until it leaves. Safe to repeat.
        """
        if not slot.keeps_body:
            self._drop_body(slot)
        self._present.discard(slot)
        if slot in self._slots:
            self._slots.discard(slot)
            self._tenants -= Counter({slot.tenant: 1})
            metrics.requests_in_hand.set(len(self._slots))
        if not self._present:
            self._empty.set()

    def _drop_body(self, slot: Slot) -> None:
        self._bytes -= Counter({slot.tenant: slot.bytes})
        slot.bytes = 0

    async def empty(self) -> None:
        """Wait until no request is arriving or running."""
        await self._empty.wait()

    async def measure(self) -> None:
        """Measure the event loop's lag periodically, until cancelled. One lag is noise; three in a row are load."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LATE_SECONDS
            await asyncio.sleep(LATE_SECONDS)
            lag = max(0.0, loop.time() - due)
            self._lags = [*self._lags[1:], lag]
            metrics.loop_lag.set(lag)
