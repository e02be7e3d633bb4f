"""A gateway whose conversation worker fails as each event asks, until it is repaired."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest_asyncio
from typing_extensions import override

from libs import ids
from libs.bus.ports import Record
from libs.cache.ports import Notice
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.errors import Rejected, SumaError, Unavailable
from libs.events import MessageReceived, RememberRequested, TurnEnded
from libs.events.envelope import Envelope
from libs.keys.file import FileKeys
from libs.objects.filesystem import FilesystemObjects
from libs.policy import Policy, PolicyUnanswered
from libs.runtime.service import Subscription
from tests import infrastructure
from tests.services.gateway.running import RunningGateway, running_gateway

WITHIN = 90.0


@dataclass
class Board:
    """An in-memory notice board."""

    notices: dict[str, Notice] = field(default_factory=dict)

    async def put(self, notice: Notice) -> None:
        self.notices[notice.id] = notice

    async def drop(self, id: str) -> None:
        self.notices.pop(id, None)


@dataclass
class Frail:
    """A worker that rejects `bad`, rejects `told` and ends its turn, and delays `policy`. Once repaired, it handles
    all.
    """

    mended: bool = False
    handled: list[str] = field(default_factory=list)
    """Event ids in commit order."""
    board: Board = field(default_factory=Board)

    async def received(self, cause: Cause, event: Envelope[MessageReceived]) -> Changeset:
        self._fail(event.data.text)
        done = TurnEnded(turn_id=event.data.turn_id, state="completed")
        return Changeset(cause).emit(done).on_commit(lambda: self.handled.append(cause.id))

    async def remembered(self, cause: Cause, event: Envelope[RememberRequested]) -> Changeset:
        self._fail(event.data.text)
        return Changeset(cause).on_commit(lambda: self.handled.append(cause.id))

    def dead(self, cause: Cause, record: Record, error: SumaError) -> Changeset:
        if not str(record.fields().get("text")).startswith("told"):
            return Changeset(cause)
        return Changeset(cause).emit(
            TurnEnded(turn_id=record.header("turnid") or "", state="failed", reason=error.code)
        )

    def subscriptions(self) -> list[Subscription]:
        return [
            Subscription(MessageReceived, self.received, self.dead),
            Subscription(RememberRequested, self.remembered),
        ]

    def _fail(self, text: str) -> None:
        if self.mended:
            return
        if text.startswith(("bad", "told")):
            raise Rejected("it says so itself")
        if text.startswith("policy"):
            raise PolicyUnanswered


@dataclass
class Operator:
    """The gateway, its failing worker, and an operator."""

    gateway: RunningGateway
    worker: Frail
    http: httpx.AsyncClient

    async def say(self, text: str, session: str | None = None) -> dict[str, Any]:
        body = {"text": text, **({"session_id": session} if session else {})}
        said = await self.http.post("/v1/sessions/message", json=body)
        assert said.status_code == 202, said.text
        return dict(said.json())

    async def remember(self, text: str) -> None:
        """An event that stays valid after its turn's end."""
        said = RememberRequested(memory_id=ids.new(), kind="fact", text=text, user="ada")
        cause = Cause.request("conversation_worker", id=ids.new(), tenant=self.gateway.tenant, key=f"local:{ids.new()}")
        await self.gateway.platform.writer.apply(Changeset(cause).emit(said))

    async def letters(self, count: int, **asked: Any) -> list[dict[str, Any]]:
        """Wait for this number of dead letters."""
        async with asyncio.timeout(WITHIN):
            while len(found := await self.list(limit=500, **asked)) < count:
                await asyncio.sleep(0.02)
        assert len(found) == count
        return found

    async def list(self, **asked: Any) -> list[dict[str, Any]]:
        answer = await self.http.get("/v1/admin/dlq", params=asked)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["letters"])

    async def replay(self, letter: str, **body: Any) -> dict[str, Any]:
        answer = await self.http.post(f"/v1/admin/dlq/{letter}/replay", json=body)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def later(self, seconds: float) -> None:
        await infrastructure.shift(self.gateway.platform.database, seconds=seconds)

    async def until_handled(self, count: int) -> None:
        async with asyncio.timeout(WITHIN):
            while len(self.worker.handled) < count:
                await asyncio.sleep(0.02)


class Closet(FilesystemObjects):
    """A blob store that can be made unavailable."""

    away = False

    @override
    async def put(self, tenant: str, content: Any) -> Any:
        if self.away:
            raise Unavailable("the store is away")
        return await super().put(tenant, content)


@pytest_asyncio.fixture(loop_scope="session")
async def closet(tmp_path: Path) -> Closet:
    return Closet(tmp_path / "objects", max_bytes=1 << 30)


@pytest_asyncio.fixture(loop_scope="session")
async def operator(
    gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str, closet: Closet
) -> AsyncIterator[Operator]:
    worker = Frail()
    given: dict[str, Any] = {"policy": rules, "keys": keys, "objects": closet, "board": worker.board}
    async with (
        running_gateway(gateway_where, owner, worker.subscriptions(), **given) as made,
        made.client() as http,
    ):
        yield Operator(made, worker, http)
