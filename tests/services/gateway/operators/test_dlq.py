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
from tests.services.gateway.operators.conftest import Closet, Operator

MEMORIES = "memory.events"


@pytest.mark.requirement("S3-32", "S3-49")
async def test_dead_letter_reports_event_group_time_error_and_turn(operator: Operator) -> None:
    said = await operator.say("told: no")
    (shown,) = await operator.letters(1)
    assert (shown["group"], shown["topic"], shown["code"]) == (
        "conversation_worker",
        "conversation.inbound",
        "REJECTED",
    )
    assert (shown["session_id"], shown["turn_id"]) == (said["session_id"], said["turn_id"])
    assert (shown["error"], shown["attempts"], shown["state"]) == ("it says so itself", 1, "open")
    read = (await operator.http.get(f"/v1/admin/dlq/{shown['letter_id']}")).json()
    assert read["original"]["data"]["text"] == "told: no"
    assert (read["original"]["headers"]["turnid"], read["principal"]) == (said["turn_id"], "owner")


@pytest.mark.requirement("A14")
async def test_a_dead_request_ends_the_turn_that_waits_for_it(operator: Operator) -> None:
    said = await operator.say("told: no")
    (shown,) = await operator.letters(1)
    await operator.gateway.seen(said["session_id"], lambda event: event.type == "turn.ended")
    (shown,) = await operator.list()
    assert (shown["turn_state"], shown["turn_reason"], shown["stale"]) == ("failed", "REJECTED", True)


async def test_leased_work_that_died_is_stale_and_can_be_discarded(operator: Operator) -> None:
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
    cause = Cause.request("committee_worker", id=ids.new(), tenant=operator.gateway.tenant, key="local:s")
    await operator.gateway.platform.writer.apply(Changeset(cause).emit(died))
    (shown,) = await operator.letters(1)
    assert (shown["topic"], shown["stale"]) == ("leases", True)
    assert (await operator.replay(shown["letter_id"]))["outcome"] == "stale"
    answer = await operator.http.post(f"/v1/admin/dlq/{shown['letter_id']}/discard", json={"reason": "mended"})
    assert answer.json()["outcome"] == "discarded"
    assert await operator.list() == []


@pytest.mark.requirement("A13")
async def test_hundred_poison_messages_are_replayed_after_repair(operator: Operator) -> None:
    for number in range(100):
        await operator.remember(f"bad {number}")
    await operator.say("good")
    await operator.letters(100)
    await operator.until_handled(1)
    assert not operator.gateway.running.failed.done()
    page = (await operator.http.get("/v1/admin/dlq", params={"limit": 1})).json()
    assert (len(page["letters"]), page["codes"]) == (1, {"REJECTED": 100})

    operator.worker.mended = True
    answer = (await operator.http.post("/v1/admin/dlq/replay", json={"topic": MEMORIES})).json()
    assert answer["replayed"] == 100
    await operator.until_handled(101)
    assert len(set(operator.worker.handled)) == 101
    assert await operator.list() == []


async def test_the_list_is_filtered(operator: Operator) -> None:
    first = await operator.say("bad one")
    await operator.remember("bad two")
    memory, message = await operator.letters(2)
    assert (memory["topic"], message["session_id"]) == (MEMORIES, first["session_id"])
    for asked in (
        {"topic": MEMORIES},
        {"type": "remember.requested"},
        {"type": "suma.remember.requested.v1"},
        {"since": memory["died_at"]},
    ):
        assert [letter["letter_id"] for letter in await operator.list(**asked)] == [memory["letter_id"]], asked
    for asked in ({"session": first["session_id"]}, {"until": memory["died_at"]}, {"before": memory["letter_id"]}):
        assert [letter["letter_id"] for letter in await operator.list(**asked)] == [message["letter_id"]], asked
    for asked in ({"code": "OTHER"}, {"group": "gateway"}, {"state": "replayed"}, {"before": "nonesuch"}):
        assert await operator.list(**asked) == [], asked


async def test_paging_continues_despite_new_dead_letters(operator: Operator) -> None:
    for number in range(5):
        await operator.remember(f"bad {number}")
    whole = [letter["letter_id"] for letter in await operator.letters(5)]
    page = (await operator.http.get("/v1/admin/dlq", params={"limit": 2})).json()
    await operator.remember("bad again")
    await operator.letters(6)
    seen = [letter["letter_id"] for letter in page["letters"]]
    while page["next"] is not None:
        page = (await operator.http.get("/v1/admin/dlq", params={"limit": 2, "before": page["next"]})).json()
        seen += [letter["letter_id"] for letter in page["letters"]]
    assert seen == whole


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": 501}, {"state": "lost"}, {"colour": "red"}, {"since": "x"}])
async def test_invalid_search_is_refused(operator: Operator, asked: dict[str, Any]) -> None:
    assert (await operator.http.get("/v1/admin/dlq", params=asked)).status_code == 422


@pytest.mark.requirement("A14", "P6")
async def test_replay_after_repair_succeeds_once(operator: Operator) -> None:
    await operator.remember("bad")
    (shown,) = await operator.letters(1)
    operator.worker.mended = True
    assert (await operator.replay(shown["letter_id"], reason="mended"))["outcome"] == "replayed"
    await operator.until_handled(1)
    again = await operator.replay(shown["letter_id"])
    assert (again["outcome"], again["state"], again["closed_by"]) == ("already", "replayed", "owner")
    assert operator.worker.handled == [shown["event_id"]]

    records = [record for record in await operator.gateway.audited("admin.dlq.write") if record["phase"] == "outcome"]
    assert [(r["principal"], r["verdict"]) for r in records] == [("owner", "replayed"), ("owner", "already")]
    assert {r["resource"] for r in records} == {f"dead_letter:{shown['letter_id']}"}
    assert list(records[0]["digests"]) == ["reason"]


@pytest.mark.requirement("A14")
async def test_a_replay_asked_for_often_at_once_happens_once(operator: Operator) -> None:
    await operator.remember("bad")
    (shown,) = await operator.letters(1)
    operator.worker.mended = True
    answers = await asyncio.gather(*(operator.replay(shown["letter_id"]) for _ in range(8)))
    assert sorted(answer["outcome"] for answer in answers) == ["already"] * 7 + ["replayed"]
    await operator.until_handled(1)
    assert operator.worker.handled == [shown["event_id"]]


@pytest.mark.requirement("A10", "A14")
async def test_dead_letter_bus_and_audit_change_in_one_transaction(operator: Operator) -> None:
    """One transaction has no state between them that a kill could leave."""
    await operator.remember("bad")
    (shown,) = await operator.letters(1)
    assert (await operator.replay(shown["letter_id"]))["outcome"] == "replayed"
    (letter,) = await operator.gateway.rows(
        "select xmin::text, closed_at from gateway.dlq_messages where state = 'replayed'"
    )
    said = """select xmin::text from bus.log where jsonb_path_exists(data, '$.**.verdict ? (@ == "replayed")')"""
    pool = await operator.gateway.platform.database.bus()
    assert await pool.fetchval(said) == letter["xmin"]
    assert letter["closed_at"] is not None


@pytest.mark.requirement("A14")
async def test_repeated_death_makes_another_letter(operator: Operator) -> None:
    await operator.remember("bad")
    (first,) = await operator.letters(1)
    await operator.replay(first["letter_id"])
    (second,) = await operator.letters(1)
    assert second["event_id"] == first["event_id"]
    assert second["letter_id"] != first["letter_id"]
    assert (await operator.replay(first["letter_id"]))["outcome"] == "already"
    assert [letter["state"] for letter in await operator.list(state="replayed")] == ["replayed"]


@pytest.mark.requirement("A14")
async def test_replay_for_an_ended_turn_is_stale(operator: Operator) -> None:
    said = await operator.say("told: no")
    (shown,) = await operator.letters(1)
    await operator.gateway.seen(said["session_id"], lambda event: event.type == "turn.ended")
    operator.worker.mended = True
    assert (await operator.replay(shown["letter_id"]))["outcome"] == "stale"
    many = (await operator.http.post("/v1/admin/dlq/replay", json={})).json()
    assert (many["replayed"], many["stale"], many["next"]) == (0, 1, None)
    await operator.say("afterwards", said["session_id"])
    await operator.until_handled(1)
    assert shown["event_id"] not in operator.worker.handled
    outcomes = [r["verdict"] for r in await operator.gateway.audited("admin.dlq.write") if r["phase"] == "outcome"]
    assert outcomes == ["stale", "stale"]
    assert len(await operator.list()) == 1


async def test_discard_needs_a_reason_and_prevents_replay(operator: Operator) -> None:
    await operator.remember("bad")
    (shown,) = await operator.letters(1)
    place = f"/v1/admin/dlq/{shown['letter_id']}"
    for body in ({}, {"reason": ""}, {"reason": "  "}):
        assert (await operator.http.post(f"{place}/discard", json=body)).status_code == 422
    gone = (await operator.http.post(f"{place}/discard", json={"reason": "spam"})).json()
    assert (gone["outcome"], gone["state"], gone["closed_by"]) == ("discarded", "discarded", "owner")
    refused = await operator.http.post(f"{place}/replay")
    assert (refused.status_code, refused.json()["code"]) == (409, "DEAD_LETTER_CLOSED")
    assert (await operator.http.post(f"{place}/discard", json={"reason": "spam"})).json()["outcome"] == "already"
    assert (await operator.list(state="discarded"))[0]["reason"] == "spam"
    states = await (await operator.gateway.platform.database.bus()).fetch(
        "select state from bus.inbox where id = $1 union all select state from bus.parked", shown["event_id"]
    )
    assert [row["state"] for row in states] == ["done"]


async def test_filtered_discard_is_bounded_per_call(operator: Operator) -> None:
    for number in range(5):
        await operator.remember(f"bad {number}")
    await operator.say("bad too")
    await operator.letters(6)
    wanted = {"type": "remember.requested", "limit": 3, "reason": "spam"}
    first = (await operator.http.post("/v1/admin/dlq/discard", json=wanted)).json()
    assert first["discarded"] == 3
    rest = (await operator.http.post("/v1/admin/dlq/discard", json={**wanted, "before": first["next"]})).json()
    assert (rest["discarded"], rest["next"]) == (2, None)
    assert [letter["topic"] for letter in await operator.letters(1)] == ["conversation.inbound"]
    assert (await operator.http.post("/v1/admin/dlq/discard", json={**wanted, "limit": 101})).status_code == 422


@pytest.mark.requirement("A20")
async def test_the_same_request_twice_is_answered_as_the_first_was(operator: Operator) -> None:
    for number in range(2):
        await operator.remember(f"bad {number}")
    await operator.letters(2)
    key = {"Idempotency-Key": ids.new()}
    answers = [await operator.http.post("/v1/admin/dlq/replay", json={"limit": 1}, headers=key) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert len(await operator.list(state="replayed")) == 1


@pytest.mark.requirement("A14", "P8")
async def test_another_tenants_admin_sees_nothing_and_touches_nothing(operator: Operator) -> None:
    await operator.remember("bad")
    (shown,) = await operator.letters(1)
    place = f"/v1/admin/dlq/{shown['letter_id']}"
    async with operator.gateway.client(await operator.gateway.key("admin", tenant="other")) as stranger:
        assert (await stranger.get("/v1/admin/dlq")).json()["letters"] == []
        assert (await stranger.get(place)).status_code == 404
        assert (await stranger.post(f"{place}/replay")).status_code == 404
        assert (await stranger.post(f"{place}/discard", json={"reason": "x"})).status_code == 404
        assert (await stranger.post("/v1/admin/dlq/replay", json={})).json()["replayed"] == 0
    assert (await operator.list())[0]["state"] == "open"


@pytest.mark.requirement("A9", "P4")
@pytest.mark.parametrize(
    ("scopes", "looks", "replays"),
    [(["admin"], 200, 200), (["admin.dlq.read"], 200, 403), (["admin.dlq.write"], 403, 200), (["chat"], 403, 403)],
)
async def test_reading_and_replaying_need_separate_scopes_and_are_recorded(
    operator: Operator, scopes: list[str], looks: int, replays: int
) -> None:
    await operator.remember("bad")
    (shown,) = await operator.letters(1)
    place = f"/v1/admin/dlq/{shown['letter_id']}"
    async with operator.gateway.client(await operator.gateway.key(*scopes)) as client:
        assert (await client.get(place)).status_code == looks
        assert (await client.post(f"{place}/replay")).status_code == replays
    for action, status in (("admin.dlq.read", looks), ("admin.dlq.write", replays)):
        mine = [
            r for r in await operator.gateway.audited(action) if (r["principal"], r["phase"]) == ("ada", "decision")
        ]
        assert [r["verdict"] for r in mine] == ["allow" if status == 200 else "deny"]


async def test_dead_letters_need_a_key(operator: Operator) -> None:
    async with operator.gateway.client("suma_no") as client:
        assert (await client.get("/v1/admin/dlq")).status_code == 401


@pytest.mark.requirement("A17b")
async def test_large_original_is_read_and_replayed_from_its_blob(operator: Operator, closet: Closet) -> None:
    text = "bad " + "€" * 75_000
    await operator.say(text)
    (shown,) = await operator.letters(1)
    read = (await operator.http.get(f"/v1/admin/dlq/{shown['letter_id']}")).json()
    assert read["original"]["data"]["text"] == text
    pool = await operator.gateway.platform.database.bus()
    assert await pool.fetchval("select max(octet_length(data::text)) from bus.log where topic = 'dlq.events'") < 2_000
    assert await pool.fetchval("select max(octet_length(data::text)) from bus.log") <= MAX_EVENT_BYTES
    operator.worker.mended = True
    assert (await operator.replay(shown["letter_id"]))["outcome"] == "replayed"
    await operator.until_handled(1)


async def test_a_letter_whose_original_is_lost_is_still_shown(operator: Operator, closet: Closet) -> None:
    await operator.say("bad " + "€" * 75_000)
    (shown,) = await operator.letters(1)
    (row,) = await operator.gateway.rows("select event ->> 'sha256' as name from gateway.dlq_messages")
    await closet.delete("local", row["name"])
    read = (await operator.http.get(f"/v1/admin/dlq/{shown['letter_id']}")).json()
    assert read["original"] is None
    assert "is unavailable" in read["problem"]


async def test_large_dead_letter_waits_for_an_unavailable_store(operator: Operator, closet: Closet) -> None:
    closet.away = True
    await operator.say("bad " + "€" * 75_000)
    pool = await operator.gateway.platform.database.bus()
    async with asyncio.timeout(60):
        while not await pool.fetchval("select count(*) from bus.parked where state = 'parked'"):
            await asyncio.sleep(0.02)
    closet.away = False
    await operator.later(61)
    await operator.letters(1)
