"""The echo services as a scenario for the kill driver, with Kafka as their bus."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from libs.bus.kafka import Address
from libs.database import Dsns
from tests.chaos.driver import Point, Stage
from tests.infrastructure import buses
from tests.support.echo_service import PROJECTOR, Echo


@dataclass(frozen=True)
class KafkaScenario:
    address: Address

    def __call__(self, where: Dsns, world: str, member: str, point: Point) -> AbstractAsyncContextManager[Stage]:
        return self._stage(where, world, member, point)

    @asynccontextmanager
    async def _stage(self, where: Dsns, world: str, member: str, point: Point) -> AsyncIterator[Stage]:
        async with buses.kafka_platform(where, self.address, member, point=point) as platform:
            echo = Echo(platform, world)
            try:
                yield platform, [*echo.services(), PROJECTOR]
            finally:
                await echo.close()
