"""A server that keeps its connections open but does not answer: callers with a timeout are released at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from libs.database import BUS, HINTS, Database, DatabaseCrowded, DatabaseDown, Dsns, Sizes
from tests.chaos.servers import PostgresServer

BOUND = 0.1
WITHIN = 5.0
"""The server stays silent longer than this, so a caller that waits for it fails the test."""


@dataclass
class Silent:
    """A process's pools, and the server that freezes under them."""

    database: Database
    server: PostgresServer


@pytest_asyncio.fixture
async def silent(tmp_path: Path) -> AsyncIterator[Silent]:
    server = PostgresServer(tmp_path / "data")
    await server.start()
    database = Database(
        Dsns(server.superuser, server.superuser, server.superuser), Sizes(service=1, bus=1, hints=1, wait=0.5)
    )
    await database.alive()
    yield Silent(database, server)
    await server.resume()
    await database.close()
    await server.close()


@pytest.mark.requirement("A17")
async def test_abandoned_query_ends_while_the_server_is_frozen(silent: Silent) -> None:
    await silent.server.pause()
    async with asyncio.timeout(WITHIN):
        with pytest.raises((TimeoutError, DatabaseDown)):
            async with asyncio.timeout(BOUND):
                await silent.database.alive()


@pytest.mark.requirement("A17")
async def test_cancelled_reader_ends_while_the_server_is_frozen(silent: Silent) -> None:
    async def read() -> None:
        async with silent.database.read("gateway") as connection:
            await silent.server.pause()
            await connection.fetchval("select 1")

    reading = asyncio.ensure_future(read())
    await asyncio.wait({reading}, timeout=1.0)
    reading.cancel()
    async with asyncio.timeout(WITHIN):
        with pytest.raises(asyncio.CancelledError):
            await reading


async def in_use(database: Database, pool: str) -> asyncio.Task[object]:
    """Occupy the only connection of a pool with a slow query."""
    began = asyncio.Event()

    async def ask() -> object:
        async with database.connection(pool) as connection:
            began.set()
            return await connection.fetchval("select pg_sleep(60)")

    asking = asyncio.ensure_future(ask())
    await began.wait()
    return asking


async def ask_once_more(database: Database, pool: str) -> None:
    async with asyncio.timeout(WITHIN), database.connection(pool) as connection:
        await connection.fetchval("select 1")


@pytest.mark.requirement("A17")
async def test_slow_queries_and_a_silent_server_raise_different_errors(silent: Silent) -> None:
    pools = ("gateway", BUS, HINTS)
    slow = []
    for pool in pools:
        slow.append(await in_use(silent.database, pool))
        with pytest.raises(DatabaseCrowded):
            await ask_once_more(silent.database, pool)
    await silent.server.pause()
    asked = [ask_once_more(silent.database, pool) for pool in pools]
    assert [type(error) for error in await asyncio.gather(*asked, return_exceptions=True)] == [DatabaseDown] * 3
    for asking in slow:
        asking.cancel()
