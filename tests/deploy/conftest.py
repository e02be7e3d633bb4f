"""The production profile, up once for the tests that leave it as it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.infrastructure.cache import Unprovided
from tests.infrastructure.up import Up, up


@pytest.fixture(scope="package")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that sessions may work in."""
    return tmp_path_factory.mktemp("work")


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def real(tmp_path_factory: pytest.TempPathFactory, work: Path) -> AsyncIterator[Up]:
    """The profile at work."""
    try:
        async with up(tmp_path_factory.mktemp("real"), roots=[work]) as made:
            yield made
    except Unprovided as reason:
        pytest.skip(str(reason))
