"""The composition of the audit worker."""

from __future__ import annotations

from libs.audit import CheckpointFile
from libs.events import ActionRecorded, ActionsRecorded
from libs.runtime import Api, Platform, Service, Subscription
from services.audit_worker import api
from services.audit_worker.handlers import chain_action, chain_actions
from services.audit_worker.sealing import Sealer
from services.audit_worker.settings import Settings
from services.audit_worker.store import GROUP, SCHEMA, Store

LINGER_SECONDS = 0.05
"""Delay before a batch commits. Links are not urgent and a turn has a dozen records, so they share a transaction."""


def build(platform: Platform) -> Service:
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    store = Store(platform.database)
    outside = settings.checkpoints or platform.data_dir / "audit" / "checkpoints.jsonl"
    sealer = Sealer(platform, store, CheckpointFile(outside))
    return Service(
        GROUP,
        [
            Subscription(ActionRecorded, chain_action, never_dead_letter=True),
            Subscription(ActionsRecorded, chain_actions, never_dead_letter=True),
        ],
        batch=True,
        batch_delay=LINGER_SECONDS,
        awaited=frozenset(),
        schema=SCHEMA,
        api=Api(api.build(platform, store, sealer)),
        tasks=[lambda: sealer.keep_sealing(settings.look_seconds)],
        problems=lambda: [*sealer.broken.values(), *([sealer.problem] if sealer.problem else [])],
    )
