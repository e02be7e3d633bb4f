"""Whatever is put on the bus, its death can be told: no report looks for more than there is, so no lane stops."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from libs import ids
from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.changes.batch import envelope, spoken
from libs.clock import SystemClock
from libs.database import Dsns
from libs.errors import Rejected
from libs.runtime.service import Subscription
from services import catalog
from tests.support.platform import build_platform

NOWHERE = Dsns("", "", "")
"""Reports load nothing."""
GARBAGE = [
    b"[]",
    b"null",
    b"7",
    b'"text"',
    b"{}",
    b'{"turn_id": {"a": 1}, "call_id": [], "round": "x", "request_id": null}',
]


def record(subscription: Subscription, data: bytes) -> Record:
    event = subscription.event
    return Record(event.topic.name, 0, 1, ids.new(), "t1", "t1:s", event.type, {}, data)


@pytest.mark.requirement("A13")
@pytest.mark.parametrize("data", GARBAGE, ids=repr)
@pytest.mark.parametrize("name", catalog.NAMES)
async def test_malformed_event_can_be_reported_as_a_dead_letter(name: str, data: bytes, tmp_path: Path) -> None:
    async with build_platform(NOWHERE, tmp_path, names=(name,)) as (_, (service,)):
        for subscription in service.subscriptions:
            dead = record(subscription, data)
            for headers in ({}, {"sessionid": "s", "turnid": "t"}):
                cause = Cause.record(name, replace(dead, headers=headers))
                told: Changeset = subscription.on_dead(cause, dead, Rejected("no"))
                for event in told.events:
                    spoken(envelope(cause, event, now=SystemClock().now(), traceparent=None), {})
