"""The gateway and a frail worker as a scenario for the kill driver, with an operator who replays a dead letter.

The worker refuses every message until it is mended. The process that is killed counts its points from the moment at
which the operator asks, so that the first commit it comes to is the replay's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from libs.bus.kafka import Address
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.errors import Rejected
from libs.events import MessageReceived, TurnEnded
from libs.events.envelope import Envelope
from libs.keys.file import FileKeys
from libs.objects.filesystem import FilesystemObjects
from libs.runtime.platform import Platform, nowhere
from libs.runtime.service import Service, Subscription
from services.gateway.service import build
from tests import infrastructure
from tests.chaos.driver import Point, Stage
from tests.infrastructure import buses

BASE = "http://localhost:8010"
ONCE = "once"
"""The Idempotency-Key of the replay: whoever asks again with it asks the same."""


@dataclass(frozen=True)
class ReplayScenario:
    """`letter` is replayed as soon as the process runs, where there is one; without it the worker refuses."""

    folder: Path
    owner: str
    address: Address | None
    """Of Kafka, where it is the bus."""
    letter: str | None = None

    def __call__(self, where: Dsns, world: str, member: str, point: Point) -> AbstractAsyncContextManager[Stage]:
        return self._stage(where, member, point)

    @asynccontextmanager
    async def alone(self, where: Dsns, member: str) -> AsyncIterator[Stage]:
        """The same process without an operator."""
        async with self._platform(where, member, nowhere) as platform:
            yield platform, self._services(platform)

    @asynccontextmanager
    async def _stage(self, where: Dsns, member: str, point: Point) -> AsyncIterator[Stage]:
        asked = asyncio.Event()

        def counted(reached: str) -> None:
            if asked.is_set():
                point(reached)

        async with self._platform(where, member, counted) as platform:
            services = self._services(platform)
            operator = asyncio.ensure_future(self._operator(services[0], asked))
            try:
                yield platform, services
            finally:
                operator.cancel()
                with suppress(asyncio.CancelledError):
                    await operator

    def _platform(self, where: Dsns, member: str, point: Point) -> AbstractAsyncContextManager[Platform]:
        ports: dict[str, Any] = {
            "keys": FileKeys(self.folder / "keys"),
            "objects": FilesystemObjects(self.folder / "objects", max_bytes=1 << 20),
            "point": point,
        }
        if self.address is None:
            return infrastructure.platform(where, member, **ports)
        return buses.kafka_platform(where, self.address, member, **ports)

    def _services(self, platform: Platform) -> Sequence[Service]:
        worker = Service("conversation_worker", [Subscription(MessageReceived, self._received)])
        return [build(platform), worker]

    async def _received(self, cause: Cause, event: Envelope[MessageReceived]) -> Changeset:
        if self.letter is None:
            raise Rejected("not yet")
        return Changeset(cause).emit(TurnEnded(turn_id=event.data.turn_id, state="completed"))

    async def _operator(self, gateway: Service, asked: asyncio.Event) -> None:
        if self.letter is not None:
            async with self.client(gateway) as http:
                asked.set()
                await self.replay(http, ONCE)

    def client(self, gateway: Service) -> httpx.AsyncClient:
        assert gateway.api is not None
        transport = httpx.ASGITransport(app=gateway.api.app)
        return httpx.AsyncClient(
            transport=transport, base_url=BASE, headers={"Authorization": f"Bearer {self.owner}"}, timeout=30
        )

    async def replay(self, http: httpx.AsyncClient, key: str) -> str:
        """What came of it."""
        answer = await http.post(f"/v1/admin/dlq/{self.letter}/replay", headers={"Idempotency-Key": key})
        return str(answer.raise_for_status().json()["outcome"])

    def mended(self, letter: str) -> ReplayScenario:
        return replace(self, letter=letter)
