"""Operator views of events waiting for policy and of the bus."""

from __future__ import annotations

import asyncio

import pytest

from tests.services.gateway.api.conftest import WITHIN, Desk


async def parked(desk: Desk, count: int) -> None:
    pool = await desk.house.platform.database.bus()
    async with asyncio.timeout(WITHIN):
        while await pool.fetchval("select count(*) from bus.parked where state = 'parked'") != count:
            await asyncio.sleep(0.02)


@pytest.mark.requirement("S3-41", "A8")
async def test_event_waiting_for_policy_is_listed_until_handled(desk: Desk) -> None:
    said = await desk.say("policy: hm")
    await parked(desk, 1)
    (waiting,) = (await desk.http.get("/v1/admin/requeue")).json()["waiting"]
    assert (waiting["group"], waiting["turn_id"]) == ("conversation_worker", said["turn_id"])
    assert waiting["error"].startswith("POLICY_UNAVAILABLE: ")
    (notice,) = desk.worker.board.notices.values()
    assert (notice.id, notice.tenant, notice.turn) == (waiting["id"], "local", said["turn_id"])

    desk.worker.mended = True
    await desk.later(61)
    await desk.until_handled(1)
    await parked(desk, 0)
    assert (await desk.http.get("/v1/admin/requeue")).json()["waiting"] == []
    async with asyncio.timeout(WITHIN):
        while desk.worker.board.notices:
            await asyncio.sleep(0.02)


async def test_requeue_omits_events_that_wait_for_other_reasons(desk: Desk) -> None:
    said = await desk.say("policy: hm")
    await parked(desk, 1)
    await desk.say("behind", said["session_id"])
    await parked(desk, 2)
    (waiting,) = (await desk.http.get("/v1/admin/requeue")).json()["waiting"]
    assert waiting["turn_id"] == said["turn_id"]


@pytest.mark.requirement("S3-41")
async def test_retry_is_immediate_and_recorded(desk: Desk) -> None:
    await desk.say("policy: hm")
    await parked(desk, 1)
    pool = await desk.house.platform.database.bus()
    await pool.execute("update bus.parked set due_at = bus.now() + interval '1 day'")
    (waiting,) = (await desk.http.get("/v1/admin/requeue")).json()["waiting"]
    desk.worker.mended = True
    retried = await desk.http.post(f"/v1/admin/requeue/{waiting['id']}/retry")
    assert retried.json() == {"id": waiting["id"], "groups": ["conversation_worker"]}
    await desk.until_handled(1)
    records = await desk.house.audited("admin.requeue.write")
    assert [(r["phase"], r["verdict"]) for r in records] == [("decision", "allow"), ("outcome", "due")]
    assert (await desk.http.post("/v1/admin/requeue/nonesuch/retry")).status_code == 404


@pytest.mark.requirement("P8")
async def test_another_tenant_sees_nothing_of_what_waits_and_hurries_nothing(desk: Desk) -> None:
    await desk.say("policy: hm")
    await parked(desk, 1)
    (waiting,) = (await desk.http.get("/v1/admin/requeue")).json()["waiting"]
    async with desk.house.client(await desk.house.key("admin", tenant="other")) as stranger:
        assert (await stranger.get("/v1/admin/requeue")).json()["waiting"] == []
        assert (await stranger.post(f"/v1/admin/requeue/{waiting['id']}/retry")).status_code == 404
        groups = (await stranger.get("/v1/admin/bus")).json()["groups"]
        assert {(group["parked"], group["dead"]) for group in groups} == {(0, 0)}


async def test_bus_reports_lag_and_parked_events(desk: Desk) -> None:
    await desk.remember("bad")
    await desk.say("policy: hm")
    await desk.letters(1)
    await parked(desk, 1)
    told = (await desk.http.get("/v1/admin/bus")).json()
    groups = {(group["group"], group["topic"]): group for group in told["groups"]}
    assert groups["conversation_worker", "memory.events"]["dead"] == 1
    inbound = groups["conversation_worker", "conversation.inbound"]
    assert (inbound["parked"], inbound["parked_since"] is not None, inbound["lag"] is not None) == (1, True, True)
    topics = {topic["topic"]: topic for topic in told["topics"]}
    assert topics["memory.events"]["records"] == 1
    assert topics["memory.events"]["oldest_seconds"] >= 0
    assert topics["tool.requests"]["oldest_seconds"] is None


@pytest.mark.requirement("A9")
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/admin/bus"), ("GET", "/v1/admin/requeue"), ("POST", "/v1/admin/requeue/x/retry")]
)
async def test_who_administers_nothing_is_refused(desk: Desk, method: str, path: str) -> None:
    async with desk.house.client(await desk.house.key("chat", "files:write")) as client:
        assert (await client.request(method, path)).status_code == 403
