"""The composition of the audit worker."""

from __future__ import annotations

from libs.audit import CheckpointFile
from libs.events.topics import AUDIT_EVENTS
from libs.runtime import Api, Platform, Projection, Service
from services.audit_worker import api
from services.audit_worker.sealing import Sealer
from services.audit_worker.settings import Settings
from services.audit_worker.store import GROUP, SCHEMA, Store


def build(platform: Platform) -> Service:
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    store = Store(platform.database)
    outside = settings.checkpoints or platform.data_dir / "audit" / "checkpoints.jsonl"
    sealer = Sealer(platform, store, CheckpointFile(outside))
    return Service(
        GROUP,
        projections=[Projection(AUDIT_EVENTS)],
        schema=SCHEMA,
        api=Api(api.build(platform, store, sealer)),
        tasks=[lambda: sealer.keep_sealing(settings.look_seconds)],
        problems=lambda: [*sealer.broken.values(), *([sealer.problem] if sealer.problem else [])],
    )
