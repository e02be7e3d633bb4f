"""The declaration of the conversation worker: its subscriptions and kinds of lease."""

from __future__ import annotations

from functools import partial

from libs.events import (
    ApprovalDecided,
    EffectResolved,
    EraseRequested,
    MessageReceived,
    PlanApproved,
    PlanRejected,
    PlanUnclear,
    RollbackRequested,
    ToolDenied,
    ToolFailed,
    ToolSucceeded,
    ToolUnknown,
    TurnCancelRequested,
)
from libs.identity import proofs
from libs.runtime import Kind, Platform, Service, Subscription
from libs.telemetry import metrics
from services.conversation_worker.admission import Slots
from services.conversation_worker.handlers import Handlers
from services.conversation_worker.leases import QUEUED_AT_ONCE, QUEUED_EACH, SlotQueue, TurnLeases
from services.conversation_worker.settings import Settings
from services.conversation_worker.store import GROUP, SCHEMA, Store
from services.conversation_worker.turn.context import ANSWER, CLARIFICATION, CONTEXT, EXPIRY, LOST, TURN, TurnContext
from services.conversation_worker.turn.state import TurnState


def build(platform: Platform) -> Service:
    for state in filter(lambda state: state.has_ended, TurnState):
        # Prometheus sees no increase in a counter that first appears at 1, so create it at 0.
        metrics.turns.labels(state.value)
    settings = Settings.model_validate(platform.settings.get(GROUP, {}))
    slots = Slots(settings.turns_at_once, settings.turns_at_once_per_tenant)
    context = TurnContext(platform, settings, Store(platform.database, slots), slots)
    on = Handlers(context)
    proven = partial(proofs.proven, platform.keys)
    waits, queue = TurnLeases(context, on), SlotQueue(context, on)
    room, each = settings.models_at_once, settings.models_at_once_per_tenant
    return Service(
        GROUP,
        [
            Subscription(MessageReceived, proven(on.message), on.on_dead_request, fuses=True),
            # No report if an answer is dead: its question stays open until it expires.
            Subscription(ApprovalDecided, proven(on.approval), fuses=True),
            Subscription(EffectResolved, proven(on.effect), fuses=True),
            Subscription(TurnCancelRequested, proven(on.cancel), urgent=True, fuses=True),
            Subscription(RollbackRequested, proven(on.rollback), on.on_dead_request, fuses=True),
            Subscription(EraseRequested, proven(on.erase)),
            Subscription(PlanApproved, on.approved, on.on_dead_letter, fuses=True),
            Subscription(PlanRejected, on.rejected, on.on_dead_letter, fuses=True),
            Subscription(PlanUnclear, on.unclear, on.on_dead_letter, fuses=True),
            *(
                Subscription(event, on.result, on.on_dead_letter, fuses=True)
                for event in (ToolSucceeded, ToolFailed, ToolDenied, ToolUnknown)
            ),
        ],
        [
            Kind(TURN, queue.wait, queue.begin, queue.begin_without_slot, QUEUED_AT_ONCE, QUEUED_EACH),
            Kind(CONTEXT, waits.gather, waits.gathered, waits.failed, room, each),
            Kind(ANSWER, waits.write, waits.written, waits.failed, room, each),
            Kind(EXPIRY, waits.wait, waits.expired, waits.waiting_failed),
            Kind(CLARIFICATION, waits.wait, waits.unanswered, waits.waiting_failed),
            Kind(LOST, waits.wait, waits.lost, waits.waiting_failed),
        ],
        schema=SCHEMA,
    )
