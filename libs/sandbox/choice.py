"""The backend in use: the first of several that isolates, as a real run shows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from libs.errors import Rejected
from libs.sandbox.ports import NoSandbox
from libs.sandbox.sessions import Sandboxes
from libs.telemetry.logs import logger

TRY_AGAIN_SECONDS = 60.0
"""How long the finding that no sandbox works is believed."""

log = logger("sandbox")


class NoSandboxHere(Rejected):
    """No sandbox works on this machine, so whatever needs one is refused."""

    code = "NO_SANDBOX"


class Choice:
    """Opens the backend at its first use, and closes it at the end."""

    def __init__(self, backends: Sequence[Sandboxes], *, now: Callable[[], float] = time.monotonic) -> None:
        self._backends, self._now = backends, now
        self._stack, self._choosing = AsyncExitStack(), asyncio.Lock()
        self._chosen: Sandboxes | None = None
        self._refused: tuple[float, str] | None = None

    @property
    def chosen(self) -> Sandboxes | None:
        return self._chosen

    async def backend(self) -> Sandboxes:
        """Return the backend in use. Raises NoSandboxHere, with the problem of each."""
        async with self._choosing:
            if self._chosen is not None:
                return self._chosen
            if self._refused is not None and self._now() - self._refused[0] < TRY_AGAIN_SECONDS:
                raise NoSandboxHere(self._refused[1])
            problems = []
            for backend in self._backends:
                try:
                    return await self._opened(backend)
                except NoSandbox as error:
                    problems.append(f"{backend.name}: {error.problem}")
            why = "; ".join(problems) or "SUMA_SANDBOX is none"
            # The text: an error that is raised again and again keeps a longer traceback each time.
            self._refused = self._now(), f"no sandbox works here ({why}): see `suma doctor`"
            raise NoSandboxHere(self._refused[1])

    async def close(self) -> None:
        await self._stack.aclose()

    async def _opened(self, backend: Sandboxes) -> Sandboxes:
        async with AsyncExitStack() as tried:
            await tried.enter_async_context(backend)
            report = await backend.probe()
            self._stack.push_async_exit(tried.pop_all())
        for lack in report.missing:
            log.warning("sandbox lacks a limit", backend=backend.name, limit=lack.name, cure=lack.cure)
        self._chosen = backend
        return backend
