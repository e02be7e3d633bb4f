"""Push notifications: a lease for each webhook reads the task's events, which are durable, and posts each update.

The lease keeps the number of the last event that the webhook took, so a notification is delivered at least once,
whatever process dies. A webhook that fails is tried again with backoff. Each request is screened (libs.guards.urls),
timed, and signed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

import httpx

from libs.changes import Cause, Changeset
from libs.clients import check_reachable, outside
from libs.errors import SumaError, Unavailable
from libs.events import ActionRecorded
from libs.guards import UrlRefused, check_url
from libs.guards.urls import PORTS
from libs.leases import Lease, NewLease
from libs.runtime import Kind, Platform
from libs.telemetry import logger
from services.gateway.sessions.store import Numbered
from services.gateway.sessions.streams import Streams
from services.gateway.sessions.viewer import Pace, Viewer
from services.gateway.settings import Settings
from services.gateway.surfaces.a2a.paths import KEYS
from services.gateway.surfaces.a2a.rows import PushConfig
from services.gateway.surfaces.a2a.signing import signed
from services.gateway.surfaces.a2a.store import TaskStore

PUSH = "a2a_push"
MEDIA_TYPE = "application/a2a+json"
HOLD_SECONDS = 5.0
"""Seconds without an event after which a lease makes room for another one."""
REREAD_SECONDS = 1.0
"""Another process may project an event without a wake-up here."""
IDLE_SECONDS, BACKOFF_MOST, RETRY_SECONDS = 1.0, 3600.0, 60.0
PAGE = 100
ANSWER_BYTES_MOST = 64 * 1024
PUBLIC_PORTS = (443, 8443)

log = logger("gateway")


@dataclass(frozen=True, slots=True)
class Delivered:
    """The progress of a webhook: it took the events up to `after`, then so many attempts failed. `over`: there are no
    more.
    """

    after: int
    failures: int = 0
    over: bool = False


class Webhooks:
    """The leases that tell webhooks."""

    def __init__(self, platform: Platform, streams: Streams, settings: Settings) -> None:
        self._platform, self._streams, self._settings = platform, streams, settings
        self._store = TaskStore(platform.database)

    @property
    def kinds(self) -> Sequence[Kind[Any]]:
        room = self._settings.push_at_once
        return [Kind(PUSH, self._deliver, self._go_on, self._again, room, max(1, room // 4))]

    async def check(self, url: str) -> str:
        """Return the host of a webhook. Raises UrlRefused if it may not be called."""
        host, private = self._host(url)
        parts = urlsplit(url)
        await check_reachable(host, parts.port or PORTS[parts.scheme], private=private)
        return host

    def started(self, config: PushConfig, *, after: int) -> NewLease:
        """Return the lease that tells a webhook of everything after an event."""
        about = {"turn_id": config.turn_id, "config_id": config.config_id, "delivery": config.delivery}
        return NewLease(config.delivery, PUSH, {**about, "after": after, "failures": 0})

    def _host(self, url: str) -> tuple[str, bool]:
        """Return the host of a webhook, and whether it may be on this network. Raises UrlRefused."""
        with suppress(ValueError):
            parts = urlsplit(url)
            host, usual = parts.hostname or "", PORTS.get(parts.scheme)
            port = parts.port or usual
            allowed = {f"{host}:*", f"{host}:{port}", *([host] if port == usual else [])}
            if usual is not None and not allowed.isdisjoint(self._settings.push_hosts):
                return host, True
        target = check_url(url, ports=PUBLIC_PORTS)
        if target.scheme != "https":
            raise UrlRefused("url.scheme", "A webhook is called over https.")
        return target.host, False

    async def _deliver(self, lease: Lease) -> Delivered:
        """Post the updates that the webhook has not taken yet, and those that come soon."""
        done = Delivered(lease.input["after"], lease.input["failures"])
        config = await self._config(lease)
        if config is None:
            return Delivered(done.after, over=True)
        # The protocol's objects take half a second to import, which would hold up every other request.
        notifications = await asyncio.to_thread(import_module, "services.gateway.surfaces.a2a.notifications")
        turn = (await self._store.now(lease.tenant, config.principal, config.turn_id)).turn
        updates = notifications.Notifications(turn, base=config.base)
        async with aclosing(self._events(lease, config, done.after)) as events:
            async for event in events:
                for body in updates.of(event) if event.turn_id == config.turn_id else ():
                    if not lease.valid():
                        raise Unavailable("the lease may be another process's by now")
                    # Before each request: the address, or its principal's access, may be gone since the last one.
                    if await self._config(lease) is None:
                        return Delivered(done.after, over=True)
                    if not await self._taken(config, body):
                        return Delivered(done.after, done.failures + 1)
                # Per event, not per request: a crash between two requests of an event repeats the first.
                done = Delivered(event.seq, over=updates.over)
                if done.over:
                    return done
        # A process that stops may have read nothing.
        return Delivered(done.after, done.failures, over=turn.ended_at is not None and not self._streams.closed)

    async def _events(self, lease: Lease, config: PushConfig, after: int) -> AsyncGenerator[Numbered]:
        """Yield the session's events until none came for a while, or the process stops."""
        loop = asyncio.get_running_loop()
        with self._streams.watch(lease.tenant, config.session_id) as channel:
            viewer = Viewer(channel, self._streams, after=after, pace=Pace(PAGE, REREAD_SECONDS, HOLD_SECONDS))
            until = loop.time() + HOLD_SECONDS
            while not channel.closed and loop.time() < until:
                moved = channel.moved()
                async for event in viewer.caught_up():
                    yield event
                    until = loop.time() + HOLD_SECONDS
                with suppress(TimeoutError):
                    async with asyncio.timeout(REREAD_SECONDS):
                        await moved.wait()

    async def _config(self, lease: Lease) -> PushConfig | None:
        about = lease.input
        return await self._store.push_config_of(lease.tenant, about["turn_id"], about["config_id"], about["delivery"])

    async def _taken(self, config: PushConfig, body: bytes) -> bool:
        """Post a notification; return whether the webhook answered 2xx in time."""
        try:
            _, private = self._host(config.url)
            seconds = self._settings.push_seconds
            async with (
                asyncio.timeout(seconds),
                outside(private=private, seconds=seconds, most=ANSWER_BYTES_MOST) as client,
                client.stream("POST", config.url, content=body, headers=self._headers(config, body)) as answer,
            ):
                return answer.is_success
        except (UrlRefused, httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, TimeoutError) as error:
            log.warning("webhook failed", turn=config.turn_id, config=config.config_id, error=type(error).__name__)
            return False

    def _headers(self, config: PushConfig, body: bytes) -> dict[str, str]:
        """Return the headers of a notification. The signature is a JWS with detached content (RFC 7515, appendix F)."""
        about = {
            "jku": f"{config.base}{KEYS}",
            "aud": config.url,
            "iat": int(self._platform.clock.now().timestamp()),
        }
        protected, signature = signed(self._platform.keys, about, body)
        headers = {"Content-Type": MEDIA_TYPE, "X-A2A-Notification-Signature": f"{protected}..{signature}"}
        if config.token:
            headers["X-A2A-Notification-Token"] = config.token
        if config.scheme and config.credentials:
            headers["Authorization"] = f"{config.scheme} {config.credentials}"
        return headers

    async def _go_on(self, lease: Lease, done: Delivered) -> Changeset:
        """Record the webhook's progress, and continue later; give it up after too many failures."""
        changes = Changeset(Cause.of_lease(lease))
        if done.over:
            return changes
        if done.failures >= self._settings.push_attempts:
            config = await self._config(lease)
            given_up = ActionRecorded(
                action="webhook.call",
                phase="outcome",
                verdict="failed",
                principal=config.principal if config else "",
                resource=f"task:{lease.input['turn_id']}",
                turn_id=lease.input["turn_id"],
            )
            return changes.emit(given_up)
        delay = min(2.0**done.failures, BACKOFF_MOST) if done.failures else IDLE_SECONDS
        return changes.start(_next(lease, after=done.after, failures=done.failures, delay=delay))

    async def _again(self, lease: Lease, error: SumaError) -> Changeset:
        """Go on later: what is not delivered now must not be forgotten."""
        later = _next(lease, after=lease.input["after"], failures=lease.input["failures"], delay=RETRY_SECONDS)
        return Changeset(Cause.of_lease(lease)).start(later)


def _next(lease: Lease, *, after: int, failures: int, delay: float) -> NewLease:
    about = {name: lease.input[name] for name in ("turn_id", "config_id", "delivery")}
    return lease.successor({**about, "after": after, "failures": failures}, delay=delay)
