"""Events that cannot be handled: parked in order, retried, dead-lettered, reported, replayed."""

from __future__ import annotations

import asyncio

import pytest

from libs.bus.ports import OWNED_SECONDS
from libs.runtime.consumer import AGE_MOST_SECONDS
from tests.conformance.bus.conftest import Cluster
from tests.conformance.bus.listener import GROUP


async def dies(cluster: Cluster, event_id: str) -> None:
    """Advance time until the event is dead."""
    async with asyncio.timeout(20):
        while await cluster.state(event_id) != "dead":
            await cluster.later(61)
            await asyncio.sleep(0.05)


@pytest.mark.requirement("A13")
async def test_hundred_poison_messages_become_dead_letters_and_others_continue(cluster: Cluster) -> None:
    async with cluster.listening() as running:
        for number in range(100):
            await cluster.say(f"bad{number}", key=f"k{number % 7}", text="bad")
            if number % 10 == 0:
                await cluster.say(f"good{number}", key=f"k{number % 7}")
        await cluster.until_heard(10)
        await cluster.until("select count(*) = 100 from bus.inbox where grp = $1 and state = 'dead'", GROUP)
        assert not running.failed.done()
    assert await cluster.eye.fetchval("select count(*) from bus.log where topic = 'dlq.events'") == 100


@pytest.mark.requirement("A13")
async def test_an_event_that_kills_three_processes_is_a_dead_letter(cluster: Cluster) -> None:
    event = await cluster.say("deadly", text="die")
    await cluster.say("beside", key="other")
    for number in range(3):
        assert await cluster.child(f"doomed {number}").ended() == -9
        await cluster.later(OWNED_SECONDS + 1)
    cluster.child("survivor")
    await cluster.until("select count(*) = 1 from bus.inbox where grp = $1 and state = 'dead'", GROUP)
    await cluster.until_heard(1)
    letter = await cluster.eye.fetchval("select data::text from bus.log where topic = 'dlq.events'")
    assert event in letter
    assert '"PROCESS_DIED"' in letter
    assert "The process died 3 times while it handled suma.remember.requested.v1." in letter


@pytest.mark.requirement("A13")
async def test_data_that_fits_no_class_is_a_dead_letter(cluster: Cluster) -> None:
    event = await cluster.say("soon garbage")
    await cluster.eye.execute("""update bus.log set data = '["garbage"]', headers = '{}' where event_id = $1""", event)
    async with cluster.listening():
        await cluster.until("select count(*) = 1 from bus.log where topic = 'dlq.events'")
        await cluster.say("healthy")
        await cluster.until_heard(1)


@pytest.mark.requirement("A13")
@pytest.mark.parametrize(("text", "attempts"), [("crash", 10), ("fault", 2)])
async def test_crashing_handler_has_ten_attempts_and_faulty_code_two(
    cluster: Cluster, text: str, attempts: int
) -> None:
    async with cluster.listening() as running:
        event = await cluster.say("x", text=text)
        await cluster.say("elsewhere", key="other")
        await cluster.until_heard(1)
        await dies(cluster, event)
        assert not running.failed.done()
    letter = await cluster.eye.fetchval("select data from bus.log where topic = 'dlq.events'")
    assert '"HANDLER_CRASHED"' in letter
    assert f'"attempts": {attempts}' in letter


@pytest.mark.requirement("A13", "A14")
async def test_dead_letter_and_failure_report_share_a_transaction(cluster: Cluster) -> None:
    async with cluster.listening():
        event = await cluster.say("turn-7", text="bad")
        await cluster.until("select count(*) = 1 from bus.inbox where id = $1 and state = 'dead'", event)
    told = await cluster.eye.fetchval("select data ->> 'turn_id' from bus.log where type = 'suma.turn.ended.v1'")
    assert told == "turn-7"
    same = await cluster.eye.fetchval(
        "select count(distinct xmin::text) from (select xmin from bus.log where headers ->> 'causationid' = $1"
        " union all select xmin from bus.inbox where id = $1) as written",
        event,
    )
    assert same == 1


@pytest.mark.requirement("A13")
async def test_events_of_a_parked_key_wait_while_others_pass(cluster: Cluster) -> None:
    async with cluster.listening():
        await cluster.say("1", text="needs:bread")
        await cluster.until("select count(*) = 1 from bus.parked")
        for number in ("2", "3", "4"):
            await cluster.say(number)
        await cluster.say("other", key="other")
        await cluster.until("select count(*) = 4 from bus.parked")
        await cluster.until_heard(1)
        assert await cluster.heard() == []
        await cluster.mend("bread")
        await cluster.later(61)
        await cluster.until_heard(5)
    assert await cluster.heard() == ["1", "2", "3", "4"]
    assert await cluster.eye.fetchval("select count(*) from bus.parked") == 0


async def test_an_urgent_event_passes_the_parked_ones_of_its_key(cluster: Cluster) -> None:
    async with cluster.listening():
        await cluster.say("1", text="needs:bread")
        await cluster.until("select count(*) = 1 from bus.parked")
        await cluster.urge("cancel")
        await cluster.until_heard(1)
        assert await cluster.heard() == ["cancel"]


async def test_a_parked_key_stays_parked_through_a_change_of_members(cluster: Cluster) -> None:
    async with cluster.listening():
        await cluster.say("1", text="needs:bread")
        await cluster.until("select count(*) = 1 from bus.parked")
    async with cluster.listening():
        await cluster.say("2")
        await cluster.until("select count(*) = 2 from bus.parked")
        await cluster.mend("bread")
        await cluster.later(61)
        await cluster.until_heard(2)
    assert await cluster.heard() == ["1", "2"]


async def test_the_pause_between_tries_grows(cluster: Cluster) -> None:
    async with cluster.listening():
        event = await cluster.say("1", text="needs:bread")
        pauses: list[float] = []
        for attempts in range(2, 7):
            await cluster.later(61)
            await cluster.until(
                "select count(*) = 1 from bus.parked where attempts = $1 and error <> '' and due_at <"
                " bus.now() + interval '29 s'",
                attempts,
            )
            pause = "select extract(epoch from due_at - bus.now())::float8 from bus.parked where event_id = $1"
            pauses.append(await cluster.eye.fetchval(pause, event))
    assert pauses[-1] > 4 * pauses[0]


async def test_long_outage_kills_no_event_parked_behind_another(cluster: Cluster) -> None:
    async with cluster.listening():
        head = await cluster.say("1", text="needs:bread")
        await cluster.until("select count(*) = 1 from bus.parked")
        behind = await cluster.say("2", text="needs:butter")
        await cluster.until("select count(*) = 2 from bus.parked")
        await cluster.later(AGE_MOST_SECONDS + 60)
        await dies(cluster, head)
        await cluster.until("select attempts > 0 from bus.parked where event_id = $1", behind)
        assert await cluster.state(behind) == "parked"
        await cluster.mend("butter")
        await cluster.later(61)
        await cluster.until_heard(1)
    assert await cluster.heard() == ["2"]


@pytest.mark.requirement("A14")
async def test_replayed_dead_letter_is_handled_after_a_fix(cluster: Cluster) -> None:
    async with cluster.listening():
        event = await cluster.say("1", text="needs:bread")
        await dies(cluster, event)
        await cluster.say("2")
        await cluster.until_heard(1)
        await cluster.mend("bread")
        assert await cluster.replay(event)
        await cluster.until_heard(2)
        assert not await cluster.replay(event)
    assert await cluster.heard() == ["2", "1"]
    assert await cluster.state(event) == "done"


@pytest.mark.requirement("A14")
async def test_a_replay_asked_for_twice_at_once_happens_once(cluster: Cluster) -> None:
    async with cluster.listening():
        event = await cluster.say("1", text="bad")
        await cluster.until("select count(*) = 1 from bus.inbox where state = 'dead'")
    asked = await asyncio.gather(*(cluster.replay(event) for _ in range(5)))
    assert sorted(asked) == [False] * 4 + [True]


@pytest.mark.requirement("A14")
async def test_another_tenant_cannot_replay_a_dead_letter(cluster: Cluster) -> None:
    async with cluster.listening():
        event = await cluster.say("1", text="bad")
        await cluster.until("select count(*) = 1 from bus.inbox where state = 'dead'")
    assert not await cluster.replay(event, tenant="t2")
    assert await cluster.state(event) == "dead"


@pytest.mark.requirement("A14")
async def test_a_replayed_event_that_still_fails_is_dead_again(cluster: Cluster) -> None:
    async with cluster.listening():
        event = await cluster.say("1", text="bad")
        await cluster.until("select count(*) = 1 from bus.inbox where state = 'dead'")
        assert await cluster.replay(event)
        await cluster.until("select count(*) = 2 from bus.log where topic = 'dlq.events'")
    assert await cluster.state(event) == "dead"
    assert await cluster.eye.fetchval("select count(*) from bus.parked where state = 'dead'") == 1
