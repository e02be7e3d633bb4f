"""The bus on Postgres: what a member learns about its partitions."""

from __future__ import annotations

import pytest

from libs.bus.log import declare
from libs.bus.ports import OWNED_SECONDS, Partition
from libs.database import Dsns
from libs.events.topics import MEMORY_EVENTS
from tests import infrastructure

GROUPS = {"memory_service": [MEMORY_EVENTS.name]}
EVERY = {Partition(MEMORY_EVENTS.name, part) for part in range(MEMORY_EVENTS.partitions)}


@pytest.mark.requirement("A11", "A18")
async def test_partition_that_another_member_had_is_lost_once(where: Dsns) -> None:
    async with infrastructure.platform(where, "one") as one, infrastructure.platform(where, "other") as other:
        await declare(one.database, [MEMORY_EVENTS], GROUPS)
        assert set((await one.bus.assignments(GROUPS))["memory_service"]) == EVERY
        await infrastructure.shift(one.database, seconds=OWNED_SECONDS + 1)
        assert set((await other.bus.assignments(GROUPS))["memory_service"]) == EVERY
        await other.bus.leave(list(GROUPS))
        assert (await one.bus.assignments(GROUPS))["memory_service"] == {}
        assert set((await one.bus.assignments(GROUPS))["memory_service"]) == EVERY
