"""SIGKILL around the replay of a dead letter, on both buses: whatever was lost, a second replay finds it handled once,
closed once and audited once (A14)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
import pytest_asyncio

from libs import ids
from libs.bus.kafka import Address
from libs.database import Dsns
from libs.identity.keys import mint
from libs.runtime.host import host, prepare
from services.gateway.identity.local_key import ensure_local_key
from tests import infrastructure
from tests.chaos.driver import DENSE, DOOMED, Faults, catalogue, die, time_flies, until_over
from tests.chaos.replay_scenario import ONCE, ReplayScenario
from tests.infrastructure import buses

REPLAY, HANDLED = 1, 2
"""Which commits are the replay's, and that of the event that it brought back."""
POINTS = [
    ("writer:commit:before", REPLAY),
    ("writer:commit:after", REPLAY),
    ("conversation_worker:parked:before", 1),
    ("conversation_worker:suma.message.received.v1:before", 1),
    ("conversation_worker:suma.message.received.v1:after", 1),
    ("writer:commit:before", HANDLED),
    ("writer:commit:after", HANDLED),
    ("reader:flush:before", 1),
]
KAFKA_POINTS = [
    *((f"writer:commit:{side}", commit) for commit in (REPLAY, HANDLED) for side in ("before", "after")),
    ("relay:send:before", 1),
    ("relay:send:after", 1),
]
ON_BOTH = [*(("postgres", *at) for at in POINTS), *(("kafka", *at) for at in KAFKA_POINTS)]
SAID = """
select count(*) filter (where type = 'suma.turn.ended.v1') as handled,
    count(*) filter (where type = 'suma.event.dead_lettered.v1') as died,
    count(*) filter (where jsonb_path_exists(data, '$.**.verdict ? (@ == "replayed")')) as replayed,
    count(*) filter (where jsonb_path_exists(data, '$.**.verdict ? (@ == "already")')) as already
from bus.log
"""
LETTER = "select letter_id, state, closed_by from gateway.dlq_messages"
SHOWN = "select count(*) from gateway.session_events where event_type = 'suma.turn.ended.v1'"


@pytest.fixture
def address(request: pytest.FixtureRequest) -> Address | None:
    """Topics of the test's own on a real Kafka, where that is the bus."""
    if getattr(request, "param", "postgres") == "postgres":
        return None
    return Address(request.getfixturevalue("broker").bootstrap, prefix=f"{ids.new()}.")


@pytest_asyncio.fixture(loop_scope="session")
async def frail(address: Address | None, tmp_path: Path) -> AsyncIterator[ReplayScenario]:
    yield ReplayScenario(tmp_path, mint("local", "owner", scopes=["*"])[0], address)
    if address is not None:
        await buses.forget(address)


@pytest_asyncio.fixture(loop_scope="session")
async def mended(frail: ReplayScenario, where: Dsns) -> ReplayScenario:
    """A message was accepted, and is a dead letter; what refused it is mended now."""
    async with frail.alone(where, "first") as (platform, services):
        await prepare(platform, services)
        async with host(platform, services, pace=infrastructure.PACE), frail.client(services[0]) as http:
            await ensure_local_key(platform, frail.owner)
            (await http.post("/v1/sessions/message", json={"text": "hello"})).raise_for_status()
            await until_over(where, services)
    return frail.mended(str((await one(where, LETTER))["letter_id"]))


@asynccontextmanager
async def revived(scenario: ReplayScenario, where: Dsns) -> AsyncIterator[httpx.AsyncClient]:
    """Another process goes on after the dead one; at the end all is over."""
    async with scenario.alone(where, ids.new()) as (platform, services):
        await platform.leases.free([DOOMED])
        async with (
            host(platform, services, pace=infrastructure.PACE),
            time_flies(platform),
            scenario.client(services[0]) as http,
        ):
            yield http
            await until_over(where, services)


async def one(where: Dsns, query: str) -> Any:
    eye = await asyncpg.connect(where.owner.replace("suma_owner", "postgres"))
    try:
        return await eye.fetchrow(query)
    finally:
        await eye.close()


async def handled_closed_and_audited_once(where: Dsns) -> None:
    said, letter = await one(where, SAID), await one(where, LETTER)
    assert dict(said) == {"handled": 1, "died": 1, "replayed": 1, "already": 1}
    assert (letter["state"], letter["closed_by"]) == ("replayed", "owner")
    assert (await one(where, SHOWN))[0] == 1
    assert (await one(where, DENSE))[0]


@pytest.mark.requirement("A14", "A10", "A11", "P1", "P2")
@pytest.mark.parametrize(("address", "point", "hit"), ON_BOTH, indirect=["address"])
async def test_replay_repeated_after_a_kill_happens_once(
    mended: ReplayScenario, where: Dsns, point: str, hit: int
) -> None:
    await die(mended, where, "", point, hit)
    async with revived(mended, where) as http:
        assert [await mended.replay(http, key) for key in (ONCE, "another")] == ["replayed", "already"]
    await handled_closed_and_audited_once(where)


@pytest.mark.requirement("A14", "P1")
async def test_acknowledged_replay_survives_a_kill_without_a_retry(mended: ReplayScenario, where: Dsns) -> None:
    await die(mended, where, "", "conversation_worker:suma.message.received.v1:before")
    async with revived(mended, where):
        pass
    assert (await one(where, SAID))["handled"] == 1


@pytest.mark.requirement("A10")
async def test_replay_without_kills_reaches_every_point(mended: ReplayScenario, where: Dsns) -> None:
    faults = Faults()
    async with mended(where, "", ids.new(), faults) as (platform, services):
        assert {point for point, _ in POINTS} <= set(catalogue(services))
        async with host(platform, services, pace=infrastructure.PACE), time_flies(platform):
            await until_over(where, services)
            while not all(faults.seen.get(point, 0) >= hit for point, hit in POINTS):
                await platform.bus.waiting()
