"""A gateway in a process of its own, for the benchmarks of its streams and surfaces."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvloop

from libs.cache import LocalWindows
from libs.database import Dsns
from libs.keys.file import FileKeys
from libs.telemetry import logs
from services import http_server
from tests.services.gateway.running import running_gateway

UNLIMITED = {f"requests_per_minute{of}": 10**6 for of in ("", "_each", "_route")}


def serve(where: Dsns, owner: str, port: int) -> None:
    """Serve until killed."""
    logs.configure(json=False, level="CRITICAL")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(where, owner, port))


async def _serve(where: Dsns, owner: str, port: int) -> None:
    async with AsyncExitStack() as stack:
        keys = FileKeys(Path(stack.enter_context(TemporaryDirectory(prefix="suma-bench-"))))
        given: dict[str, Any] = {"settings": UNLIMITED, "windows": LocalWindows(), "keys": keys}
        home = await stack.enter_async_context(running_gateway(where, owner, None, **given))
        door = stack.enter_context(closing(http_server.bind("127.0.0.1", port, variable="SUMA_PORT")))
        await stack.enter_async_context(http_server.serving(home.app, door))
        await home.running.failed
