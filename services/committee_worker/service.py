"""What the committee worker is."""

from __future__ import annotations

from libs.events import PlanCancelRequested, PlanRequested, ReviewRequested
from libs.runtime.platform import Platform
from libs.runtime.service import Kind, Service, Subscription
from services.committee_worker.handlers import GROUP, PLAN, RESOLVE, REVIEW, Handlers
from services.committee_worker.settings import Settings


def build(platform: Platform) -> Service:
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    on = Handlers(platform, settings)
    room, each = settings.calls_at_once, settings.calls_at_once_per_tenant
    return Service(
        GROUP,
        [
            Subscription(PlanRequested, on.asked, on.never_heard),
            Subscription(ReviewRequested, on.shown, on.never_heard),
            Subscription(PlanCancelRequested, on.unwanted, urgent=True),
        ],
        [
            Kind(PLAN, on.plan, on.planned, on.failed, room, each),
            Kind(REVIEW, on.review, on.reviewed, on.failed, room, each),
            Kind(RESOLVE, on.resolve, on.resolved, on.failed, room, each),
        ],
    )
