"""Journeys share one live house where they can, since a start costs seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.journeys.house import House, house


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def live(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A running platform, for tests that leave it as it is."""
    async with house(tmp_path_factory.mktemp("house")) as made:
        await made.start()
        yield made
