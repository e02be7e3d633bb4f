from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided
from deploy.local.s3 import s3
from libs.objects import Objects
from tests.conformance.objects.rigs import Rig, S3Rig, filesystem, in_bucket


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def s3_rig() -> AsyncIterator[S3Rig | Unprovided]:
    """Return one server for the run, or the reason for its absence."""
    async with AsyncExitStack() as stack:
        try:
            server = await stack.enter_async_context(s3())
        except Unprovided as reason:
            yield reason
        else:
            yield await stack.enter_async_context(in_bucket(server))


@pytest_asyncio.fixture
async def on_files(tmp_path: Path) -> AsyncIterator[Rig]:
    async with filesystem(tmp_path) as made:
        yield made


@pytest_asyncio.fixture
async def on_s3(s3_rig: S3Rig | Unprovided) -> AsyncIterator[Rig]:
    if isinstance(s3_rig, Unprovided):
        pytest.skip(f"no S3 server: {s3_rig}")
    yield s3_rig
    await s3_rig.clear()


@pytest.fixture(params=["filesystem", pytest.param("s3", marks=pytest.mark.slow)])
def rig(request: pytest.FixtureRequest) -> Rig:
    return cast("Rig", request.getfixturevalue("on_s3" if request.param == "s3" else "on_files"))


@pytest.fixture
def objects(rig: Rig) -> Objects:
    return rig.objects
