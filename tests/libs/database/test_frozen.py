"""A server that holds its connections open and says nothing: whoever gives up at a bound of their own is let go at
once, not when the server wakes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from libs.database import Database, DatabaseDown, Dsns
from tests.chaos.servers import PostgresServer

BOUND = 0.1
WITHIN = 5.0
"""The server stays silent longer than that: whoever waits for it fails."""


@dataclass
class Silent:
    """The pools of a process, and the server that is going to freeze under them."""

    database: Database
    server: PostgresServer


@pytest_asyncio.fixture
async def silent(tmp_path: Path) -> AsyncIterator[Silent]:
    server = PostgresServer(tmp_path / "data")
    await server.start()
    database = Database(Dsns(server.superuser, server.superuser, server.superuser))
    await database.alive()
    yield Silent(database, server)
    await server.resume()
    await database.close()
    await server.close()


@pytest.mark.requirement("A17")
async def test_a_question_that_was_given_up_ends_while_the_server_is_silent(silent: Silent) -> None:
    await silent.server.pause()
    async with asyncio.timeout(WITHIN):
        with pytest.raises((TimeoutError, DatabaseDown)):
            async with asyncio.timeout(BOUND):
                await silent.database.alive()


@pytest.mark.requirement("A17")
async def test_a_reader_that_is_cancelled_ends_while_the_server_is_silent(silent: Silent) -> None:
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
