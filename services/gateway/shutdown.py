"""Graceful shutdown: report it, refuse new requests, end streams, finish running requests.

First `/readyz` fails for as long as load balancers need to notice. Then new requests get 503, streams end with a
reconnect delay, and running requests finish within a time limit. A second signal ends each wait.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from libs.telemetry import logger

if TYPE_CHECKING:
    from libs.runtime import Shutdown
    from services.gateway.http.admission import ConcurrencyLimiter
    from services.gateway.sessions.streams import Streams
    from services.gateway.settings import Settings

log = logger("gateway")


class GatewayShutdown:
    def __init__(self, concurrency: ConcurrencyLimiter, streams: Streams, settings: Settings) -> None:
        self._concurrency, self._streams, self._settings = concurrency, streams, settings

    async def leave(self, shutdown: Shutdown) -> None:
        """Drain until no request is running, or until the time limit."""
        log.info("draining")
        notice = self._settings.drain_notice
        await shutdown.within(notice, asyncio.sleep(notice))
        self._concurrency.closed = True
        self._streams.close()
        await shutdown.within(self._settings.drain_seconds, self._concurrency.empty())
