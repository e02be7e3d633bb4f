"""Embedded server processes: find them in their packages, start, adopt after a crash, and stop them.

A SIGKILL of the platform leaves its servers running. Nothing else uses them, so the next start on the same data
directory finds and adopts them (architecture.md 17).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from stat import S_ISDIR

from libs.errors import Rejected, Unavailable

SOCKET_PATH_LIMIT = 103
"""Most bytes in a unix socket's path: 107 on Linux, 103 on macOS (`sun_path`)."""

_ENVIRONMENT: Mapping[str, str] = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
"""The only environment variables that a server inherits: a stray PGPORT or LANG must not change how it runs."""


class NotAsRoot(Rejected):
    """PostgreSQL does not run as root, and root cannot become another user here: start Suma as an ordinary user."""

    code = "NOT_AS_ROOT"


class NotOurs(Rejected):
    """The folder for the servers' sockets is open to other users; make it yours alone (chmod 700) or delete it."""

    code = "SOCKET_FOLDER_NOT_OURS"


class ServerFailed(Unavailable):
    """An embedded server did not start; see its log in the data directory."""

    code = "SERVER_FAILED"


class Daemon:
    """A server process: a child of this process, or an orphan of a killed one."""

    def __init__(self, pid: int, mark: str, child: asyncio.subprocess.Process | None = None) -> None:
        self.pid = pid
        self._mark = mark
        self._child = child

    @property
    def alive(self) -> bool:
        if self._child is not None:
            return self._child.returncode is None
        return self._mark in command(self.pid)

    async def ended(self) -> None:
        """Return once the process has ended."""
        if self._child is not None:
            await self._child.wait()
        while self.alive:  # noqa: ASYNC110 - nothing tells us of the end of a process that is not our child
            await asyncio.sleep(0.02)

    async def stop(self, asked: signal.Signals, *, patience: float) -> None:
        """Send the stop signal; kill the process after `patience` seconds."""
        for request in (asked, signal.SIGKILL):
            if not self.alive:
                return
            with suppress(ProcessLookupError):
                os.kill(self.pid, request)
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self.ended()


def orphan(pid: int, mark: str) -> Daemon | None:
    """Return the process `pid` if it is alive and its command line contains `mark`: not a recycled id, not a zombie."""
    return Daemon(pid, mark) if mark in command(pid) else None


async def launch(arguments: Sequence[str | Path], *, mark: str, log: Path) -> Daemon:
    """Start a server that writes its output to `log`. Its own session keeps Ctrl-C from it; it is stopped in order."""
    with _fresh(log).open("wb") as output:
        child = await asyncio.create_subprocess_exec(
            *_unprivileged(),
            *map(str, arguments),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=_ENVIRONMENT,
            cwd="/",
        )
    return Daemon(child.pid, mark, child)


async def run(*arguments: str | Path, given: bytes = b"") -> str:
    """Run a server's tool to its end and return its output.

    Raises `ServerFailed` with its last line.
    """
    child = await asyncio.create_subprocess_exec(
        *_unprivileged(),
        *map(str, arguments),
        # Do not write to a process that may have ended, not even an empty string: uvloop raises RuntimeError.
        stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=_ENVIRONMENT,
        cwd="/",
    )
    try:
        output, _ = await child.communicate(given or None)
    except BaseException:
        with suppress(ProcessLookupError):
            child.kill()
        raise
    text = output.decode(errors="replace").strip()
    if child.returncode != 0:
        raise ServerFailed(f"{Path(arguments[0]).name} failed: {text.splitlines()[-1] if text else child.returncode}")
    return text


def shipped(package: str, *path: str) -> Path:
    """Return a file of an installed package without importing it: these packages have side effects on import."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ServerFailed(f"{package} is not installed: run `make setup`")
    return Path(spec.submodule_search_locations[0]).joinpath(*path)


def command(pid: int) -> str:
    """Return the command line of a process; empty for one that has ended, or for a zombie."""
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
        except OSError:
            return ""
    return subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True).stdout  # noqa: S603, S607


def socket_directory(data: Path) -> Path:
    """Return the folder for a data directory's sockets: inside it, or, where that path is too long for a socket, a
    short private folder named after it. Every process of the same user finds the same folder.
    """
    place = data / "sockets"
    if len(os.fsencode(place / ".s.PGSQL.5432")) > SOCKET_PATH_LIMIT:
        name = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
        place = Path(f"/tmp/suma-{os.geteuid()}-{name}")  # noqa: S108 - checked below, since others may write there
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    state = place.lstat()
    if not S_ISDIR(state.st_mode) or state.st_uid not in (os.geteuid(), _server_id()) or state.st_mode & 0o077:
        raise NotOurs(f"{place} must be a folder that only this user can enter: remove it and start again")
    hand_over(place)
    return place


def hand_over(path: Path) -> None:
    """Give a path to the account that servers run as, if this process is root; otherwise do nothing."""
    if os.geteuid() == 0:
        account = _account()
        try:
            os.chown(path, account.pw_uid, account.pw_gid)
        except PermissionError:
            raise NotAsRoot from None


def _server_id() -> int:
    return _account().pw_uid if os.geteuid() == 0 else os.geteuid()


def _account() -> pwd.struct_passwd:
    # initdb looks its user up by name, so a bare number fails; every system has an account for nobody.
    return pwd.getpwnam("nobody")


def _unprivileged() -> tuple[str, ...]:
    """Return the command prefix that drops root privileges.

    The server keeps one capability: to traverse folders that only root may enter (/root, a 0700 temporary folder).
    Otherwise those folders would have to be opened to all users.
    """
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise NotAsRoot
    account, capability = _account(), _passage()
    return (
        setpriv,
        f"--reuid={account.pw_uid}",
        f"--regid={account.pw_gid}",
        "--clear-groups",
        "--no-new-privs",
        # Otherwise access(2), by which initdb looks for its server, ignores the capability.
        "--securebits=+no_setuid_fixup",
        f"--inh-caps=-all,+{capability}",
        f"--ambient-caps=-all,+{capability}",
    )


def _passage() -> str:
    """Return the narrowest available capability that traverses closed folders; containers often have only the wider
    one.
    """
    status = Path("/proc/self/status").read_text()
    effective = int(status.split("CapEff:")[1].split()[0], 16)
    return "dac_read_search" if effective & 1 << 2 else "dac_override"


def _fresh(log: Path) -> Path:
    # Keep the log of the previous start for the analysis of a crash, and delete older ones.
    if log.exists():
        log.replace(log.with_name(f"{log.name}.old"))
    return log
