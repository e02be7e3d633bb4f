"""What only containers have: flags that the engine reports, an image that may be absent, and orphans."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import docker
import pytest
import pytest_asyncio
from docker.errors import NotFound

from deploy.local.cache import Unprovided
from deploy.local.runner_image import RUNNER
from libs.sandbox import Broken, Command, Limits, NoSandbox, Sandboxes, scratch_folder
from libs.sandbox.docker import BUILD, HOLDER, PLATFORM, Docker, holder, image_of
from tests.conformance.sandbox.rigs import is_usable, said

LIMITS = Limits()
MINE = "platform-of-this-test"


@pytest_asyncio.fixture
async def address(docker_engine: str | Unprovided) -> str:
    if isinstance(docker_engine, Unprovided):
        pytest.skip(f"no Docker engine: {docker_engine}")
    return docker_engine


@pytest.fixture
def client(address: str) -> Iterator[Any]:
    with closing(docker.DockerClient(address)) as opened:
        yield opened


@pytest_asyncio.fixture
async def backend(address: str) -> AsyncIterator[Sandboxes]:
    async with Sandboxes(Docker(image_of(RUNNER), MINE, engine=address)) as opened:
        yield opened


def names(client: Any) -> set[str]:
    found = client.containers.list(all=True, ignore_removed=True, filters={"label": f"{PLATFORM}={MINE}"})
    return {one.name for one in found}


@pytest.mark.requirement("S2-10", "S2-11", "S2-12", "S2-19")
async def test_container_has_the_flags_of_the_design(backend: Sandboxes, client: Any) -> None:
    async with scratch_folder(None, LIMITS) as folder:
        session = await backend.open("flags", folder)
        (container,) = client.containers.list(filters={"name": f"suma-runner-{MINE}-flags"})
        await session.close()
    host, config = container.attrs["HostConfig"], container.attrs["Config"]
    assert (host["ReadonlyRootfs"], host["CapDrop"], host["NetworkMode"]) == (True, ["ALL"], "none")
    assert (host["Memory"], host["MemorySwap"], host["NanoCpus"]) == (512 << 20, 512 << 20, 10**9)
    assert (host["PidsLimit"], host["SecurityOpt"], host["Privileged"]) == (128, ["no-new-privileges:true"], False)
    assert host["Tmpfs"] == {"/tmp": f"rw,nosuid,nodev,size={64 << 20},mode=1777"}
    assert [(mount["Source"], mount["Destination"]) for mount in container.attrs["Mounts"]] == [
        (str(folder), "/workspace"),
    ]
    assert (config["User"], config["Labels"]["suma.session"]) == ("1000:1000", "flags")
    assert not [one for one in config["Env"] if "KEY" in one or "TOKEN" in one or "SUMA" in one]


@pytest.mark.requirement("S2-13")
async def test_image_has_tools_and_no_downloader(backend: Sandboxes) -> None:
    async with scratch_folder(None, LIMITS) as folder:
        session = await backend.open("image", folder)
        wanted = "bash cat find grep sed gawk awk python3 pytest make patch jq zip"
        assert len((await said(session, "which", *wanted.split())).split()) == len(wanted.split())
        assert await said(session, "which", "wget", "curl", "nc", "ssh", "apt-get-update", "pip") == ""
        assert await said(session, "id", "-un") == "runner"
        await session.close()


async def test_absent_image_is_reported_and_never_pulled(address: str, client: Any) -> None:
    with pytest.raises(NoSandbox, match="is not here") as caught:
        async with Sandboxes(Docker("suma-runner:absent", MINE, engine=address)):
            pass
    assert caught.value.cure == BUILD
    assert not client.images.list("suma-runner:absent")


async def test_absent_engine_is_reported_with_its_cure(tmp_path: Path) -> None:
    with pytest.raises(NoSandbox, match="no Docker engine runs here") as caught:
        async with Sandboxes(Docker("any", MINE, engine=f"unix://{tmp_path}/absent.sock")):
            pass
    assert "docker run" in caught.value.cure


async def test_containers_go_with_their_sessions(backend: Sandboxes, client: Any) -> None:
    async with scratch_folder(None, LIMITS) as folder:
        session = await backend.open("going", folder)
        assert names(client) == {f"suma-runner-{MINE}-going"}
        await session.close()
        assert names(client) == set()


async def test_orphans_of_a_dead_process_are_removed_at_start(address: str, client: Any) -> None:
    kept = {"theirs": "another-host:1:1", "living": holder(os.getpid())}
    for name, held in {**kept, "orphan": f"{socket.gethostname()}:999999:1"}.items():
        labels = {PLATFORM: MINE, HOLDER: held}
        client.containers.run(
            image_of(RUNNER), ["sleep", "600"], name=f"test-{name}", labels=labels, detach=True, network_mode="none"
        )
    try:
        async with Sandboxes(Docker(image_of(RUNNER), MINE, engine=address)):
            assert names(client) == {"test-theirs", "test-living"}
    finally:
        for name in names(client):
            client.containers.get(name).remove(force=True)


async def test_container_ends_with_the_process_that_holds_it(address: str, client: Any) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        asyncio.run(_hold(address, writer))
        os._exit(1)
    os.close(writer)
    assert await asyncio.to_thread(os.read, reader, 8) == b"started"
    assert names(client) == {f"suma-runner-{MINE}-held"}
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
    async with asyncio.timeout(20):
        # The engine tells when the container is gone.
        while names(client):
            await asyncio.to_thread(_gone, client)


async def test_broken_container_is_replaced(backend: Sandboxes, client: Any) -> None:
    async with scratch_folder(None, LIMITS) as folder:
        first = await backend.open("killed", folder)
        client.containers.get(f"suma-runner-{MINE}-killed").kill()
        with pytest.raises(Broken):
            await first.run(Command(("true",)))
        second = await backend.open("killed", folder)
        assert await is_usable(second)
        await second.close()


async def _hold(address: str, writer: int) -> None:
    async with (
        scratch_folder(None, LIMITS) as folder,
        Sandboxes(Docker(image_of(RUNNER), MINE, engine=address)) as held,
    ):
        session = await held.open("held", folder)
        await session.run(Command(("true",)))
        os.write(writer, b"started")
        await session.run(Command(("sleep", "60")))


def _gone(client: Any) -> None:
    for one in client.containers.list(ignore_removed=True, filters={"label": f"{PLATFORM}={MINE}"}):
        with suppress(NotFound):
            one.wait(timeout=15, condition="removed")
