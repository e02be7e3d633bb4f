"""What the gateway is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from fastapi import FastAPI

from libs.events import EventDeadLettered, registry
from libs.events.topics import OUTBOUND
from libs.runtime.health import Health
from libs.runtime.leaving import Leaving
from libs.runtime.platform import Platform
from libs.runtime.service import Api, Service, Subscription
from services.gateway.api import app
from services.gateway.api.gateway import Gateway
from services.gateway.handlers import Handlers
from services.gateway.keys import ensure_local_key
from services.gateway.settings import Settings
from services.gateway.store import GROUP, SCHEMA, Store
from services.gateway.streams import Streams


def build(platform: Platform) -> Service:
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    store = Store(platform.database)
    streams = Streams(store, platform.deltas, most=settings.streams_most, each=settings.streams_most_each)
    on = Handlers(streams)
    owner = _Owner(platform, settings)
    gateway = Gateway(platform, store, streams, settings, opening=owner.problems)

    def problems() -> Sequence[str]:
        return [*owner.problems(), *gateway.depths.problems()]

    return Service(
        GROUP,
        [
            *(Subscription(event, on.said) for event in registry.values() if event.topic is OUTBOUND),
            Subscription(EventDeadLettered, on.dead, stubborn=True),
        ],
        gathers=True,
        schema=SCHEMA,
        api=Api(app(gateway), settings.port, internal=False),
        tasks=[streams.serve, owner.let_in, gateway.depths.look, gateway.crowd.look],
        problems=problems,
    )


def watch(service: Service, problems: Callable[[], Sequence[str]], health: Health | None = None) -> None:
    """Let `/readyz` of this gateway tell what the process that hosts it knows: `Running.problems`, `Running.health`."""
    if service.api is not None:
        gateway = cast("FastAPI", service.api.app).state.gateway
        gateway.problems, gateway.health = problems, health or gateway.health


async def drain(service: Service, leaving: Leaving) -> None:
    """Leave in order: nothing more is let in, streams end, and what is in hand is answered within a bound."""
    if service.api is not None:
        await cast("FastAPI", service.api.app).state.gateway.drain.leave(leaving)


class _Owner:
    """Registers the machine's own key once the writer runs; until then we are not ready."""

    def __init__(self, platform: Platform, settings: Settings) -> None:
        self._platform = platform
        self._key = settings.local_key

    async def let_in(self) -> None:
        if self._key is not None:
            await ensure_local_key(self._platform, self._key.get_secret_value())
            self._key = None

    def problems(self) -> Sequence[str]:
        return ["the owner's key is not registered yet"] if self._key is not None else []
