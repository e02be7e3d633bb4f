"""The echo services as a cast for the kill driver."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from libs.database import Dsns
from tests import infrastructure
from tests.chaos.driver import Point, Stage
from tests.echo import Echo


@asynccontextmanager
async def echo_cast(where: Dsns, world: str, member: str, point: Point) -> AsyncIterator[Stage]:
    async with infrastructure.platform(where, member, point=point) as platform:
        echo = Echo(platform, world)
        try:
            yield platform, echo.services()
        finally:
            await echo.close()
