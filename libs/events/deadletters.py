"""dlq.events: events that could not be handled, with the reason."""

from __future__ import annotations

from libs.events.base import Event, event
from libs.events.topics import DLQ_EVENTS
from libs.events.values import Body

LEASES = "leases"
"""Replaces the topic if leased work failed. The type is then the lease's kind, the original its input."""


@event("suma.event.dead_lettered.v1", DLQ_EVENTS)
class EventDeadLettered(Event):
    """A group failed to handle an event permanently. It can be corrected and replayed to that group alone."""

    group: str
    event_topic: str
    event_type: str
    event_id: str
    event_key: str
    code: str
    error: str
    attempts: int
    original: Body
    """The whole envelope as JSON."""
