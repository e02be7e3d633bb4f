"""Graceful shutdown: report it, refuse new requests, end streams, finish running requests.

First `/readyz` fails for as long as load balancers need to notice. Then new requests get 503, streams end with a
reconnect delay, and running requests finish within a time limit. A second signal ends each wait.
"""

from __future__ import annotations

import asyncio

from libs.runtime import Shutdown
from libs.telemetry import logger
from services.gateway.surfaces.context import Gateway

log = logger("gateway")


async def leave(here: Gateway, shutdown: Shutdown) -> None:
    """Drain until no request is running, or until the time limit."""
    log.info("draining")
    notice = here.settings.drain_notice
    await shutdown.within(notice, asyncio.sleep(notice))
    here.concurrency.closed = True
    here.streams.close()
    await shutdown.within(here.settings.drain_seconds, here.concurrency.empty())
