"""The fleet: the platform's processes under a supervisor that restarts them when they end, as an orchestrator does."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

import httpx

from deploy.local.served import killed_with_us

ROOT = Path(__file__).parents[2]
PAUSES = (0.2, 1.0, 3.0)
"""Seconds before a restart, by the number of early ends in a row."""
LONG_ENOUGH = 20.0
"""Seconds after which an end no longer counts as early."""
STOP_SECONDS = 30.0
LOOK_SECONDS = 2.0


class Child(Protocol):
    """A process that the fleet has started."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    def send_signal(self, what: signal.Signals) -> None: ...
    async def wait(self) -> int: ...


Birth: TypeAlias = Callable[[str, Mapping[str, str], Path], Awaitable[Child]]
"""(service, environment, log) → its process; an empty service means all services."""


@dataclass
class Program:
    """One process of the platform; it keeps its name through all restarts."""

    name: str
    service: str
    """The service's name in the catalogue; empty for all services in one process."""
    environment: Mapping[str, str]
    log: Path
    port: int
    birth: Birth = field(default=lambda service, environment, log: by_command(service, environment, log), repr=False)
    """Starts the process."""
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
        """Send the signal; return whether there was a process to receive it."""
        if self.child is None or self.child.returncode is not None:
            return False
        with suppress(ProcessLookupError):
            self.child.send_signal(what)
            return True
        return False

    async def end(self) -> None:
        """Stop the process for good: in order, and by SIGKILL after `STOP_SECONDS`."""
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
        """Return whether this process answers that it is ready; another process on its port does not count."""
        return await self._answers(ready=True)

    async def up(self) -> bool:
        """Return whether this process answers at all, ready or not."""
        return await self._answers(ready=False)

    async def _answers(self, *, ready: bool) -> bool:
        with suppress(httpx.HTTPError, ValueError, AttributeError):
            # Reading the system's certificates takes 40 ms of CPU time, and this runs often.
            async with httpx.AsyncClient(timeout=LOOK_SECONDS, trust_env=False, verify=False) as client:
                response = await client.get(f"http://127.0.0.1:{self.port}/readyz")
            ours = self.child is not None and response.json().get("pid") == self.child.pid
            return ours and (response.is_success or not ready)
        return False

    async def _watch(self) -> None:
        soon = 0
        while self.wanted:
            began = time.monotonic()
            self.ends.append(await self.run_once())
            soon = 0 if time.monotonic() - began > LONG_ENOUGH else soon + 1
            if self.wanted:
                await asyncio.sleep(PAUSES[min(soon, len(PAUSES) - 1)])

    async def run_once(self) -> int:
        """Start the process once, and return its exit code."""
        self.starts += 1
        self._note(f"start {self.starts}")
        self.child = await self.birth(self.service, {**self._inherited(), **self.environment}, self.log)
        code = await self.child.wait()
        self._note(f"ended with {code}")
        return code

    def _inherited(self) -> dict[str, str]:
        """Return our environment without the user's own SUMA_ settings."""
        return {name: value for name, value in os.environ.items() if not name.startswith("SUMA_")} | {
            "SUMA_CONFIG": os.devnull,
            "SUMA_PORT": str(self.port),
            "PYTHONPATH": str(ROOT),
            # SIGABRT makes a process that hangs print its stack.
            "PYTHONFAULTHANDLER": "1",
        }

    def _note(self, what: str) -> None:
        with self.log.open("a") as log:
            log.write(f"--- {what} at {time.time():.3f}\n")


async def by_command(service: str, environment: Mapping[str, str], log: Path) -> Child:
    """Run `python -m services NAME`, as a person would."""
    with log.open("ab") as out:
        return await asyncio.create_subprocess_exec(
            *killed_with_us(),
            *(sys.executable, "-P", "-m", "services", *filter(None, [service])),
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
