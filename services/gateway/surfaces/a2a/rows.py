"""The rows of webhooks: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from dataclasses import field

from libs.changes import Row, row
from services.gateway.schema import GROUP


@row(GROUP, "push.put")
class PushConfig(Row):
    """A principal's webhook for a task's updates, which only it replaces. `base` is the gateway's address, as the
    principal knows it.
    """

    turn_id: str
    config_id: str
    principal: str
    session_id: str
    url: str
    token: str = field(repr=False)
    scheme: str
    credentials: str = field(repr=False)
    base: str
    delivery: str
    """The lease that tells it."""
    credential: str
    """The id of the key with which it was added; empty for a token of an outside issuer."""
    oversees: bool
    """Whether its principal sees the sessions of others without a share."""


@row(GROUP, "push.drop")
class WebhookDropped(Row):
    """A webhook that its principal deletes."""

    turn_id: str
    config_id: str
    principal: str
