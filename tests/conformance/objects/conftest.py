from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from libs.objects import Objects
from tests.conformance.objects.rigs import ADAPTERS, Rig


@pytest.fixture(params=ADAPTERS)
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    async with ADAPTERS[request.param](tmp_path) as rig:
        yield rig


@pytest.fixture
def objects(rig: Rig) -> Objects:
    return rig.objects
