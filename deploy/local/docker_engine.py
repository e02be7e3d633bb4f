"""A Docker engine of its own, without a network and apart from any other on this machine; its data goes at the end."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex

import docker
from docker.errors import DockerException

from deploy.local.cache import Unprovided

START_SECONDS, STOP_SECONDS = 60.0, 20.0


@asynccontextmanager
async def engine() -> AsyncIterator[str]:
    """Yield the address of an engine: one started here if this process is root, else that of the environment.

    Raises:
        Unprovided: none can be started or reached here.
    """
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        yield await asyncio.to_thread(_existing)
        return
    with tempfile.TemporaryDirectory(prefix="suma-docker-", ignore_cleanup_errors=True) as folder:
        address = f"unix://{folder}/docker.sock"
        parts = {"data-root": "data", "exec-root": "exec", "pidfile": "pid"}
        places = [f"--{name}={folder}/{place}" for name, place in parts.items()]
        # It serves containers without a network; rules of its own would only disturb those of others.
        closed = ("--iptables=false", "--ip6tables=false", "--bridge=none", "--log-level=error", "--shutdown-timeout=1")
        # A containerd of the machine may serve several engines, which must not see each other's containers.
        apart = f"suma-{token_hex(6)}"
        spaces = (f"--containerd-namespace={apart}", f"--containerd-plugins-namespace={apart}-plugins")
        with Path(folder, "log").open("wb") as log:
            server = await asyncio.create_subprocess_exec(
                "dockerd", "-H", address, *places, *closed, *spaces, stdout=log, stderr=log
            )
        try:
            await _answers(address, server, Path(folder, "log"))
            yield address
        finally:
            await _stop(server)
            # The engine leaves its mount of the network namespace, and with it the folder could not be removed.
            await asyncio.to_thread(
                subprocess.run, ["umount", f"{folder}/exec/netns/default"], stderr=subprocess.DEVNULL
            )


def _existing() -> str:
    try:
        client = docker.from_env()
        client.ping()
    except DockerException as error:
        raise Unprovided(f"no Docker engine answers, and only root can start one: {error}") from error
    return os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")


async def _answers(address: str, server: asyncio.subprocess.Process, log: Path) -> None:
    client = docker.DockerClient(address, version="1.41")
    try:
        async with asyncio.timeout(START_SECONDS):
            while server.returncode is None:
                try:
                    await asyncio.to_thread(client.ping)
                except (DockerException, OSError):
                    await asyncio.sleep(0.1)
                else:
                    return
    except TimeoutError:
        pass
    finally:
        client.close()
    raise Unprovided(f"dockerd does not start here: {log.read_text()[-300:]}")


async def _stop(server: asyncio.subprocess.Process) -> None:
    if server.returncode is None:
        server.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await server.wait()
        except TimeoutError:
            server.kill()
            await server.wait()
