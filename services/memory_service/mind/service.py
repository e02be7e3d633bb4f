"""The composition of the mind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

from libs.resilience import GuardedCalls, Level
from libs.runtime import Health, Kind, Platform
from services.memory_service.mind import routes
from services.memory_service.mind.sleeping import Sleeping
from services.memory_service.mind.store import MindStore, RecentMinds
from services.memory_service.mind.writing import SLEEP, MindWriting
from services.memory_service.settings import Settings

EMBEDDER = "embedder"
"""The guard of calls to an embedder's server."""
SLEEPS_AT_ONCE = 2
"""A sleep compares vectors in the database that recalls also need."""


@dataclass(frozen=True)
class Minds:
    """Its parts for the service: reads for recall, the look of the handler, leases, and routes."""

    store: MindStore
    recent: RecentMinds
    writing: MindWriting
    sleeping: Sleeping

    guarded_calls: GuardedCalls

    def strain(self) -> Level:
        """Return how far the embedder's server is degraded; not at all if it is in this process."""
        return next((call.level() for call in self.guarded_calls if call.name == EMBEDDER), Level.NONE)

    def started(self, _: Callable[[], Sequence[str]], health: Health) -> None:
        """Let no sleep begin by itself while a dependency of the process is degraded."""
        self.sleeping.rests_while(lambda: health.level is not Level.NONE)

    @property
    def kinds(self) -> Sequence[Kind[Any]]:
        on = self.sleeping
        return (Kind(SLEEP, on.run, on.ended, on.failed, SLEEPS_AT_ONCE, 1),)

    def install(self, app: FastAPI) -> FastAPI:
        """Add the routes to the service's API."""
        routes.install(app, routes.MindContext(self.store, self.writing, self.sleeping))
        return app


def build(platform: Platform, settings: Settings) -> Minds:
    store = MindStore(platform.database)
    recent = RecentMinds(store, settings.mind_seconds)
    writing = MindWriting(platform.policy, platform.embedder, recent.changed)
    sleeping = Sleeping(store, writing, platform.embedder, platform.writer.apply, load_memories=settings.load_memories)
    return Minds(store, recent, writing, sleeping, platform.guarded_calls)
