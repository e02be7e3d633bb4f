"""The services on a real OPA server and a real S3 bucket that go away in the middle of a turn, and come back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import TypeVar

import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided
from deploy.local.opa import opa
from deploy.local.s3 import S3, s3
from deploy.local.served import Served
from libs.database import Dsns
from libs.embedded.postgres import Postgres
from libs.events import ApprovalRequested, ToolRequested, ToolSucceeded
from libs.objects import s3 as bucket
from libs.policy import opa as law
from tests import infrastructure
from tests.support.platform import REPOSITORY, RunningPlatform, plan, run_platform, scripted_model, template

MAKE = plan(("manage-files.create", {"path": ".", "name": "n", "type": "directory"}))
CLEAR = plan(("manage-files.list", {"path": "."}), ("manage-files.delete", {"paths": "$step(1).nodes"}))
FILES = 400
"""Whose names, together, are too much for an event."""

T = TypeVar("T")


async def provided(stack: AsyncExitStack, server: AbstractAsyncContextManager[T]) -> T:
    try:
        return await stack.enter_async_context(server)
    except Unprovided as reason:
        pytest.skip(str(reason))


@pytest_asyncio.fixture(loop_scope="session")
async def home(server: Postgres) -> AsyncIterator[Dsns]:
    async with infrastructure.fresh_database(server, await template(server)) as where:
        yield where


@pytest_asyncio.fixture
async def engine() -> AsyncIterator[Served]:
    async with AsyncExitStack() as stack:
        yield await provided(stack, opa(REPOSITORY / "deploy" / "opa"))


@pytest_asyncio.fixture
async def store() -> AsyncIterator[S3]:
    async with AsyncExitStack() as stack:
        yield await provided(stack, s3())


async def parked(at: RunningPlatform, event: str) -> None:
    """Until it waits for a better time."""
    while event not in await at.open():
        await at.platform.bus.waiting()


@pytest.mark.requirement("A8", "A17")
async def test_turn_waits_for_an_absent_opa_and_completes_later(home: Dsns, tmp_path: Path, engine: Served) -> None:
    async with (
        law.connected(engine.url) as policy,
        run_platform(home, tmp_path, model=scripted_model(MAKE), policy=policy) as at,
    ):
        await engine.kill()
        turn = await at.say("make", session="s", root=at.folder())
        await parked(at, "suma.message.received.v1")
        assert not [each for each in await at.logged("s") if isinstance(each, ToolRequested | ToolSucceeded)]
        await engine.start()
        await at.later(30)
        assert (await at.finish(turn, session="s")).state == "completed"
        revisions = {each.revision for each in await at.audited("s") if each.revision}
        assert revisions == {policy.revision}


@pytest.mark.requirement("A17", "A17b")
async def test_turn_waits_for_an_absent_bucket(home: Dsns, tmp_path: Path, store: S3) -> None:
    account = bucket.Account(store.url, store.region, store.access_key, store.secret_key)
    async with (
        bucket.connected("suma", account, max_bytes=1 << 20) as objects,
        run_platform(home, tmp_path, model=scripted_model(CLEAR), objects=objects) as at,
    ):
        where = at.folder(*(f"{n:05}-{'ü' * 40}" for n in range(FILES)))
        turn = await at.say("clear", session="s", root=where)
        asked = await at.until(ApprovalRequested, session="s")
        blob = asked.args["paths"]
        assert await objects.exists("local", blob["$blob"])
        await store.stop()
        await at.decide(asked, session="s")
        await parked(at, "suma.approval.decided.v1")
        await store.start()
        await at.later(30)
        assert (await at.finish(turn, session="s")).state == "completed"
        assert list(where.glob("[!.]*")) == []
