"""The echo services as a scenario for the kill driver."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from typing_extensions import override

from libs.changes import Cause
from libs.database import Dsns
from libs.errors import Unavailable
from libs.runtime.platform import Platform
from tests import infrastructure
from tests.chaos.driver import Point, Stage
from tests.support.echo_service import PROJECTOR, Echo


class Stumbling(Echo):
    """A service that gathers tries each alone when it fails with the others: it stumbles there as well, and is
    parked."""

    def __init__(self, platform: Platform, world: str) -> None:
        super().__init__(platform, world)
        self._fallen: set[str] = set()

    @override
    def _stumble(self, cause: Cause) -> None:
        stumbles = (cause.turn or "").startswith("stumble-") and cause.group == "audit_worker"
        if stumbles and cause.id not in self._fallen:
            self._fallen.add(cause.id)
            raise Unavailable()
        super()._stumble(cause)


@asynccontextmanager
async def echo_scenario(where: Dsns, world: str, member: str, point: Point) -> AsyncIterator[Stage]:
    async with infrastructure.platform(where, member, point=point) as platform:
        echo = Stumbling(platform, world)
        try:
            yield platform, [*echo.services(), PROJECTOR]
        finally:
            await echo.close()
