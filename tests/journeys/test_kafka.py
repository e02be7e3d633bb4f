"""A whole job with Kafka as the bus, by command, as in production."""

from __future__ import annotations

import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from deploy.local.kafka import Kafka, tool
from tests.journeys.installation import Installation, installation, readiness
from tests.journeys.test_command import GOAL, mess, names


@pytest_asyncio.fixture
async def carried(broker: Kafka, tmp_path: Path) -> AsyncIterator[Installation]:
    """A platform whose events go through the broker."""
    async with installation(tmp_path / "suma", SUMA_BUS="kafka", SUMA_KAFKA__BOOTSTRAP=broker.bootstrap) as made:
        await made.start()
        yield made


async def behind(broker: Kafka) -> list[int]:
    """What Kafka itself says that our groups have not done yet, by partition."""
    main = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
    told = await tool(main, "--bootstrap-server", broker.bootstrap, "--describe", "--all-groups", "--offsets")
    rows = [line.split() for line in told.splitlines() if line.startswith("conversation_worker ")]
    return [int(row[5]) for row in rows if row[5] != "-"]


@pytest.mark.requirement("A24")
async def test_job_on_kafka_is_undone_and_leaves_nothing(carried: Installation, broker: Kafka) -> None:
    folder = mess(carried.folder / "job")
    before = names(folder)
    done = await carried.suma("run", GOAL, "--in", str(folder), "--yes", "--json")
    assert done.code == 0, done.err
    assert len(names(folder)) == len(before) - 1
    (newest, *_) = json.loads((await carried.suma("sessions", "--json")).out)
    undone = await carried.suma("rollback", newest["session_id"])
    assert undone.code == 0, undone.err
    assert names(folder) == before
    async with carried.api() as api:
        await readiness(api)
        assert "suma_relay_records_total" in (await api.get("/metrics")).text
    assert await carried.end(signal.SIGTERM) == 0
    left = await behind(broker)
    assert left
    assert sum(left) == 0
