"""A gateway in a process of its own, to be killed: the streams that it serves are taken up by the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing

from libs.database import Dsns
from libs.telemetry import logs
from services import http_server
from tests.services.gateway.running import running_gateway


def gateway(where: Dsns, owner: str, port: int, name: str, dead: Sequence[str]) -> None:
    """A gateway's process, until it is killed. It takes over from the dead ones at once."""
    logs.configure(json=False, level="CRITICAL")
    asyncio.run(_gateway(where, owner, port, name, dead))


async def _gateway(where: Dsns, owner: str, port: int, name: str, dead: Sequence[str]) -> None:
    async with AsyncExitStack() as stack:
        home = await stack.enter_async_context(running_gateway(where, owner, member=name))
        await home.platform.leases.free(list(dead))
        door = stack.enter_context(closing(http_server.bind("127.0.0.1", port, variable="SUMA_PORT")))
        await stack.enter_async_context(http_server.serving(home.app, door))
        await home.running.failed
