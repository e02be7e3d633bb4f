"""The composition of the gateway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from fastapi import FastAPI

from libs.events.topics import DLQ_EVENTS, OUTBOUND
from libs.runtime import Api, Platform, Projection, Service, Shutdown
from libs.telemetry import metrics
from services.gateway.app import SURFACES, app
from services.gateway.context import rooms
from services.gateway.http.admission import CODES
from services.gateway.identity.local_key import ensure_local_key, local_code
from services.gateway.memory.erasure import Erasures
from services.gateway.schema import GROUP, SCHEMA
from services.gateway.settings import Settings
from services.gateway.shutdown import leave


def build(platform: Platform) -> Service:
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    _count_from_zero()
    owner = _OwnerKey(platform, settings)
    made = rooms(platform, settings, opening=owner.problems)
    sessions = made.sessions

    def problems() -> Sequence[str]:
        return [*owner.problems(), *sessions.open_turns.problems()]

    return Service(
        GROUP,
        kinds=[
            *made.files.uploads.kinds,
            *Erasures(platform).kinds,
            *(kind for surface in SURFACES for kind in surface.kinds(sessions)),
        ],
        projections=[Projection(OUTBOUND, sessions.streams.watch_projection), Projection(DLQ_EVENTS)],
        schema=SCHEMA,
        api=Api(app(made), settings.send_seconds),
        tasks=[
            sessions.streams.serve,
            made.identity.verification.serve,
            sessions.refusals.serve,
            owner.register,
            sessions.open_turns.measure,
            sessions.concurrency.measure,
            made.operators.samples.serve,
        ],
        problems=problems,
        started=made.operators.process.started,
    )


async def signin_link(service: Service, url: str, key: str) -> str:
    """Return a link that opens the web UI signed in as the owner of this key file, once, within a minute."""
    assert service.api is not None
    identity = cast("FastAPI", service.api.app).state.identity
    code = await local_code(identity.platform, key, seconds=identity.settings.signin_seconds)
    return f"{identity.settings.public_url or url}/?code={code}"


async def drain(service: Service, shutdown: Shutdown) -> None:
    """Drain the gateway: refuse new requests, end streams, and finish running requests within a time limit."""
    if service.api is not None:
        await leave(cast("FastAPI", service.api.app).state.sessions, shutdown)


class _OwnerKey:
    """Registration of the machine owner's key once the writer runs; until then the gateway is not ready."""

    def __init__(self, platform: Platform, settings: Settings) -> None:
        self._platform = platform
        self._key = settings.local_key

    async def register(self) -> None:
        if self._key is not None:
            await ensure_local_key(self._platform, self._key.get_secret_value())
            self._key = None

    def problems(self) -> Sequence[str]:
        return ["the owner's key is not registered yet; retry shortly"] if self._key is not None else []


def _count_from_zero() -> None:
    """Create the counters that alerts use at 0: Prometheus sees no increase in a counter that first appears at 1."""
    for code in CODES:
        metrics.refused.labels(code)
    for status in ("200", "500", "503"):
        metrics.responses.labels(status)
