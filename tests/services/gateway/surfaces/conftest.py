"""One served platform for each module: its tests use sessions and folders of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from libs.runtime.embedded.postgres import Postgres
from tests import infrastructure
from tests.support.stack import Stack, served

SETTINGS = {"requests_per_minute_by_route": {"GET /v1/models/{model}": 3, "POST /agui": 60}}
"""Routes with limits for each key that a test reaches."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stack(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with infrastructure.fresh_database(server) as where:
        folder: Path = tmp_path_factory.mktemp("stack")
        async with served(where, folder, settings=SETTINGS) as made:
            yield made
