"""Journeys share one live installation where they can, since a start costs seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.conformance.sandbox.conftest import docker_engine, rig  # noqa: F401 -- fixtures
from tests.journeys.installation import Installation, installation


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def live(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Installation]:
    """A running platform, for tests that leave it as it is."""
    async with installation(tmp_path_factory.mktemp("suma")) as made:
        await made.start()
        yield made
