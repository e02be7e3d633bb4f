"""A server that is one program: it starts on a free port, is polled until it answers, and stops at the end. For tests
of recovery it can be stopped, killed, frozen, and started again on the same port.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import httpx
from typing_extensions import override

from deploy.local.cache import Unprovided, built
from deploy.local.ports import free_port

BUILD_SECONDS = 900
READY_SECONDS = 120.0
STOP_SECONDS = 10.0
LOOK_SECONDS = 0.02


class ServerFailed(Exception):
    """The server ended, or did not answer in time; see its log."""


class LocalServer(ABC):
    """A server; it runs unless it was stopped, killed or paused."""

    log: Path
    """The file that takes its output."""
    ready_seconds, stop_seconds = READY_SECONDS, STOP_SECONDS
    _child: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> Sequence[str]:
        """Return the command that runs it."""

    @abstractmethod
    async def answers(self) -> bool:
        """Return whether it may serve."""

    def failed(self, how: str) -> Exception:
        """Return the error of a server that did not start."""
        return ServerFailed(f"it {how}: {self.log.read_text(errors='replace')[-2_000:]}")

    def environment_of(self) -> Mapping[str, str] | None:
        """Return its environment; None for our own."""
        return None

    @property
    def pid(self) -> int | None:
        """The id of the server's process; None while it does not run."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    async def start(self) -> None:
        """Start the server on its existing data, and wait until it answers. Raises ServerFailed."""
        if self.pid is not None:
            return
        with self.log.open("ab") as output:
            self._child = subprocess.Popen(
                [*killed_with_us(), *self.command()],
                env=self.environment_of(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        await self.answering()

    async def answering(self) -> None:
        """Wait until the server answers. Raises ServerFailed."""
        try:
            async with asyncio.timeout(self.ready_seconds):
                while not await self.answers():
                    if self.pid is None:
                        raise self.failed("ended at its start")
                    await asyncio.sleep(LOOK_SECONDS)
        except TimeoutError:
            raise self.failed("does not answer") from None

    async def stop(self, patience: float | None = None) -> None:
        """Stop the server in order."""
        await self._end(signal.SIGTERM, patience)

    async def kill(self) -> None:
        """Send SIGKILL."""
        await self._end(signal.SIGKILL)

    async def pause(self) -> None:
        """Send SIGSTOP: connections are accepted, and nothing answers."""
        if self._child is not None:
            self._child.send_signal(signal.SIGSTOP)

    async def resume(self) -> None:
        """Send SIGCONT."""
        if self._child is not None:
            self._child.send_signal(signal.SIGCONT)

    async def _end(self, how: signal.Signals, patience: float | None = None) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        for request in (how, signal.SIGKILL):
            child.send_signal(request)
            # A frozen process would not receive the first signal.
            child.send_signal(signal.SIGCONT)
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(child.wait, patience or self.stop_seconds)
                return


@dataclass
class Served(LocalServer):
    """A server with one HTTP port. `probe` is a path that returns 200 once the server is ready. `{port}` in `program`
    is replaced by its port.
    """

    program: Sequence[str]
    probe: str
    folder: Path
    """The folder for its log and other files."""
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self.log = self.folder / "server.log"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @override
    def command(self) -> Sequence[str]:
        return [part.format(port=self.port) for part in self.program]

    @override
    def environment_of(self) -> Mapping[str, str]:
        return {"PATH": os.defpath, "HOME": str(self.folder), **self.environment}

    @override
    async def answers(self) -> bool:
        with suppress(httpx.TransportError):
            async with httpx.AsyncClient(trust_env=False, verify=False, timeout=1.0) as client:
                return (await client.get(self.url + self.probe)).status_code == 200
        return False


@cache
def go_program(name: str, package: str, version: str) -> Path:
    """Return the path of a Go program, compiled once.

    Raises:
        Unprovided: Go is missing, or could not build the program.
    """
    return built(f"{name}-{version}", lambda draft: _install(f"{package}@{version}", draft)) / name


def _install(what: str, draft: Path) -> None:
    if shutil.which("go") is None:
        raise Unprovided(f"{what} is built with Go: install it (no `go` found)")
    environment = {**os.environ, "GOBIN": str(draft), "GOFLAGS": "-trimpath"}
    run_build(["go", "install", what], f"Go {{}} build {what}", environment)


def run_build(command: Sequence[str], what: str, environment: Mapping[str, str] | None = None) -> None:
    """Run a build. Raises Unprovided: `what`, such as "Go {} build opa", says what did not or could not be done."""
    try:
        subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=BUILD_SECONDS)
    except subprocess.TimeoutExpired:
        raise Unprovided(f"{what.format('did not')} within {BUILD_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        raise Unprovided(f"{what.format('could not')}: {(error.stderr or error.stdout).strip()[-500:]}") from None


def killed_with_us() -> Sequence[str]:
    """Return a command prefix that kills the child when this process ends, for whatever reason."""
    return ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
