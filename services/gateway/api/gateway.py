"""What the routes share: the platform, what is read, who watches, and who is asking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request

from libs.errors import NotFound
from libs.identity import Principal
from libs.runtime.platform import Platform
from services.gateway.domain.refusals import Refusals
from services.gateway.settings import Settings
from services.gateway.store import Session, Store
from services.gateway.streams import Streams


class NoSuchSession(NotFound):
    """There is no such session."""


@dataclass
class Gateway:
    """One for each app. `problems` is set by whoever hosts the process; until then nobody has any."""

    platform: Platform
    store: Store
    streams: Streams
    settings: Settings
    problems: Callable[[], Sequence[str]] = field(default=list)
    refusals: Refusals = field(default_factory=Refusals)

    async def session(self, caller: Principal, session: str) -> Session:
        """The caller's session. Raises NotFound, also when it is another tenant's."""
        found = await self.store.session(caller.tenant, session)
        if found is None:
            raise NoSuchSession
        return found


async def _gateway(request: Request) -> Gateway:
    return cast("Gateway", request.app.state.gateway)


Here = Annotated[Gateway, Depends(_gateway)]
