"""A database that has the services' tables already, for every test of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from libs.database import Dsns
from libs.embedded.postgres import Postgres
from tests import infrastructure
from tests.support import platform


@pytest_asyncio.fixture(loop_scope="session")
async def home(server: Postgres) -> AsyncIterator[Dsns]:
    async with infrastructure.fresh_database(server, await platform.template(server)) as database:
        yield database
