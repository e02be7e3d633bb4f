"""A gateway in a process of its own, to be killed: it shares the database, keys and files of a test's platform.

It only answers requests. The gateway of the test's own process projects all events, so a kill moves no partition.
"""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from libs.database import Dsns
from libs.runtime.host import host
from libs.telemetry import logs
from services import http_server
from tests import infrastructure
from tests.support.platform import build_platform, law

REREAD_SECONDS = 0.2
"""Nothing wakes the viewers of a process that projects no events."""


def serve(where: Dsns, folder: Path, port: int) -> None:
    """Serve until killed."""
    logs.configure(json=False, level="CRITICAL")
    asyncio.run(_serve(where, folder, port))


async def _serve(where: Dsns, folder: Path, port: int) -> None:
    settings = {"gateway": {"reread_seconds": REREAD_SECONDS}}
    async with build_platform(where, folder, names=("gateway",), settings=settings, policy=await law()) as built:
        platform, (gateway,) = built
        # No member of the gateway's group: its share of the events would wait for 15 s after a kill.
        answering = replace(gateway, name="replica", subscriptions=(), kinds=())
        async with host(platform, [answering], pace=infrastructure.PACE) as running:
            assert gateway.api is not None
            with closing(http_server.bind("127.0.0.1", port, variable="SUMA_PORT")) as door:
                async with http_server.serving(gateway.api.app, door):
                    await running.failed
