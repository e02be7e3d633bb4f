"""Docker sandboxes: one warm container for each session, whose process 1 is the runner on an attached stdin and stdout.

No command costs a call of the engine: `docker exec` takes 70 ms, and what it starts survives its own end. The engine's
client blocks, so each call of it runs in a thread; the attached socket is read by the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from libs.sandbox import frames
from libs.sandbox.ports import ENVIRONMENT, WORKSPACE, Broken, Limits, Mount, NoSandbox
from libs.sandbox.quota import owner
from libs.telemetry.logs import logger

PLATFORM, SESSION, HOLDER = "suma.platform", "suma.session", "suma.holder"
"""Labels of a container: whose it is, and which process holds it."""
CALL_SECONDS, REMOVAL_SECONDS, LOOK_SECONDS = 20.0, 15.0, 0.02
STDOUT, CONFLICT = 1, 409
BUFFER = 256 * 1024
BUILD = "run `make sandbox-image` in a checkout of Suma"
CURES = {
    "start": "check that `docker run` works for this user and that the engine can mount folders of this machine",
    "disk": "let TMPDIR name a file system of that size, or give Suma CAP_SYS_ADMIN, so that it can mount one",
    "memory": "start the kernel with cgroup_enable=memory swapaccount=1",
    "memory of one": "start the kernel with cgroup_enable=memory swapaccount=1",
    "process count": "enable the cgroup controller `pids`, and delegate it to a rootless engine",
    "cpu": "enable the cgroup controller `cpu`, and delegate it to a rootless engine",
    "calls": "remove seccomp=unconfined from the engine's settings, or use an x86_64 or aarch64 machine",
}

log = logger("sandbox")


class Docker:
    """Launches containers of an image that is already here; nothing is ever pulled."""

    name = "docker"
    cures: Mapping[str, str] = CURES

    def __init__(
        self, image: str, platform: str, *, engine: str | None = None, command: Sequence[str] | None = None
    ) -> None:
        """`engine` is an address such as unix:///run/docker.sock; None for that of the environment."""
        self._image, self._platform, self._address, self._command = image, platform, engine, command
        self._engine: Any = None

    async def prepare(self) -> None:
        self._engine = await _called(_connected, self._address)
        if not await _called(_has_image, self._engine, self._image):
            raise NoSandbox(f"the image {self._image} is not here", BUILD)
        for container in await _called(_orphans, self._engine, self._platform):
            log.warning("removed orphaned container", container=container)
            await _called(_remove, self._engine, container)

    async def launch(
        self, session: str, workspace: Path, limits: Limits, mounts: Sequence[Mount]
    ) -> tuple[Container, Mapping[str, Any]]:
        labels = {PLATFORM: self._platform, SESSION: session, HOLDER: holder(os.getpid())}
        settings = {**_settings(self._engine, workspace, limits, mounts), "labels": labels, "command": self._command}
        name = f"suma-runner-{self._platform}-{session}"
        made = await _called(_created, self._engine, self._image, name, settings)
        container = Container(self._engine, made["Id"])
        try:
            await container.start()
        except BaseException:
            await asyncio.shield(container.kill())
            raise
        return container, {}


class Container:
    """A channel to the process 1 of a container."""

    def __init__(self, engine: Any, container: str) -> None:
        self._engine, self._id = engine, container
        self._attached: Any = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._left = 0
        """Bytes that the present part of the engine's stream still has."""

    async def start(self) -> None:
        wanted = {"stdin": 1, "stdout": 1, "stream": 1}
        self._attached = await _called(self._engine.attach_socket, self._id, params=wanted)
        own = socket.socket(fileno=os.dup(self._attached.fileno()))
        own.setblocking(False)
        connected = asyncio.open_unix_connection if own.family == socket.AF_UNIX else asyncio.open_connection
        self._reader, self._writer = await connected(sock=own, limit=BUFFER)
        await _called(self._engine.start, self._id)

    async def write(self, raw: bytes) -> None:
        assert self._writer is not None
        await frames.sent(self._writer, raw)

    async def read(self, size: int) -> bytes:
        parts = []
        while size:
            if not self._left:
                self._left = await self._part()
            raw = await self._exactly(min(size, self._left))
            self._left -= len(raw)
            size -= len(raw)
            parts.append(raw)
        return b"".join(parts)

    async def kill(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._attached is not None:
            self._attached.close()
        with contextlib.suppress(NoSandbox):
            await _called(_remove, self._engine, self._id)

    async def _part(self) -> int:
        """Read the head of the next part of stdout. The engine sends each as a stream's number and a length."""
        kind, size = struct.unpack(">BxxxI", await self._exactly(8))
        if kind != STDOUT:
            raise Broken("the container wrote to another stream than its channel")
        return int(size)

    async def _exactly(self, size: int) -> bytes:
        assert self._reader is not None
        try:
            return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Broken("the container ended") from error


async def _called(act: Any, *arguments: Any, **named: Any) -> Any:
    """Call the engine's client in a thread. Raises NoSandbox if the engine fails or does not answer."""
    from docker.errors import DockerException

    try:
        async with asyncio.timeout(CALL_SECONDS):
            return await asyncio.to_thread(partial(act, *arguments, **named))
    except (DockerException, OSError, TimeoutError) as error:
        # The client quotes the error of its HTTP library, which names neither the socket nor what is wrong.
        absent = "FileNotFoundError" in str(error) or "ConnectionRefused" in str(error)
        problem = "no Docker engine runs here" if absent else f"the Docker engine failed ({str(error) or 'no answer'})"
        raise NoSandbox(problem, CURES["start"]) from error


def image_of(folder: Path) -> str:
    """Return the name of the image that is built from a folder. It changes with the files, so that none is outdated."""
    digest = sha256(b"".join((folder / name).read_bytes() for name in ("Dockerfile", "runner.py")))
    return f"suma-runner:{digest.hexdigest()[:12]}"


def _connected(address: str | None) -> Any:
    import docker

    seconds = int(CALL_SECONDS)
    return (docker.DockerClient(address, timeout=seconds) if address else docker.from_env(timeout=seconds)).api


def _has_image(engine: Any, image: str) -> bool:
    from docker.errors import NotFound

    try:
        engine.inspect_image(image)
    except NotFound:
        return False
    return True


def _settings(engine: Any, workspace: Path, limits: Limits, mounts: Sequence[Mount]) -> dict[str, Any]:
    """Return the flags of S2-11, S2-12 and S2-19."""
    user, group = owner()
    memory = {"mem_limit": limits.memory, "memswap_limit": limits.memory, "shm_size": limits.tmp}
    closed = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}
    ulimits = [
        {"Name": "nofile", "Soft": limits.files, "Hard": limits.files},
        {"Name": "fsize", "Soft": limits.disk, "Hard": limits.disk},
        {"Name": "core", "Soft": 0, "Hard": 0},
    ]
    host = engine.create_host_config(
        **memory,
        **closed,
        ulimits=ulimits,
        network_mode="none",
        nano_cpus=limits.cpus * 10**9,
        pids_limit=limits.processes,
        tmpfs={"/tmp": f"rw,nosuid,nodev,size={limits.tmp},mode=1777"},  # noqa: S108 - the guest's
        mounts=[_bind(mount) for mount in (Mount(workspace, WORKSPACE, writable=True), *mounts)],
        log_config={"Type": "none"},
        restart_policy={"Name": "no"},
        auto_remove=True,
    )
    return {
        "host_config": host,
        "user": f"{user}:{group}",
        "hostname": "sandbox",
        "environment": dict(ENVIRONMENT),
        "working_dir": WORKSPACE,
        "network_disabled": True,
        "stdin_open": True,
    }


def _bind(mount: Mount) -> Mapping[str, Any]:
    """Bind a source without what is mounted below it: the engine may leave that writable."""
    bound = {"Type": "bind", "Source": str(mount.source), "Target": mount.target, "ReadOnly": not mount.writable}
    return {**bound, "BindOptions": {"NonRecursive": True}}


def _created(engine: Any, image: str, name: str, settings: Mapping[str, Any]) -> Any:
    from docker.errors import APIError

    try:
        return engine.create_container(image, name=name, **settings)
    except APIError as error:
        if error.status_code != CONFLICT:
            raise
    # The engine still removes the last one of this session, which may take long, or another process holds it.
    return engine.create_container(image, name=f"{name}-{secrets.token_hex(4)}", **settings)


def _remove(engine: Any, container: str) -> None:
    from docker.errors import APIError, NotFound

    try:
        engine.remove_container(container, force=True, v=True)
    except NotFound:
        return
    except APIError as error:
        if error.status_code != CONFLICT:
            raise
        # It removes itself at the same moment, because its process 1 has ended; its name is free after that.
        # Looked at rather than waited for: a wait that begins just after the removal never ends.
        with contextlib.suppress(NotFound):
            until = time.monotonic() + REMOVAL_SECONDS
            while time.monotonic() < until:
                engine.inspect_container(container)
                time.sleep(LOOK_SECONDS)


def _orphans(engine: Any, platform: str) -> list[str]:
    """Return the containers of this platform whose process is gone."""
    found = engine.containers(all=True, filters={"label": f"{PLATFORM}={platform}"})
    return [one["Id"] for one in found if not _lives(one["Labels"].get(HOLDER, ""))]


def holder(pid: int) -> str:
    """Name a process of this machine for good: its number may be given again, its start time not."""
    started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return f"{socket.gethostname()}:{pid}:{started}"


def _lives(label: str) -> bool:
    host, _, rest = label.partition(":")
    pid = rest.partition(":")[0]
    if host != socket.gethostname():
        # Another machine's, which shares this engine; its own start removes it.
        return bool(host)
    try:
        return pid.isdigit() and holder(int(pid)) == label
    except OSError:
        return False
