"""What the routes share: the platform, what is read, who watches, and who is asking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request

from libs.errors import NotFound
from libs.identity import Principal
from libs.runtime.health import Health
from libs.runtime.platform import Platform
from services.gateway.domain.refusals import Refusals
from services.gateway.draining import Drain
from services.gateway.letters import Letters
from services.gateway.limits import Crowd, Depths, Rates
from services.gateway.settings import Settings
from services.gateway.store import GROUP, Session, Store
from services.gateway.streams import Streams


class NoSuchSession(NotFound):
    """There is no such session."""


@dataclass
class Gateway:
    """One for each app. `problems` and `health` are told by whoever hosts the process; until then nobody has any, and
    readiness asks by itself. `opening` says why a good key may be unknown yet."""

    platform: Platform
    store: Store
    streams: Streams
    settings: Settings
    opening: Callable[[], Sequence[str]] = field(default=list, kw_only=True)
    letters: Letters = field(init=False)
    rates: Rates = field(init=False)
    depths: Depths = field(init=False)
    crowd: Crowd = field(init=False)
    drain: Drain = field(init=False)
    problems: Callable[[], Sequence[str]] = field(default=list)
    health: Health = field(init=False)
    refusals: Refusals = field(default_factory=Refusals)

    def __post_init__(self) -> None:
        self.letters = Letters(self.platform.database)
        self.rates = Rates(self.platform, self.settings)
        self.depths = Depths(self.platform, self.store, self.settings)
        self.crowd = Crowd(self.settings)
        self.drain = Drain(self.crowd, self.streams, self.settings)
        self.health = Health(self.platform, [GROUP])

    async def session(self, caller: Principal, session: str) -> Session:
        """The caller's session. Raises NotFound, also when it is another tenant's."""
        found = await self.store.session(caller.tenant, session)
        if found is None:
            raise NoSuchSession
        return found


async def _gateway(request: Request) -> Gateway:
    return cast("Gateway", request.app.state.gateway)


Here = Annotated[Gateway, Depends(_gateway)]
