"""The composition of the committee worker."""

from __future__ import annotations

from libs.events import PlanCancelRequested, PlanRequested
from libs.runtime import Kind, Platform, Service, Subscription
from services.committee_worker.handlers import GROUP, PLAN, RESOLVE, REVIEW, Handlers
from services.committee_worker.settings import Settings


def build(platform: Platform) -> Service:
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    handlers = Handlers(platform, settings)
    at_once, per_tenant = settings.calls_at_once, settings.calls_at_once_per_tenant
    return Service(
        GROUP,
        [
            Subscription(PlanRequested, handlers.plan_requested, handlers.dead_lettered, fuses=True),
            # Urgent: a cancel must not wait behind a request that is parked (bus.md 15).
            Subscription(PlanCancelRequested, handlers.cancel_requested, urgent=True, fuses=True),
        ],
        [
            Kind(PLAN, handlers.plan, handlers.planned, handlers.failed, at_once, per_tenant),
            Kind(REVIEW, handlers.review, handlers.reviewed, handlers.failed, at_once, per_tenant),
            Kind(RESOLVE, handlers.resolve, handlers.resolved, handlers.failed, at_once, per_tenant),
        ],
    )
