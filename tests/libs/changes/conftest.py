"""A process without a host: its writer applies exactly the batches that a test creates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg
import pytest_asyncio

from libs import ids
from libs.changes import Cause, Changeset
from libs.changes.writer import Applied
from libs.embedded.postgres import Postgres
from libs.runtime.platform import Platform
from tests import infrastructure

Outcome = Applied | BaseException


def request(tenant: str = "t1", *, id: str | None = None, key: str | None = None) -> Changeset:
    """Return an empty changeset of a new request, in its own lane."""
    return Changeset(Cause.request("gateway", id=id or ids.new(), tenant=tenant, key=key or f"{tenant}:{ids.new()}"))


@dataclass
class ObservedPlatform:
    """A platform, and a connection that sees all rows of its tables."""

    platform: Platform
    eye: asyncpg.Connection[asyncpg.Record]

    async def together(self, *changesets: Changeset) -> Sequence[Outcome]:
        """Write all changesets in one batch; return the outcome of each."""
        async with self.writing():
            waiting = [self.platform.writer.apply(changeset) for changeset in changesets]
            return await asyncio.gather(*waiting, return_exceptions=True)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        task = asyncio.ensure_future(self.platform.writer.run())
        # The writer waits now, and collects queued changesets until it runs again.
        await asyncio.sleep(0)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def positions_are_dense(self) -> bool:
        return bool(await self.eye.fetchval(DENSE))


DENSE = """
select coalesce(bool_and(counted = last), true) from (
    select count(*) as counted, max(position) as last from bus.log group by topic, part
) as each_partition
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def observed(server: Postgres, echo_template: str) -> AsyncIterator[ObservedPlatform]:
    async with (
        infrastructure.fresh_database(server, echo_template) as where,
        infrastructure.platform(where) as platform,
    ):
        eye = await asyncpg.connect(where.owner.replace("suma_owner", "postgres"))
        yield ObservedPlatform(platform, eye)
        await eye.close()
