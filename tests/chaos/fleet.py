"""The fleet: the platform's processes, watched by a supervisor that starts again what has ended, as an orchestrator
does."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

import httpx

from tests.nursery import Nursery

HOUSE = Path(__file__).parents[2]
PAUSES = (0.2, 1.0, 3.0)
"""Seconds before a start, by how many ended soon after each other."""
LONG_ENOUGH = 20.0
"""A process that lived so long has not ended soon."""
STOP_SECONDS = 30.0
LOOK_SECONDS = 2.0


class Child(Protocol):
    """A process that we have begun."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    def send_signal(self, what: signal.Signals) -> None: ...
    async def wait(self) -> int: ...


Birth: TypeAlias = Callable[[str, Mapping[str, str], Path], Awaitable[Child]]
"""(service, environment, log) → its process; an empty service is all of them."""


@dataclass
class Program:
    """One process of the platform, under one name through all its lives."""

    name: str
    service: str
    """The catalogue's name; empty for everything in one process."""
    environment: Mapping[str, str]
    log: Path
    port: int
    birth: Birth = field(default=lambda service, environment, log: by_command(service, environment, log), repr=False)
    """How its process begins."""
    starts: int = 0
    ends: list[int] = field(default_factory=list)
    """Exit codes; negative ones are signals."""
    child: Child | None = None
    wanted: bool = True
    _watching: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self.wanted = True
        self._watching = asyncio.ensure_future(self._watch())

    def signal(self, what: signal.Signals) -> bool:
        """Whether there was a process to tell."""
        if self.child is None or self.child.returncode is not None:
            return False
        with suppress(ProcessLookupError):
            self.child.send_signal(what)
            return True
        return False

    async def end(self) -> None:
        """In order, and by force after a while; it is not started again."""
        self.wanted = False
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        if self._watching is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS):
                    await asyncio.shield(self._watching)
            self.signal(signal.SIGKILL)
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def ready(self) -> bool:
        """What it says of itself."""
        return await self._answers("/readyz")

    async def up(self) -> bool:
        """Has it started? Ready or not."""
        return await self._answers("/healthz")

    async def _answers(self, path: str) -> bool:
        with suppress(httpx.HTTPError):
            # Reading the certificates of the world's authorities costs 40 ms of a processor, and this is asked often.
            async with httpx.AsyncClient(timeout=LOOK_SECONDS, trust_env=False, verify=False) as client:
                return (await client.get(f"http://127.0.0.1:{self.port}{path}")).is_success
        return False

    async def _watch(self) -> None:
        soon = 0
        while self.wanted:
            began = time.monotonic()
            self.ends.append(await self._live())
            soon = 0 if time.monotonic() - began > LONG_ENOUGH else soon + 1
            if self.wanted:
                await asyncio.sleep(PAUSES[min(soon, len(PAUSES) - 1)])

    async def _live(self) -> int:
        self.starts += 1
        self._note(f"start {self.starts}")
        self.child = await self.birth(self.service, {**self._inherited(), **self.environment}, self.log)
        code = await self.child.wait()
        self._note(f"ended with {code}")
        return code

    def _inherited(self) -> dict[str, str]:
        """Our environment, less every setting of a platform of the person's own."""
        return {name: value for name, value in os.environ.items() if not name.startswith("SUMA_")} | {
            "SUMA_CONFIG": os.devnull,
            "SUMA_PORT": str(self.port),
            "PYTHONPATH": str(HOUSE),
            # A process that hangs can be asked where, by SIGABRT.
            "PYTHONFAULTHANDLER": "1",
        }

    def _note(self, what: str) -> None:
        with self.log.open("a") as log:
            log.write(f"--- {what} at {time.time():.3f}\n")


async def by_command(service: str, environment: Mapping[str, str], log: Path) -> Child:
    """`python -m services NAME`, as a person would."""
    with log.open("ab") as out:
        return await asyncio.create_subprocess_exec(
            *_bound(),
            *(sys.executable, "-P", "-m", "services", *filter(None, [service])),
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )


def forked(nursery: Nursery) -> Birth:
    """The same by a nursery: where processes die every few seconds, imports would be all that a small machine does."""

    async def birth(service: str, environment: Mapping[str, str], log: Path) -> Child:
        with log.open("ab") as out:
            files = (None, out.fileno(), out.fileno())
            return await nursery.bear("services", [*filter(None, [service])], environment, files=files)

    return birth


def free_port() -> int:
    """One that is free now, outside the range from which the kernel gives ports to whoever asks for any."""
    while True:
        port = 10_000 + int.from_bytes(os.urandom(2)) % 20_000
        with socket.socket() as trial, suppress(OSError):
            trial.bind(("127.0.0.1", port))
            return port


def _bound() -> list[str]:
    """A child that ends with us, however we end."""
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
