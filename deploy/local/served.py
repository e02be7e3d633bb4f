"""A server that is one program with one HTTP port: it starts on a free port, is polled until it answers, and stops at
the end. For tests of recovery it can be stopped, killed, frozen, and started again on the same port.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from deploy.local.cache import Unprovided, built
from deploy.local.ports import free_port

BUILD_SECONDS = 900
READY_SECONDS = 120.0
STOP_SECONDS = 10.0
LOOK_SECONDS = 0.02


class ServerFailed(Exception):
    """The server ended, or did not answer in time; see its log."""


@dataclass
class Served:
    """A server; it runs unless it was stopped, killed or paused. `probe` is a path that returns 200 once it may serve;
    `{port}` in `command` stands for its port.
    """

    command: Sequence[str]
    probe: str
    folder: Path
    """The folder for its log and other files."""
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    _child: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def pid(self) -> int | None:
        """The id of the server's process; None while it does not run."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    async def start(self) -> None:
        """Start the server and wait until it answers. Raises ServerFailed."""
        if self.pid is not None:
            return
        with self.log.open("ab") as output:
            self._child = subprocess.Popen(
                [*_bound(), *(part.format(port=self.port) for part in self.command)],
                env={"PATH": os.defpath, "HOME": str(self.folder), **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        await self.answering()

    async def answering(self) -> None:
        """Wait until the server answers. Raises ServerFailed."""
        try:
            async with asyncio.timeout(READY_SECONDS), httpx.AsyncClient(trust_env=False, verify=False) as client:
                while not await self._answers(client):
                    if self.pid is None:
                        raise ServerFailed(f"it ended at its start: {self._log_tail()}")
                    await asyncio.sleep(LOOK_SECONDS)
        except TimeoutError:
            raise ServerFailed(f"it does not answer at {self.url}: {self._log_tail()}") from None

    async def stop(self) -> None:
        """Stop the server in order."""
        await self._end(signal.SIGTERM)

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

    async def _answers(self, client: httpx.AsyncClient) -> bool:
        with suppress(httpx.TransportError):
            return (await client.get(self.url + self.probe, timeout=1.0)).status_code == 200
        return False

    async def _end(self, how: signal.Signals) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        for request in (how, signal.SIGKILL):
            child.send_signal(request)
            # A frozen process would not receive the first signal.
            child.send_signal(signal.SIGCONT)
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(child.wait, STOP_SECONDS)
                return

    def _log_tail(self) -> str:
        return self.log.read_text(errors="replace")[-2_000:]


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
    try:
        subprocess.run(
            ["go", "install", what], env=environment, check=True, capture_output=True, text=True, timeout=BUILD_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise Unprovided(f"Go did not build {what} within {BUILD_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        raise Unprovided(f"Go could not build {what}: {error.stderr.strip()[-500:]}") from None


def _bound() -> Sequence[str]:
    """Return a command prefix that kills the child when this process ends, for whatever reason."""
    return ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
