"""Leaving in order: say so, let nobody in, tell viewers to come back elsewhere, answer what is in hand.

First `/readyz` says no, for as long as load balancers need to notice. Then new requests are sent away with 503,
streams end with a hint when to reconnect, and what is in hand is answered, within a bound. A second signal cuts each
wait short.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from libs.telemetry.logs import logger

if TYPE_CHECKING:
    from libs.runtime.leaving import Leaving
    from services.gateway.limits import Crowd
    from services.gateway.settings import Settings
    from services.gateway.streams import Streams

log = logger("gateway")


class Drain:
    def __init__(self, crowd: Crowd, streams: Streams, settings: Settings) -> None:
        self._crowd, self._streams, self._settings = crowd, streams, settings
        self.closed = False
        """Nobody is let in any more."""

    async def leave(self, leaving: Leaving) -> None:
        """Until nothing is in hand, or as long as we may wait for it."""
        log.info("draining")
        notice = self._settings.drain_notice
        await leaving.within(notice, asyncio.sleep(notice))
        self.closed = True
        self._streams.close()
        await leaving.within(self._settings.drain_seconds, self._crowd.empty())
