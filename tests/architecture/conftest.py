"""A database with every schema of the project, for a superuser and for a service."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest_asyncio

from libs.database import Dsns
from libs.embedded.postgres import Postgres
from tests import infrastructure
from tests.architecture.schemas import build


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def place(server: Postgres) -> AsyncIterator[Dsns]:
    async with infrastructure.fresh_database(server) as where:
        await build(where)
        yield where


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def eye(place: Dsns) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """Yield a connection that sees all rows."""
    connection = await asyncpg.connect(place.owner.replace("suma_owner", "postgres"))
    yield connection
    await connection.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(place: Dsns) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """Yield a connection as a service opens it."""
    connection = await asyncpg.connect(place.app)
    yield connection
    await connection.close()
