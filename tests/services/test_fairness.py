"""One tenant's thousands do not hold up another's one: not in a partition, a lane, a room, a pool or the writer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from libs.database import Dsns
from libs.embedded.postgres import Postgres
from tests import infrastructure
from tests.fairness import GUEST, HOG, Backlog, Caller, Slow
from tests.support.platform import run_platform, template

MANY = 160
EACH = 8
"""Calls of one tenant that an executor runs at once: the default."""


@pytest_asyncio.fixture(loop_scope="session")
async def home(server: Postgres) -> AsyncIterator[Dsns]:
    async with infrastructure.fresh_database(server, await template(server)) as database:
        yield database


@asynccontextmanager
async def busy(home: Dsns, place: Path, slow: Slow) -> AsyncIterator[Backlog]:
    async with run_platform(home, place, model=Caller(), tools=[slow]) as at:
        yield Backlog(at)


@pytest.mark.requirement("A17", "S3-58")
async def test_turn_behind_hundreds_of_another_tenant_ends_before_them(home: Dsns, tmp_path: Path) -> None:
    slow = Slow()
    async with busy(home, tmp_path, slow) as backlog:
        await backlog.hog(MANY)
        await backlog.guest()
        assert await backlog.ended(HOG) == 0, "its tool has not been let go on"
        await backlog.until_at_work(HOG, EACH)
        await backlog.guest()
        assert (await backlog.ended(HOG), await backlog.ended(GUEST)) == (0, 2)
        slow.released.set()
        await backlog.until_ended(HOG, MANY, seconds=300)


async def test_turn_behind_one_sessions_hundreds_of_messages_ends_first(home: Dsns, tmp_path: Path) -> None:
    slow = Slow()
    async with busy(home, tmp_path, slow) as backlog:
        await backlog.one_session(MANY)
        await backlog.guest()
        # The first is at its tool; what the mailbox did not take was refused.
        refused = await backlog.ended(HOG)
        assert refused <= MANY - 101
        slow.released.set()
        await backlog.until_ended(HOG, MANY, seconds=300)
