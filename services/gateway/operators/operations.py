"""Operator views of the running platform: events waiting for policy (S3-41), the bus, recent metrics, settings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from libs.bus import ParkedCount, Waiting
from libs.bus.log import topic_sizes
from libs.bus.relay import lag
from libs.changes import Changeset, DeadLetterAction
from libs.errors import NotFound
from libs.events.topics import EVERYONE, TOPICS
from libs.policy import PolicyUnanswered
from libs.runtime import EffectiveSetting
from services.gateway.http import commands
from services.gateway.http.bodies import StrictRoute
from services.gateway.http.commands import CommandResult, IdempotencyKey, IdempotentRequest
from services.gateway.http.errors import raises
from services.gateway.http.models import Id
from services.gateway.identity.security import Authenticated
from services.gateway.operators.context import Here
from services.gateway.operators.models import (
    BusState,
    GroupState,
    LeaseState,
    MetricHistory,
    Requeued,
    RequeueList,
    Retried,
    SettingList,
    SettingShown,
    TopicState,
)
from services.gateway.operators.samples import EVERY_SECONDS

router = APIRouter(route_class=StrictRoute, tags=["admin"])

REQUEUE_READ, REQUEUE_WRITE, BUS_READ = "admin.requeue.read", "admin.requeue.write", "admin.bus.read"
METRICS_READ, SETTINGS_READ = "admin.metrics.read", "admin.settings.read"
"""About the whole process, so policy allows them only in the platform's own tenant."""


class NotWaiting(NotFound):
    """This event does not wait for policy; it may have been handled meanwhile."""


@router.get("/v1/admin/requeue")
async def waiting(here: Here, who: Authenticated, limit: Annotated[int, Query(ge=1, le=500)] = 100) -> RequeueList:
    """List events that wait because policy did not answer, longest waiting first. Each is retried automatically."""
    await commands.record_access(here, who, REQUEUE_READ)
    found = await here.platform.parked.waiting(who.tenant, PolicyUnanswered.code, most=limit)
    return RequeueList(waiting=[_requeued(event) for event in found], as_of=here.platform.clock.now())


@router.post("/v1/admin/requeue/{event_id}/retry", responses=raises(NotWaiting))
async def retry(
    request: Request, here: Here, who: Authenticated, event_id: Annotated[Id, Path()], key: IdempotencyKey = None
) -> Retried:
    """Ask policy again now instead of at the next retry."""

    async def decide() -> CommandResult:
        cause = commands.cause_of(who)
        record = await commands.permitted(here, cause, who, REQUEUE_WRITE)
        # One event may wait in several groups, and each asks policy on its own.
        code = PolicyUnanswered.code
        found = await here.platform.parked.waiting(who.tenant, code, event_id=event_id, most=len(EVERYONE))
        if not found:
            raise NotWaiting
        outcome = commands.outcome(who, REQUEUE_WRITE, "due", f"event:{event_id}")
        actions = [DeadLetterAction("retry", event.grp, event.event_id) for event in found]
        return CommandResult(
            Changeset(cause).emit(record, outcome).act_on_dead_letters(*actions),
            {"groups": [action.group for action in actions]},
        )

    receipt = await commands.write(here, who, IdempotentRequest.of(request, key, None), decide)
    return Retried(id=event_id, groups=receipt["groups"])


@router.get("/v1/admin/bus")
async def bus(here: Here, who: Authenticated) -> BusState:
    """Report each group's lag, its parked and dead events, your tenant's leases, and the retained log."""
    await commands.record_access(here, who, BUS_READ)
    behind = await lag(here.platform.bus, here.platform.route, EVERYONE)
    counts = await here.platform.parked.counts(who.tenant)
    leases = await here.platform.leases.counts(who.tenant)
    held = await topic_sizes(here.platform.database, TOPICS.values())
    places = sorted({*behind, *((s.group, s.topic) for s in counts)})
    return BusState(
        groups=[_state(place, behind.get(place), counts) for place in places],
        leases=[LeaseState.model_validate(kind) for kind in leases],
        topics=[
            TopicState(
                topic=of.topic,
                records=of.records,
                oldest_seconds=of.age,
                retention_seconds=TOPICS[of.topic].retention.total_seconds(),
            )
            for of in held
        ],
        as_of=here.platform.clock.now(),
    )


@router.get("/v1/admin/metrics")
async def measured(here: Here, who: Authenticated) -> MetricHistory:
    """Report the last hour of the gateway's process, one sample every 15 s, over all tenants.

    In the embedded profile that process runs everything. The samples end with the process. Only the platform's own
    tenant may read them. Prometheus scrapes `/metrics` of each process instead.
    """
    await commands.record_access(here, who, METRICS_READ)
    return MetricHistory(
        services=here.process.health.known()["services"],
        every_seconds=EVERY_SECONDS,
        samples=here.samples(),
        grafana_url=here.settings.grafana_url,
        as_of=here.platform.clock.now(),
    )


@router.get("/v1/admin/settings")
async def list_settings(here: Here, who: Authenticated) -> SettingList:
    """List every setting in force in the gateway's process, its source and its meaning; secrets only as set or not.

    A service that runs alone reads its own environment. Only the platform's own tenant may read them.
    """
    await commands.record_access(here, who, SETTINGS_READ)
    # The first call reads the descriptions from the sources, which takes 50 ms.
    found = await asyncio.to_thread(here.platform.effective_settings)
    return SettingList(settings=[_shown(setting) for setting in found], as_of=here.platform.clock.now())


def _shown(setting: EffectiveSetting) -> SettingShown:
    value = setting.value
    shown = None if setting.secret or value is None else value if isinstance(value, str) else json.dumps(value)
    return SettingShown(**{**asdict(setting), "value": shown}, set=setting.is_set)


def _state(place: tuple[str, str], lag: int | None, counts: Sequence[ParkedCount]) -> GroupState:
    by = {s.state: s for s in counts if (s.group, s.topic) == place}
    parked, dead = by.get("parked"), by.get("dead")
    return GroupState(
        group=place[0],
        topic=place[1],
        lag=lag,
        parked=parked.events if parked else 0,
        dead=dead.events if dead else 0,
        parked_since=parked.since if parked else None,
    )


def _requeued(event: Waiting) -> Requeued:
    return Requeued(
        id=event.event_id,
        group=event.grp,
        topic=event.topic,
        event_type=event.type,
        session_id=event.headers.get("sessionid"),
        turn_id=event.headers.get("turnid"),
        error=event.error,
        attempts=event.attempts,
        since=event.since,
        next_try=event.due_at,
    )
