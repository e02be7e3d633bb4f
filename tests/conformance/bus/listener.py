"""A service that does what each event says and records what it handled, and processes that host it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

from libs.bus.ports import Record
from libs.changes import Cause, Changeset
from libs.database import Schema
from libs.errors import Rejected, SumaError, Unavailable
from libs.events import FeedbackGiven, RememberRequested, TurnEnded
from libs.events.envelope import Envelope
from libs.runtime.host import host
from libs.runtime.platform import Platform
from libs.runtime.service import Service, Subscription
from libs.telemetry import logs
from tests.conformance.bus.adapters import Place
from tests.infrastructure import PACE
from tests.support.echo_service import FOLDER, PROJECTOR
from tests.support.rows import any_row

GROUP = "memory_service"


class Listener:
    """`bad` is refused, `crash` and `fault` raise, `die` kills the process, `needs:NAME` is parked until that tally
    exists and `awaits:NAME` takes until then; anything else is noted."""

    def __init__(self, platform: Platform) -> None:
        self._database = platform.database

    async def heard(self, cause: Cause, event: Envelope[RememberRequested]) -> Changeset:
        match event.data.text.split(":"):
            case ["bad"]:
                raise Rejected("it says so itself")
            case ["crash"]:
                raise RuntimeError("it says so itself")
            case ["fault"]:
                raise ValueError("it says so itself")
            case ["die"]:
                os.kill(os.getpid(), signal.SIGKILL)
            case ["needs", name] if not await self._exists(cause.tenant, name):
                raise Unavailable(f"{name} is missing")
            case ["awaits", name]:
                while not await self._exists(cause.tenant, name):
                    await asyncio.sleep(0.02)
        return self._noted(cause, event, event.data.memory_id)

    async def urged(self, cause: Cause, event: Envelope[FeedbackGiven]) -> Changeset:
        return self._noted(cause, event, event.data.subject)

    def given_up(self, cause: Cause, record: Record, error: SumaError) -> Changeset:
        return Changeset(cause).emit(
            TurnEnded(turn_id=record.header("turnid") or "", state="failed", reason=error.code)
        )

    def service(self) -> Service:
        return Service(
            GROUP,
            [
                Subscription(RememberRequested, self.heard, self.given_up),
                Subscription(FeedbackGiven, self.urged, urgent=True),
            ],
            schema=Schema("echo", FOLDER / "migrations", [FOLDER / "apply.sql"]),
        )

    def _noted(
        self, cause: Cause, event: Envelope[RememberRequested] | Envelope[FeedbackGiven], what: str
    ) -> Changeset:
        return Changeset(cause).put(
            any_row("echo", "noted", grp=cause.group, event_id=cause.id, type=event.type, key=cause.key, turn_id=what)
        )

    async def _exists(self, tenant: str, name: str) -> bool:
        async with self._database.read(GROUP, tenant) as connection:
            return bool(await connection.fetchval("select exists (select from echo.tallies where name = $1)", name))


def member(place: Place, name: str, fatal: str = "") -> None:
    """Run a listener in its own process until it is killed, by itself at the point `fatal`."""
    logs.configure(json=False, level="CRITICAL")
    asyncio.run(_listen(place, name, fatal))


async def _listen(place: Place, name: str, fatal: str) -> None:
    async with (
        place.platform(name, point=_killing(fatal)) as platform,
        host(platform, [Listener(platform).service()], pace=PACE) as running,
    ):
        await running.failed


def _killing(fatal: str) -> Callable[[str], None]:
    def point(here: str) -> None:
        if here == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    return point


def projecting_member(place: Place, name: str, fatal: str = "") -> None:
    """Follow projections in a process of their own until it is killed."""
    logs.configure(json=False, level="CRITICAL")
    asyncio.run(_follow(place, name, fatal))


async def _follow(place: Place, name: str, fatal: str) -> None:
    async with place.platform(name, point=_killing(fatal)) as platform, host(platform, [PROJECTOR]) as running:
        await running.failed
