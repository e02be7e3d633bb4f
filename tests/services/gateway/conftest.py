"""A migrated template, the shipped policy, keys, and a gateway for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from libs import ids
from libs.changes import Cause, Changeset
from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.events import (
    ApprovalClosed,
    ApprovalDecided,
    MessageCompleted,
    MessageReceived,
    TurnCancelRequested,
    TurnEnded,
    TurnStarted,
)
from libs.events.envelope import Envelope
from libs.identity.keys import mint
from libs.keys.file import FileKeys
from libs.policy import Policy
from libs.policy.rego import RegoPolicy
from libs.runtime.host import prepare
from libs.runtime.service import Subscription
from services.gateway.service import build
from tests import infrastructure
from tests.services.gateway.running import RunningGateway, running_gateway

TEMPLATE = "suma_gateway"
RULES = Path(__file__).parents[3] / "deploy" / "opa"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def gateway_template(server: Postgres) -> str:
    await infrastructure.create_database(server, TEMPLATE, infrastructure.TEMPLATE)
    async with infrastructure.platform(infrastructure.dsns(server, TEMPLATE)) as platform:
        await prepare(platform, [build(platform)])
    return TEMPLATE


@pytest_asyncio.fixture(loop_scope="session")
async def gateway_where(server: Postgres, gateway_template: str) -> AsyncIterator[Dsns]:
    """A database for one test."""
    async with infrastructure.fresh_database(server, gateway_template) as where:
        yield where


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def rules() -> Policy:
    """The shipped policy bundle, in process."""
    policy = RegoPolicy(RULES)
    assert await policy.reload(), policy.problem
    return policy


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> FileKeys:
    return FileKeys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def owner() -> str:
    """The machine's own key, as in the data directory."""
    return mint("local", "owner", scopes=["*"])[0]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def running(
    server: Postgres, gateway_template: str, rules: Policy, keys: FileKeys, owner: str
) -> AsyncIterator[RunningGateway]:
    """A gateway with default settings."""
    database = infrastructure.fresh_database(server, gateway_template)
    async with database as where, running_gateway(where, owner, policy=rules, keys=keys) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def home(running: RunningGateway) -> RunningGateway:
    """The same gateway, for a tenant of the test's own."""
    mine = replace(running, tenant=ids.new())
    return replace(mine, owner=await mine.key("*", principal="owner"))


@pytest_asyncio.fixture(loop_scope="session")
async def http(home: RunningGateway) -> AsyncIterator[httpx.AsyncClient]:
    """An HTTP client with the owner's key, in process."""
    async with home.client() as client:
        yield client


class AnsweringWorker:
    """Simulate a conversation worker that accepts every answer at once."""

    async def answered(self, cause: Cause, event: Envelope[ApprovalDecided]) -> Changeset:
        turn = cause.turn or ""
        closed = ApprovalClosed(turn_id=turn, approval_id=event.data.approval_id, outcome="approved", principal="owner")
        return Changeset(cause).emit(closed)

    async def cancelled(self, cause: Cause, event: Envelope[TurnCancelRequested]) -> Changeset:
        return Changeset(cause).emit(TurnEnded(turn_id=event.data.turn_id, state="cancelled", detail=event.data.reason))

    async def received(self, cause: Cause, event: Envelope[MessageReceived]) -> Changeset:
        turn = event.data.turn_id
        if "wait" in event.data.text:
            return Changeset(cause).emit(
                TurnStarted(turn_id=turn, message_id=event.data.message_id, text=event.data.text)
            )
        answer = MessageCompleted(turn_id=turn, message_id=ids.derived(cause.id), text=event.data.text.upper())
        return Changeset(cause).emit(answer, TurnEnded(turn_id=turn, state="completed"))


@pytest_asyncio.fixture(loop_scope="session")
async def eager(gateway_where: Dsns, rules: Policy, keys: FileKeys, owner: str) -> AsyncIterator[RunningGateway]:
    """A gateway whose conversation worker answers at once."""
    plays = AnsweringWorker()
    worker = [
        Subscription(ApprovalDecided, plays.answered),
        Subscription(TurnCancelRequested, plays.cancelled),
        Subscription(MessageReceived, plays.received),
    ]
    settings = {"command_wait": 5.0}
    async with running_gateway(gateway_where, owner, worker, policy=rules, keys=keys, settings=settings) as made:
        yield made
