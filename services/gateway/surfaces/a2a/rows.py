"""The rows of webhooks: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from libs.changes import Row, row
from services.gateway.schema import GROUP


@row(GROUP, "push.put")
class WebhookPut(Row):
    """A webhook of a task (A2A), which only its principal replaces."""

    turn_id: str
    config_id: str
    principal: str
    session_id: str
    url: str
    token: str
    scheme: str
    credentials: str
    base: str
    delivery: str
    credential: str
    oversees: bool


@row(GROUP, "push.drop")
class WebhookDropped(Row):
    """A webhook that its principal deletes."""

    turn_id: str
    config_id: str
    principal: str
