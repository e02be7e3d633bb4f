"""The rows of webhooks: one class for each paragraph of `apply.sql`. Times are ISO 8601."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from libs.changes import Row
from services.gateway.schema import GROUP


@dataclass(frozen=True, slots=True)
class WebhookPut(Row):
    """A webhook of a task (A2A), which only its principal replaces."""

    into: ClassVar = (GROUP, "push.put")

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


@dataclass(frozen=True, slots=True)
class WebhookDropped(Row):
    """A webhook that its principal deletes."""

    into: ClassVar = (GROUP, "push.drop")

    turn_id: str
    config_id: str
    principal: str
