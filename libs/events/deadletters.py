"""dlq.events: an event that could not be handled, with the reason."""

from __future__ import annotations

from libs.events.base import Event, event
from libs.events.topics import DLQ_EVENTS
from libs.events.values import Body


@event("suma.event.dead_lettered.v1", DLQ_EVENTS)
class EventDeadLettered(Event):
    """A group could not handle an event, ever; it can be mended and replayed to that group alone."""

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
