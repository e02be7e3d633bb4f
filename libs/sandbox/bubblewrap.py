"""Bubblewrap sandboxes: namespaces of an ordinary user, for machines without a Docker engine.

Process 1 is the same runner as in a container. The system inside is this machine's own /usr, read-only, and nothing of
its /etc, homes or other processes. Where Suma is root, the sandbox is started as user 1000: a command never has more
rights than that user outside. Limits come from control groups where they can be made, else from what a process can
limit by itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from libs.sandbox import cgroups, frames
from libs.sandbox.cgroups import Group
from libs.sandbox.ports import ENVIRONMENT, GID, UID, WORKSPACE, Broken, Limits, Mount, NoSandbox
from libs.sandbox.quota import owner

START_SECONDS = 10.0
OLDEST = "--disable-userns"
"""The newest option that is needed here, of bubblewrap 0.8.0."""
BUFFER = 256 * 1024
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SHARED = ("/usr", "/etc/ld.so.cache", "/etc/alternatives")
RUNNER = "/run/suma/runner.py"
USERS = f"runner:x:{UID}:{GID}::{WORKSPACE}:/bin/sh\n"
GROUPS = f"runner:x:{GID}:\n"
PROFILE = (
    "permit user namespaces to bwrap: `sysctl kernel.unprivileged_userns_clone=1` on Debian, `sysctl"
    " user.max_user_namespaces=10000` where it is 0; on Ubuntu 24.04 the AppArmor profile `abi <abi/4.0>, profile bwrap"
    " /usr/bin/bwrap flags=(unconfined) { userns, }` in /etc/apparmor.d/bwrap, then `systemctl reload apparmor`; in a"
    " container run the engine's --security-opt seccomp=unconfined, or give Suma a Docker engine instead"
)
DELEGATE = "start Suma by `systemd-run --user --scope -p Delegate=yes`, as root, or with a Docker engine"
CURES = {
    "start": PROFILE,
    "disk": "let TMPDIR name a file system of that size, or give Suma CAP_SYS_ADMIN, so that it can mount one",
    "memory": f"the limit holds for each process alone: {DELEGATE}",
    "memory of one": DELEGATE,
    "process count": DELEGATE,
    "cpu": DELEGATE,
    "calls": "use an x86_64 or aarch64 machine",
}


class Bubblewrap:
    """Launches sandboxes by `bwrap`."""

    name = "bubblewrap"
    cures: Mapping[str, str] = CURES

    def __init__(self, runner: Path) -> None:
        self._runner = runner
        self._program, self._python = "", ""

    async def prepare(self) -> None:
        self._program = shutil.which("bwrap") or ""
        if not self._program:
            raise NoSandbox("bwrap is not installed", "install the package bubblewrap")
        if OLDEST not in await asyncio.to_thread(_help, self._program):
            raise NoSandbox("bwrap is too old", "install bubblewrap 0.8.0 or later")
        self._python = await asyncio.to_thread(_interpreter)
        await asyncio.to_thread(cgroups.remove_orphans)

    async def launch(
        self, session: str, workspace: Path, limits: Limits, mounts: Sequence[Mount]
    ) -> tuple[Room, Mapping[str, Any]]:
        group = await asyncio.to_thread(cgroups.create, session, limits)
        given = [await asyncio.to_thread(self._runner.read_bytes), USERS.encode(), GROUPS.encode()]
        room = Room(group)
        try:
            await room.start(partial(self._command, workspace, limits, mounts), given)
        except BaseException:
            await asyncio.shield(room.kill())
            raise
        return room, _resources(group, limits)

    def _command(self, workspace: Path, limits: Limits, mounts: Sequence[Mount], fds: Sequence[int]) -> list[str]:
        """Return the command line. Later mounts cover earlier ones; `fds` are those of `Room.start`."""
        runner, users, groups, told, waiting = map(str, fds)
        isolated = ["--unshare-all", "--unshare-user", "--disable-userns", "--as-pid-1", "--die-with-parent"]
        nobody = ["--uid", str(UID), "--gid", str(GID), "--cap-drop", "ALL", "--hostname", "sandbox", "--new-session"]
        system = [part for path in (*SYSTEM, *SHARED) for part in _shared(Path(path))]
        files = zip((runner, users, groups), (RUNNER, "/etc/passwd", "/etc/group"), strict=True)
        given = [part for pair in files for part in ("--ro-bind-data", *pair)]
        # In namespaces of its own some of /proc/sys would be the user's to write.
        kernel = ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
        bounded = ["--perms", "1777", "--size", str(limits.tmp), "--tmpfs"]
        writable = [*bounded, "/dev/shm", *bounded, "/tmp", "--bind", str(workspace), WORKSPACE]  # noqa: S108 - the guest's
        more = [part for mount in mounts for part in _bound(mount)]
        closed = ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORKSPACE, "--clearenv"]
        known = [part for pair in ENVIRONMENT.items() for part in ("--setenv", *pair)]
        started = ["--info-fd", told, "--block-fd", waiting, "--", self._python, "-I", RUNNER]
        seen = [*system, *_own(self._python), *given, *kernel, *writable, *more, *closed]
        return [self._program, *isolated, *nobody, *seen, *known, *started]


class Room:
    """A channel to the process 1 of a sandbox."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._process: subprocess.Popen[bytes] | None = None
        self._reader, self._errors = asyncio.StreamReader(BUFFER), asyncio.StreamReader(BUFFER)
        self._writer: asyncio.StreamWriter | None = None
        self._transports: list[asyncio.BaseTransport] = []

    async def start(self, command: Callable[[Sequence[int]], list[str]], given: Sequence[bytes]) -> None:
        """Start the sandbox, put it into its group, and let it go on: until then it waits.

        `command` is given the numbers of open files: one for each of `given`, where bwrap reports its child, and where
        it waits.
        """
        told, telling = os.pipe()
        waiting, going = os.pipe()
        # Begun before anything can fail: it closes its file when the other end is closed.
        reported = asyncio.get_running_loop().run_in_executor(None, _child, told)
        passed = [*map(_file, given), telling, waiting]
        try:
            try:
                self._process = _started(command(passed), passed)
            finally:
                for fd in passed:
                    os.close(fd)
            await self._connect(self._process)
            async with asyncio.timeout(START_SECONDS):
                child = await reported
            if child is None:
                raise NoSandbox(f"bwrap failed ({await self._problem()})", PROFILE)
            await asyncio.to_thread(self._group.enter, child)
            os.write(going, b"1")
        except ProcessLookupError as error:
            raise NoSandbox(f"bwrap failed ({await self._problem()})", PROFILE) from error
        except (OSError, TimeoutError) as error:
            raise NoSandbox(f"bwrap did not start ({str(error) or 'no answer'})", PROFILE) from error
        finally:
            os.close(going)

    async def write(self, raw: bytes) -> None:
        assert self._writer is not None
        await frames.sent(self._writer, raw)

    async def read(self, size: int) -> bytes:
        try:
            return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Broken(f"the sandbox ended ({await self._problem()})") from error

    async def kill(self) -> None:
        """Kill bwrap; the kernel kills its child, process 1, and with it the whole namespace."""
        if self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
        if self._writer is not None:
            self._writer.close()
        for transport in self._transports:
            transport.close()
        await asyncio.to_thread(self._group.remove)

    async def _connect(self, process: subprocess.Popen[bytes]) -> None:
        """Read and write the pipes by the event loop."""
        loop = asyncio.get_running_loop()
        for reader, pipe in ((self._reader, process.stdout), (self._errors, process.stderr)):
            transport, _ = await loop.connect_read_pipe(partial(asyncio.StreamReaderProtocol, reader), pipe)
            self._transports.append(transport)
        made, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
        self._writer = asyncio.StreamWriter(made, protocol, None, loop)

    async def _problem(self) -> str:
        """Return the last words of bwrap; a runner that never ends its words is cut short."""
        try:
            async with asyncio.timeout(1):
                raw = await self._errors.read(2000)
        except TimeoutError:
            return "no reason given"
        return raw.decode(errors="replace").strip().removeprefix("bwrap: ") or "no reason given"


def _started(command: Sequence[str], passed: Sequence[int]) -> subprocess.Popen[bytes]:
    """Start bwrap, in this thread: it dies with the thread that started it. uvloop's own call takes no user."""
    user, group = owner()
    dropped: dict[str, Any] = {"user": user, "group": group, "extra_groups": []} if os.geteuid() == 0 else {}
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, **pipes, pass_fds=passed, cwd="/", env={}, bufsize=0, **dropped)  # noqa: S603


def _shared(path: Path) -> list[str]:
    """Show a path of this machine as it is: a link as a link."""
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.exists() else []


def _bound(mount: Mount) -> Sequence[str]:
    return ("--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target)


def _help(program: str) -> str:
    asked = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)  # noqa: S603
    return asked.stdout


def _interpreter() -> str:
    """Return a Python that the sandbox's user can reach, preferably the system's."""
    for found in ("/usr/bin/python3", "/usr/local/bin/python3", str(Path(sys.executable).resolve())):
        if Path(found).exists() and _reachable(Path(found)):
            return found
    raise NoSandbox("no Python that an ordinary user can run", "install the package python3")


def _reachable(path: Path) -> bool:
    return os.geteuid() != 0 or all(above.stat().st_mode & 0o001 for above in (*path.resolve().parents, path))


def _own(python: str) -> list[str]:
    """Share the folder of a Python outside /usr; never a whole home or system."""
    if python.startswith("/usr/"):
        return []
    prefix = str(Path(python).parent.parent)
    return ["--ro-bind", prefix, prefix]


def _resources(group: Group, limits: Limits) -> Mapping[str, Any]:
    """Return what the runner shall limit. In its own user namespace, processes are counted for this sandbox alone."""
    rlimits = {
        "RLIMIT_NPROC": limits.processes,
        "RLIMIT_NOFILE": limits.files,
        "RLIMIT_FSIZE": limits.disk,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        **({} if "memory" in group.folders else {"RLIMIT_AS": limits.memory}),
    }
    usable = sorted(os.sched_getaffinity(0))
    bound = [] if "cpu" in group.folders else random.sample(usable, min(limits.cpus, len(usable)))
    return {"rlimits": rlimits, "cpus": bound}


def _file(content: bytes) -> int:
    fd = os.memfd_create("given")
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _child(fd: int) -> int | None:
    """Read what bwrap reports about its child; None if it ended first. Closes the file."""
    with os.fdopen(fd, "rb") as told:
        raw = told.read()
    return int(json.loads(raw)["child-pid"]) if raw else None
