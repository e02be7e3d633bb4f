"""The echo turn on Kafka, in processes that are killed and stopped: every accepted turn ends, with one effect."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from deploy.local.kafka import Kafka
from libs import ids
from libs.bus.kafka import Address
from libs.database import Dsns
from libs.runtime.host import prepare
from tests.chaos.driver import WITHIN, die, doomed, survive
from tests.chaos.kafka_scenario import KafkaScenario
from tests.chaos.test_echo import accept, every_turn_ended_well
from tests.infrastructure import buses
from tests.support.processes import Child

POINTS = (
    "writer:commit:after",
    "relay:send:before",
    "relay:send:after",
    "reader:flush:before",
    "conversation_worker:suma.plan.approved.v1:after",
    "tool_executor:tool:run:after",
)


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(broker: Kafka, echo_where: Dsns) -> AsyncIterator[KafkaScenario]:
    address = Address(broker.bootstrap, prefix=f"{ids.new()}.")
    scenario = KafkaScenario(address)
    async with scenario(echo_where, "", "first", lambda point: None) as (platform, services):
        await prepare(platform, services)
    yield scenario
    await buses.forget(address)


@pytest.mark.requirement("A10", "A11", "A12")
@pytest.mark.parametrize("point", POINTS)
async def test_kill_at_a_point_loses_nothing_and_repeats_nothing(
    scenario: KafkaScenario, echo_where: Dsns, world: str, point: str
) -> None:
    turns = await accept(echo_where, ("hi", "hi", "later"))
    await die(scenario, echo_where, world, point)
    await survive(scenario, echo_where, world)
    await every_turn_ended_well(echo_where, world, turns)


@pytest.mark.requirement("A10", "A15")
async def test_turns_go_on_while_processes_are_killed_stopped_and_added(
    scenario: KafkaScenario, echo_where: Dsns, world: str
) -> None:
    # All of one name: of each partition of the log, the relay has three owners.
    members = [Child(doomed, scenario, echo_where, world, "", 1) for _ in range(3)]
    turns = await accept(echo_where, ("hi",) * 5)
    members[0].kill()
    members[1].stop()
    turns += await accept(echo_where, ("hi", "later", "fail") * 3)
    async with asyncio.timeout(WITHIN):
        while len(await buses.shares(scenario.address, "conversation_worker")) != 1:
            await asyncio.sleep(0.1)
    members[1].resume()
    turns += await accept(echo_where, ("hi",) * 5)
    await survive(scenario, echo_where, world)
    for member in members:
        member.kill()
    await every_turn_ended_well(echo_where, world, turns)
