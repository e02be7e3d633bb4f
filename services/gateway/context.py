"""The state that routes share: platform, store, streams, limits, and the lookup of the caller's session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends
from fastapi.requests import HTTPConnection

from libs.errors import Denied, NotFound
from libs.identity import Principal
from libs.runtime import Health, Platform
from services.gateway.files.uploads import Uploads
from services.gateway.http.admission import ConcurrencyLimiter, QueueLimiter, RateLimiter
from services.gateway.http.refusals import RefusalLog
from services.gateway.identity.access import acts, sees
from services.gateway.identity.credentials import Credentials
from services.gateway.identity.directory import Directory
from services.gateway.identity.verification import Verification
from services.gateway.operators.dead_letters import DeadLetters
from services.gateway.operators.samples import Samples
from services.gateway.sessions.store import GROUP, Session, Store
from services.gateway.sessions.streams import Streams
from services.gateway.settings import Settings
from services.gateway.shutdown import GatewayShutdown
from services.gateway.surfaces.a2a.push import Webhooks


class NoSuchSession(NotFound):
    """There is no such session; list your sessions."""


class ReadOnly(Denied):
    """This session is another principal's, and you may only read it; ask for write access."""

    code = "SESSION_READ_ONLY"


@dataclass
class Gateway:
    """The state of one app. Until `started` there are no problems, and readiness checks on demand.

    `opening` returns the reasons why a valid key may still be unknown.
    """

    platform: Platform
    store: Store
    streams: Streams
    settings: Settings
    opening: Callable[[], Sequence[str]] = field(default=list, kw_only=True)
    dead_letters: DeadLetters = field(init=False)
    rate_limiter: RateLimiter = field(init=False)
    queue_limiter: QueueLimiter = field(init=False)
    concurrency: ConcurrencyLimiter = field(init=False)
    drain: GatewayShutdown = field(init=False)
    problems: Callable[[], Sequence[str]] = field(default=list)
    health: Health = field(init=False)
    samples: Samples = field(init=False)
    credentials: Credentials = field(init=False)
    refusals: RefusalLog = field(init=False)
    verification: Verification = field(init=False)
    directory: Directory = field(init=False)
    uploads: Uploads = field(init=False)
    webhooks: Webhooks = field(init=False)
    surfaces: dict[str, object] = field(default_factory=dict)
    """By class, what serves a protocol once it is used (`surfaces.loading`)."""

    def __post_init__(self) -> None:
        self.dead_letters = DeadLetters(self.platform.database)
        self.rate_limiter = RateLimiter(self.platform, self.settings)
        self.refusals = RefusalLog(self.platform)
        self.credentials = Credentials(
            self.platform,
            self.store,
            refusals=self.refusals,
            opening=self.opening,
            settings=self.settings,
        )
        self.directory = Directory(self.platform.database, changed=self.credentials.forget)
        self.verification = Verification(seconds=self.settings.verify_seconds)
        self.uploads = Uploads(self.platform, self.store, self.settings)
        self.webhooks = Webhooks(self.platform, self.streams, self.settings)
        self.queue_limiter = QueueLimiter(self.platform, self.store, self.settings)
        self.concurrency = ConcurrencyLimiter(self.settings)
        self.samples = Samples(self.platform)
        self.drain = GatewayShutdown(self.concurrency, self.streams, self.settings)
        self.health = Health(self.platform, [GROUP])

    def started(self, problems: Callable[[], Sequence[str]], health: Health) -> None:
        """Take what the host of the process knows, which `/readyz` reports."""
        self.problems, self.health = problems, health

    async def readable(self, caller: Principal, session: str) -> Session:
        """Return a session that the caller may read. Raises NotFound, also for one of others."""
        found = await self.store.session(caller.tenant, session)
        if found is None or not sees(caller, found.principal, found.shared):
            raise NoSuchSession
        return found

    async def writable(self, caller: Principal, session: str) -> Session:
        """Return a session that the caller may act in. Raises NotFound, and ReadOnly for one that it only reads."""
        found = await self.readable(caller, session)
        if not acts(caller, found.principal, found.shared):
            raise ReadOnly
        return found


@contextmanager
def seen_as(missing: type[NotFound]) -> Iterator[None]:
    """Report a hidden session as the object of it that the caller asked for, so that ids cannot be discovered."""
    try:
        yield
    except NoSuchSession:
        raise missing from None


async def _gateway(connection: HTTPConnection) -> Gateway:
    return cast("Gateway", connection.app.state.gateway)


Here = Annotated[Gateway, Depends(_gateway)]
