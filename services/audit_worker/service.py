"""What the audit worker is."""

from __future__ import annotations

from libs.audit import CheckpointFile
from libs.events import ActionRecorded
from libs.runtime.platform import Platform
from libs.runtime.service import Api, Service, Subscription
from services.audit_worker import api
from services.audit_worker.handlers import recorded
from services.audit_worker.sealing import Sealer
from services.audit_worker.settings import Settings
from services.audit_worker.store import GROUP, SCHEMA, Store

LINGER_SECONDS = 0.02
"""Nobody waits for a link of the chain, and a turn has a dozen records: they share a transaction."""


def build(platform: Platform) -> Service:
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    store = Store(platform.database)
    outside = settings.checkpoints or platform.data_dir / "audit" / "checkpoints.jsonl"
    sealer = Sealer(platform, store, CheckpointFile(outside))
    return Service(
        GROUP,
        [Subscription(ActionRecorded, recorded, stubborn=True)],
        gathers=True,
        linger=LINGER_SECONDS,
        schema=SCHEMA,
        api=Api(api.build(platform, store, sealer), api.PORT),
        tasks=[lambda: sealer.keep_sealing(settings.look_seconds)],
        problems=lambda: [sealer.problem] if sealer.problem else [],
    )
