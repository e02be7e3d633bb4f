"""The composition of the memory service."""

from __future__ import annotations

from libs.events import (
    FactsForgotten,
    FactStated,
    FeedbackGiven,
    MemoryEraseRequested,
    OutcomeRecorded,
    RememberRequested,
)
from libs.runtime import Api, Platform, Service, Subscription
from services.memory_service import api
from services.memory_service.api.routes import RouteContext
from services.memory_service.extracting import Extracting
from services.memory_service.handlers import Handlers
from services.memory_service.knowledge import Knowledge
from services.memory_service.known import RECENT_SECONDS, Knowing
from services.memory_service.mind import service as mind
from services.memory_service.recalling import Recalling
from services.memory_service.recent import Recent
from services.memory_service.settings import Settings
from services.memory_service.store import GROUP, SCHEMA, Store
from services.memory_service.upkeep import Upkeep
from services.memory_service.writing import Writing

BATCH_SECONDS = 0.05
"""No turn waits for a memory: the next one remembers its session by itself."""


def build(platform: Platform) -> Service:
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    store, embedder = Store(platform.database), platform.embedder
    recent = Recent(store.facts, RECENT_SECONDS)
    writing = Writing(platform.policy, embedder, recent.changed)
    minds = mind.build(platform, settings)
    extracting = Extracting(store, writing, after=settings.extract_after)
    handlers = Handlers(writing, minds.writing, minds.sleeping, extracting)
    upkeep = Upkeep(platform, store, index_from=settings.index_from)
    recalling = Recalling(
        store, embedder, minds.recent, noticed=upkeep.noticed, strain=minds.strain, clock=platform.clock
    )
    knowing = Knowing(store, recent, settings)
    knowledge = Knowledge(platform)
    context = RouteContext(platform, store, writing, recalling, settings)
    return Service(
        GROUP,
        [
            Subscription(RememberRequested, handlers.remember),
            Subscription(FactStated, handlers.state),
            Subscription(FactsForgotten, handlers.forget),
            Subscription(FeedbackGiven, handlers.feedback),
            Subscription(OutcomeRecorded, handlers.outcome),
            Subscription(MemoryEraseRequested, handlers.erase),
        ],
        batch=True,
        batch_delay=BATCH_SECONDS,
        schema=SCHEMA,
        tasks=[upkeep.run, minds.sleeping.watch],
        started=minds.started,
        kinds=[knowledge.kind, extracting.kind, *minds.kinds, *upkeep.kinds],
        api=Api(minds.install(api.build(context, knowledge))),
        queries={
            "recall": recalling.recall_near,
            "manner": minds.recent.manner,
            "known": knowing.known,
            "named": knowing.named,
            "knowledge": knowledge.fitting,
            "outcomes": store.outcomes,
        },
    )
