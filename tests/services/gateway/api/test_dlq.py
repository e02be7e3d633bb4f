"""Dead letters over HTTP: list, replay, discard, and required permissions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from libs import ids
from libs.changes import Cause, Changeset
from libs.events import EventDeadLettered
from libs.events.envelope import MAX_EVENT_BYTES
from libs.events.values import Body
from tests.services.gateway.api.conftest import Closet, Desk

MEMORIES = "memory.events"


@pytest.mark.requirement("S3-32", "S3-49")
async def test_dead_letter_reports_event_group_time_error_and_turn(desk: Desk) -> None:
    said = await desk.say("told: no")
    (shown,) = await desk.letters(1)
    assert (shown["group"], shown["topic"], shown["code"]) == (
        "conversation_worker",
        "conversation.inbound",
        "REJECTED",
    )
    assert (shown["session_id"], shown["turn_id"]) == (said["session_id"], said["turn_id"])
    assert (shown["error"], shown["attempts"], shown["state"]) == ("it says so itself", 1, "open")
    read = (await desk.http.get(f"/v1/admin/dlq/{shown['letter_id']}")).json()
    assert read["original"]["data"]["text"] == "told: no"
    assert (read["original"]["headers"]["turnid"], read["principal"]) == (said["turn_id"], "owner")


@pytest.mark.requirement("A14")
async def test_a_dead_request_ends_the_turn_that_waits_for_it(desk: Desk) -> None:
    said = await desk.say("told: no")
    (shown,) = await desk.letters(1)
    await desk.house.seen(said["session_id"], lambda event: event.type == "turn.ended")
    (shown,) = await desk.list()
    assert (shown["turn_state"], shown["turn_reason"], shown["stale"]) == ("failed", "REJECTED", True)


async def test_leased_work_that_died_is_stale_and_can_be_discarded(desk: Desk) -> None:
    died = EventDeadLettered(
        group="committee_worker",
        event_topic="leases",
        event_type="plan",
        event_id="x",
        event_key="local:s",
        code="PROCESS_DIED",
        error="The process died 3 times.",
        attempts=4,
        original=Body(json={"deliberation": {}}),
    )
    cause = Cause.request("committee_worker", id=ids.new(), tenant=desk.house.tenant, key="local:s")
    await desk.house.platform.writer.apply(Changeset(cause).emit(died))
    (shown,) = await desk.letters(1)
    assert (shown["topic"], shown["stale"]) == ("leases", True)
    assert (await desk.replay(shown["letter_id"]))["outcome"] == "stale"
    answer = await desk.http.post(f"/v1/admin/dlq/{shown['letter_id']}/discard", json={"reason": "mended"})
    assert answer.json()["outcome"] == "discarded"
    assert await desk.list() == []


@pytest.mark.requirement("A13")
async def test_hundred_poison_messages_are_replayed_after_repair(desk: Desk) -> None:
    for number in range(100):
        await desk.remember(f"bad {number}")
    await desk.say("good")
    await desk.letters(100)
    await desk.until_handled(1)
    assert not desk.house.running.failed.done()

    desk.worker.mended = True
    answer = (await desk.http.post("/v1/admin/dlq/replay", json={"topic": MEMORIES})).json()
    assert answer["replayed"] == 100
    await desk.until_handled(101)
    assert len(set(desk.worker.handled)) == 101
    assert await desk.list() == []


async def test_the_list_is_filtered(desk: Desk) -> None:
    first = await desk.say("bad one")
    await desk.remember("bad two")
    memory, message = await desk.letters(2)
    assert (memory["topic"], message["session_id"]) == (MEMORIES, first["session_id"])
    for asked in (
        {"topic": MEMORIES},
        {"type": "remember.requested"},
        {"type": "suma.remember.requested.v1"},
        {"since": memory["died_at"]},
    ):
        assert [letter["letter_id"] for letter in await desk.list(**asked)] == [memory["letter_id"]], asked
    for asked in ({"session": first["session_id"]}, {"until": memory["died_at"]}, {"before": memory["letter_id"]}):
        assert [letter["letter_id"] for letter in await desk.list(**asked)] == [message["letter_id"]], asked
    for asked in ({"code": "OTHER"}, {"group": "gateway"}, {"state": "replayed"}, {"before": "nonesuch"}):
        assert await desk.list(**asked) == [], asked


async def test_pages_go_on_where_they_stopped_whatever_dies_meanwhile(desk: Desk) -> None:
    for number in range(5):
        await desk.remember(f"bad {number}")
    whole = [letter["letter_id"] for letter in await desk.letters(5)]
    page = (await desk.http.get("/v1/admin/dlq", params={"limit": 2})).json()
    await desk.remember("bad again")
    await desk.letters(6)
    seen = [letter["letter_id"] for letter in page["letters"]]
    while page["next"] is not None:
        page = (await desk.http.get("/v1/admin/dlq", params={"limit": 2, "before": page["next"]})).json()
        seen += [letter["letter_id"] for letter in page["letters"]]
    assert seen == whole


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": 501}, {"state": "lost"}, {"colour": "red"}, {"since": "x"}])
async def test_a_search_that_makes_no_sense_is_refused(desk: Desk, asked: dict[str, Any]) -> None:
    assert (await desk.http.get("/v1/admin/dlq", params=asked)).status_code == 422


@pytest.mark.requirement("A14", "P6")
async def test_replay_after_repair_succeeds_once(desk: Desk) -> None:
    await desk.remember("bad")
    (shown,) = await desk.letters(1)
    desk.worker.mended = True
    assert (await desk.replay(shown["letter_id"], reason="mended"))["outcome"] == "replayed"
    await desk.until_handled(1)
    again = await desk.replay(shown["letter_id"])
    assert (again["outcome"], again["state"], again["closed_by"]) == ("already", "replayed", "owner")
    assert desk.worker.handled == [shown["event_id"]]

    records = [record for record in await desk.house.audited("admin.dlq.write") if record["phase"] == "outcome"]
    assert [(r["principal"], r["verdict"]) for r in records] == [("owner", "replayed"), ("owner", "already")]
    assert {r["resource"] for r in records} == {f"dead_letter:{shown['letter_id']}"}
    assert list(records[0]["digests"]) == ["reason"]


@pytest.mark.requirement("A14")
async def test_a_replay_asked_for_often_at_once_happens_once(desk: Desk) -> None:
    await desk.remember("bad")
    (shown,) = await desk.letters(1)
    desk.worker.mended = True
    answers = await asyncio.gather(*(desk.replay(shown["letter_id"]) for _ in range(8)))
    assert sorted(answer["outcome"] for answer in answers) == ["already"] * 7 + ["replayed"]
    await desk.until_handled(1)
    assert desk.worker.handled == [shown["event_id"]]


@pytest.mark.requirement("A10", "A14")
async def test_dead_letter_bus_and_audit_change_in_one_transaction(desk: Desk) -> None:
    """One transaction has no state between them that a kill could leave."""
    await desk.remember("bad")
    (shown,) = await desk.letters(1)
    assert (await desk.replay(shown["letter_id"]))["outcome"] == "replayed"
    (letter,) = await desk.house.rows("select xmin::text, closed_at from gateway.dlq_messages where state = 'replayed'")
    said = """select xmin::text from bus.log where jsonb_path_exists(data, '$.**.verdict ? (@ == "replayed")')"""
    pool = await desk.house.platform.database.bus()
    assert await pool.fetchval(said) == letter["xmin"]
    assert letter["closed_at"] is not None


@pytest.mark.requirement("A14")
async def test_what_dies_again_is_another_letter(desk: Desk) -> None:
    await desk.remember("bad")
    (first,) = await desk.letters(1)
    await desk.replay(first["letter_id"])
    (second,) = await desk.letters(1)
    assert second["event_id"] == first["event_id"]
    assert second["letter_id"] != first["letter_id"]
    assert (await desk.replay(first["letter_id"]))["outcome"] == "already"
    assert [letter["state"] for letter in await desk.list(state="replayed")] == ["replayed"]


@pytest.mark.requirement("A14")
async def test_replay_for_an_ended_turn_is_stale(desk: Desk) -> None:
    said = await desk.say("told: no")
    (shown,) = await desk.letters(1)
    await desk.house.seen(said["session_id"], lambda event: event.type == "turn.ended")
    desk.worker.mended = True
    assert (await desk.replay(shown["letter_id"]))["outcome"] == "stale"
    many = (await desk.http.post("/v1/admin/dlq/replay", json={})).json()
    assert (many["replayed"], many["stale"], many["next"]) == (0, 1, None)
    await desk.say("afterwards", said["session_id"])
    await desk.until_handled(1)
    assert shown["event_id"] not in desk.worker.handled
    outcomes = [r["verdict"] for r in await desk.house.audited("admin.dlq.write") if r["phase"] == "outcome"]
    assert outcomes == ["stale", "stale"]
    assert len(await desk.list()) == 1


async def test_discard_needs_a_reason_and_prevents_replay(desk: Desk) -> None:
    await desk.remember("bad")
    (shown,) = await desk.letters(1)
    place = f"/v1/admin/dlq/{shown['letter_id']}"
    for body in ({}, {"reason": ""}, {"reason": "  "}):
        assert (await desk.http.post(f"{place}/discard", json=body)).status_code == 422
    gone = (await desk.http.post(f"{place}/discard", json={"reason": "spam"})).json()
    assert (gone["outcome"], gone["state"], gone["closed_by"]) == ("discarded", "discarded", "owner")
    refused = await desk.http.post(f"{place}/replay")
    assert (refused.status_code, refused.json()["code"]) == (409, "DEAD_LETTER_CLOSED")
    assert (await desk.http.post(f"{place}/discard", json={"reason": "spam"})).json()["outcome"] == "already"
    assert (await desk.list(state="discarded"))[0]["reason"] == "spam"
    states = await (await desk.house.platform.database.bus()).fetch(
        "select state from bus.inbox where id = $1 union all select state from bus.parked", shown["event_id"]
    )
    assert [row["state"] for row in states] == ["done"]


async def test_filtered_discard_is_bounded_per_call(desk: Desk) -> None:
    for number in range(5):
        await desk.remember(f"bad {number}")
    await desk.say("bad too")
    await desk.letters(6)
    wanted = {"type": "remember.requested", "limit": 3, "reason": "spam"}
    first = (await desk.http.post("/v1/admin/dlq/discard", json=wanted)).json()
    assert first["discarded"] == 3
    rest = (await desk.http.post("/v1/admin/dlq/discard", json={**wanted, "before": first["next"]})).json()
    assert (rest["discarded"], rest["next"]) == (2, None)
    assert [letter["topic"] for letter in await desk.letters(1)] == ["conversation.inbound"]
    assert (await desk.http.post("/v1/admin/dlq/discard", json={**wanted, "limit": 101})).status_code == 422


@pytest.mark.requirement("A20")
async def test_the_same_request_twice_is_answered_as_the_first_was(desk: Desk) -> None:
    for number in range(2):
        await desk.remember(f"bad {number}")
    await desk.letters(2)
    key = {"Idempotency-Key": ids.new()}
    answers = [await desk.http.post("/v1/admin/dlq/replay", json={"limit": 1}, headers=key) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert len(await desk.list(state="replayed")) == 1


@pytest.mark.requirement("A14", "P8")
async def test_another_tenants_admin_sees_nothing_and_touches_nothing(desk: Desk) -> None:
    await desk.remember("bad")
    (shown,) = await desk.letters(1)
    place = f"/v1/admin/dlq/{shown['letter_id']}"
    async with desk.house.client(await desk.house.key("admin", tenant="other")) as stranger:
        assert (await stranger.get("/v1/admin/dlq")).json()["letters"] == []
        assert (await stranger.get(place)).status_code == 404
        assert (await stranger.post(f"{place}/replay")).status_code == 404
        assert (await stranger.post(f"{place}/discard", json={"reason": "x"})).status_code == 404
        assert (await stranger.post("/v1/admin/dlq/replay", json={})).json()["replayed"] == 0
    assert (await desk.list())[0]["state"] == "open"


@pytest.mark.requirement("A9", "P4")
@pytest.mark.parametrize(
    ("scopes", "looks", "replays"),
    [(["admin"], 200, 200), (["admin.dlq.read"], 200, 403), (["admin.dlq.write"], 403, 200), (["chat"], 403, 403)],
)
async def test_looking_and_replaying_are_policed_apart_and_recorded(
    desk: Desk, scopes: list[str], looks: int, replays: int
) -> None:
    await desk.remember("bad")
    (shown,) = await desk.letters(1)
    place = f"/v1/admin/dlq/{shown['letter_id']}"
    async with desk.house.client(await desk.house.key(*scopes)) as client:
        assert (await client.get(place)).status_code == looks
        assert (await client.post(f"{place}/replay")).status_code == replays
    for action, status in (("admin.dlq.read", looks), ("admin.dlq.write", replays)):
        mine = [r for r in await desk.house.audited(action) if (r["principal"], r["phase"]) == ("ada", "decision")]
        assert [r["verdict"] for r in mine] == ["allow" if status == 200 else "deny"]


async def test_nobody_looks_without_a_key(desk: Desk) -> None:
    async with desk.house.client("suma_no") as client:
        assert (await client.get("/v1/admin/dlq")).status_code == 401


@pytest.mark.requirement("A17b")
async def test_large_original_is_read_and_replayed_from_its_blob(desk: Desk, closet: Closet) -> None:
    text = "bad " + "€" * 75_000
    await desk.say(text)
    (shown,) = await desk.letters(1)
    read = (await desk.http.get(f"/v1/admin/dlq/{shown['letter_id']}")).json()
    assert read["original"]["data"]["text"] == text
    pool = await desk.house.platform.database.bus()
    assert await pool.fetchval("select max(octet_length(data::text)) from bus.log where topic = 'dlq.events'") < 2_000
    assert await pool.fetchval("select max(octet_length(data::text)) from bus.log") <= MAX_EVENT_BYTES
    desk.worker.mended = True
    assert (await desk.replay(shown["letter_id"]))["outcome"] == "replayed"
    await desk.until_handled(1)


async def test_a_letter_whose_original_is_lost_is_still_shown(desk: Desk, closet: Closet) -> None:
    await desk.say("bad " + "€" * 75_000)
    (shown,) = await desk.letters(1)
    (row,) = await desk.house.rows("select event ->> 'sha256' as name from gateway.dlq_messages")
    await closet.delete("local", row["name"])
    read = (await desk.http.get(f"/v1/admin/dlq/{shown['letter_id']}")).json()
    assert read["original"] is None
    assert "is unavailable" in read["problem"]


async def test_large_dead_letter_waits_for_an_unavailable_store(desk: Desk, closet: Closet) -> None:
    closet.away = True
    await desk.say("bad " + "€" * 75_000)
    pool = await desk.house.platform.database.bus()
    async with asyncio.timeout(60):
        while not await pool.fetchval("select count(*) from bus.parked where state = 'parked'"):
            await asyncio.sleep(0.02)
    closet.away = False
    await desk.later(61)
    await desk.letters(1)
