"""The state that routes share: platform, store, streams, limits, and the lookup of the caller's session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request

from libs.errors import NotFound
from libs.identity import Principal
from libs.runtime.health import Health
from libs.runtime.platform import Platform
from services.gateway.admission import ConcurrencyLimiter, QueueLimiter, RateLimiter
from services.gateway.credentials import Credentials
from services.gateway.dead_letters import DeadLetters
from services.gateway.directory import Directory
from services.gateway.settings import Settings
from services.gateway.shutdown import GatewayShutdown
from services.gateway.sse.streams import Streams
from services.gateway.store import GROUP, Session, Store


class NoSuchSession(NotFound):
    """There is no such session; list your sessions."""


@dataclass
class Gateway:
    """The state of one app. The host of the process sets `problems` and `health`; until then there are no problems, and
    readiness checks on demand. `opening` returns the reasons why a valid key may still be unknown.
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
    credentials: Credentials = field(init=False)
    directory: Directory = field(init=False)

    def __post_init__(self) -> None:
        self.directory = Directory(self.platform.database)
        self.dead_letters = DeadLetters(self.platform.database)
        self.rate_limiter = RateLimiter(self.platform, self.settings)
        self.credentials = Credentials(self.platform, self.store, self.rate_limiter, self.opening)
        self.queue_limiter = QueueLimiter(self.platform, self.store, self.settings)
        self.concurrency = ConcurrencyLimiter(self.settings)
        self.drain = GatewayShutdown(self.concurrency, self.streams, self.settings)
        self.health = Health(self.platform, [GROUP])

    async def session(self, caller: Principal, session: str) -> Session:
        """Return the caller's session. Raises NotFound, also for another tenant's."""
        found = await self.store.session(caller.tenant, session)
        if found is None:
            raise NoSuchSession
        return found


async def _gateway(request: Request) -> Gateway:
    return cast("Gateway", request.app.state.gateway)


Here = Annotated[Gateway, Depends(_gateway)]
