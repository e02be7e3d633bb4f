"""The projection of events, each once under repetition, and of dead letters."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from libs import ids
from libs.changes import Cause
from libs.errors import Conflict
from libs.events import EventDeadLettered, TurnStarted
from libs.events.values import Body
from tests.services.gateway.running import RunningGateway


@pytest.mark.requirement("A12")
async def test_a_second_delivery_changes_nothing(home: RunningGateway, http: httpx.AsyncClient) -> None:
    accepted = (await http.post("/v1/sessions/message", json={"text": "hello"})).json()
    session = accepted["session_id"]
    (record,) = (
        await home.worker_says(session, TurnStarted(turn_id=accepted["turn_id"], message_id=None, text="hello"))
    ).records
    await home.caught_up(session, 2)
    assert {await home.handled(record) for _ in range(50)} == {"seen"}

    assert (await http.get(f"/v1/sessions/{session}")).json()["last_seq"] == 2


@pytest.mark.requirement("S3-32", "S3-49")
async def test_a_dead_letter_is_kept_for_its_tenants_admins(home: RunningGateway) -> None:
    letter = EventDeadLettered(
        group="conversation_worker",
        event_topic="conversation.inbound",
        event_type="suma.message.received.v1",
        event_id=ids.new(),
        event_key="k",
        code="MALFORMED_EVENT",
        error="no such field",
        attempts=1,
        original=Body(json={"data": {"a": 1}}, size=9),
    )
    (record,) = (await home.worker_says("s", letter)).records
    for _ in range(2):
        await home.handled(record)

    (row,) = await home.rows("select topic, event::text, error, code from gateway.dlq_messages")
    assert (row["topic"], row["error"], row["code"]) == ("conversation.inbound", "no such field", "MALFORMED_EVENT")
    assert '"a": 1' in row["event"]
    assert await home.rows("select from gateway.dlq_messages", tenant=ids.new()) == []


async def test_event_of_a_missing_session_is_parked_alone(home: RunningGateway, http: httpx.AsyncClient) -> None:
    accepted = (await http.post("/v1/sessions/message", json={"text": "hello"})).json()
    started = TurnStarted(turn_id=accepted["turn_id"], message_id=None, text="hello")
    await home.worker_says("nobodys", started)
    await home.worker_says(accepted["session_id"], started)
    await home.caught_up(accepted["session_id"], 2)
    assert await home.rows("select from gateway.session_events where session_id = 'nobodys'") == []


async def test_another_tenants_event_for_a_session_writes_nothing_into_it(
    home: RunningGateway, http: httpx.AsyncClient
) -> None:
    """Both tenants may be visible in one transaction; the row's tenant decides."""
    session = (await http.post("/v1/sessions", json={})).json()["session_id"]
    stranger = replace(home, tenant=ids.new())
    await stranger.worker_says(session, TurnStarted(turn_id="t", message_id=None, text="forged"))
    await home.worker_says(session, TurnStarted(turn_id="t", message_id=None, text="true"))
    await home.caught_up(session, 1)

    page = (await http.get(f"/v1/sessions/{session}/events?stream=false")).json()
    assert [event["data"]["text"] for event in page["events"]] == ["true"]


@pytest.mark.requirement("P1")
async def test_event_that_the_log_lacks_is_projected_from_a_copy(home: RunningGateway, http: httpx.AsyncClient) -> None:
    """Kafka brings records of strangers, whose places in the log hold other events or none."""
    session = (await http.post("/v1/sessions", json={})).json()["session_id"]
    (record,) = (await home.worker_says(session, TurnStarted(turn_id="t", message_id=None, text="ours"))).records
    await home.caught_up(session, 1)
    foreign = replace(record, event_id=ids.new(), data=record.data.replace(b"ours", b"theirs"), known=None)
    cause, event = Cause.record("gateway", foreign), foreign.envelope()
    (handle,) = [s.handle for s in home.service.subscriptions if s.event.type == record.type]
    with pytest.raises(Conflict):
        await home.platform.writer.apply(await handle(cause, event))
    await home.platform.writer.apply(await handle(replace(cause, again=True), event))

    page = (await http.get(f"/v1/sessions/{session}/events?stream=false")).json()
    assert [event["data"]["text"] for event in page["events"]] == ["ours", "theirs"]
