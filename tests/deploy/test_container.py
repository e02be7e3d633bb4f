"""The image in a real engine, by testcontainers: built from deploy/Dockerfile, and run as it is deployed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import docker
import pytest
import pytest_asyncio
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from deploy.local.cache import Unprovided
from deploy.local.docker_engine import engine
from deploy.local.ports import free_port
from tests.infrastructure.engine_image import engine_image

SECONDS = 180
USER = "10001:10001"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def built() -> AsyncIterator[tuple[str, str]]:
    """Return the address of an engine, and the image in it."""
    async with AsyncExitStack() as stack:
        try:
            address = await stack.enter_async_context(engine())
            client = docker.DockerClient(address, timeout=1800)
            image = await asyncio.to_thread(engine_image, client)
        except Unprovided as reason:
            pytest.skip(str(reason))
        yield address, image


@pytest.fixture
def container(built: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[DockerContainer]:
    """The whole platform, on a read-only root without capabilities, as deploy/Dockerfile says."""
    address, image = built
    # Its reaper is an image of a registry; the engine ends with the test.
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)
    monkeypatch.setenv("DOCKER_HOST", address)
    variables = {"SUMA_PORT": str(free_port()), "SUMA_MEMORY_PORT": "0", "SUMA_HOST": "127.0.0.1"}
    made = (
        DockerContainer(image, env=variables)
        .with_volume_mapping("suma-data", "/var/lib/suma", "rw")
        .with_tmpfs_mount("/tmp", "size=64m")
        .with_kwargs(network_mode="host", read_only=True, cap_drop=["ALL"], security_opt=["no-new-privileges:true"])
    )
    with made:
        yield made


def state(container: DockerContainer) -> dict[str, object]:
    wrapped = container.get_wrapped_container()
    wrapped.reload()
    found: dict[str, object] = wrapped.attrs["State"]
    return found


async def test_engine_calls_the_platform_healthy_and_stops_it_cleanly(container: DockerContainer) -> None:
    async with asyncio.timeout(SECONDS):
        # The engine's own events say when the health check of the image has answered.
        assert await asyncio.to_thread(_health, container) == "healthy"
    assert container.exec(["touch", "/opt/suma/app/x"]).exit_code != 0
    assert container.exec(["id", "-u"]).output.strip() == b"10001"
    await asyncio.to_thread(container.get_wrapped_container().stop, timeout=60)
    assert (state(container)["ExitCode"], state(container)["OOMKilled"]) == (0, False)


def _health(container: DockerContainer) -> str:
    """Wait for the first result of the health check."""
    wrapped = container.get_wrapped_container()
    events = wrapped.client.events(decode=True, filters={"container": wrapped.id, "event": "health_status"})
    wrapped.reload()
    if (known := wrapped.attrs["State"]["Health"]["Status"]) != "starting":
        return str(known)
    return str(next(events)["status"]).rpartition(": ")[2]
