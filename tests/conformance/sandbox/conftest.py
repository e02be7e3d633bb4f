"""Both backends for the suite; one that cannot be had here is skipped with the reason."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import docker
import pytest
import pytest_asyncio

from deploy.local.cache import Unprovided
from deploy.local.docker_engine import engine
from deploy.local.runner_image import build
from libs.sandbox import Limits, NoSandbox, Sandboxes, Session, scratch_folder
from tests.conformance.sandbox.rigs import RIGS, Rig


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def docker_engine() -> AsyncIterator[str | Unprovided]:
    """Return the address of an engine that has the image, or the reason for its absence."""
    async with AsyncExitStack() as stack:
        try:
            address = await stack.enter_async_context(engine())
            await asyncio.to_thread(build, engine=docker.DockerClient(address))
        except Unprovided as reason:
            yield reason
        else:
            yield address


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=list(RIGS))
async def rig(request: pytest.FixtureRequest, docker_engine: str | Unprovided) -> Rig:
    if request.param == "docker" and isinstance(docker_engine, Unprovided):
        pytest.skip(f"no Docker engine: {docker_engine}")
    return RIGS[request.param](str(docker_engine))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def backend(rig: Rig) -> AsyncIterator[Sandboxes]:
    async with AsyncExitStack() as stack:
        try:
            opened = await stack.enter_async_context(Sandboxes(rig.launcher()))
        except NoSandbox as reason:
            pytest.skip(f"no {rig.name}: {reason}")
        yield opened


LIMITS = Limits(seconds=20.0)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def session(backend: Sandboxes) -> AsyncIterator[Session]:
    """One warm sandbox for all tests: each must leave it usable."""
    async with scratch_folder(None, LIMITS) as folder:
        opened = await backend.open("suite", folder, LIMITS)
        yield opened
        await opened.close()


@pytest_asyncio.fixture
async def rig_backend(rig: Rig) -> AsyncIterator[tuple[Sandboxes, list[float]]]:
    """A backend of its own, with the clock that it reads."""
    now = [0.0]
    async with Sandboxes(rig.launcher(), now=lambda: now[0]) as opened:
        yield opened, now
