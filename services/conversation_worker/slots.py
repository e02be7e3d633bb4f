"""Slots: how many turns this process lets be at work at once, in all and by tenant.

A turn that finds no slot waits as a row, before anything of it has begun: so ten thousand messages of one tenant cost a
short handling each, and neither fill the topics behind with work that cannot be done yet nor delay its own first
answers. A turn that waits for a person needs no slot.

This is a count in memory, of what our own commits have shown: it bounds work and guards nothing. A turn that went on in
another process is forgotten after some minutes.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress

FORGET_SECONDS = 300.0
LOOK_SECONDS = 5.0

Key = tuple[str, str]
"""Tenant and session: a session has one turn at a time."""


class Slots:
    def __init__(self, most: int, each: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._each, self._now = most, each, now
        self._working: OrderedDict[Key, float] = OrderedDict()
        self._tenants: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._moved = asyncio.Event()

    def free(self, tenant: str) -> bool:
        """May one more turn of this tenant begin now? When all is full, a tenant without any may still have one."""
        self._forget()
        mine = self._tenants[tenant]
        return mine < self._each and (len(self._working) < self._most or not mine)

    def awaited(self, tenant: str) -> bool:
        """Do turns of this tenant wait here already?"""
        return self._waiting[tenant] > 0

    def work(self, key: Key) -> None:
        """This session's turn is at work."""
        if key not in self._working:
            self._tenants[key[0]] += 1
        self._working[key] = self._now()
        self._working.move_to_end(key)

    def rest(self, key: Key) -> None:
        """This session has no turn at work."""
        if self._working.pop(key, None) is not None:
            self._tenants[key[0]] -= 1
            moved, self._moved = self._moved, asyncio.Event()
            moved.set()

    async def take(self, key: Key) -> None:
        """Wait for a slot, and hold it."""
        tenant = key[0]
        self._waiting[tenant] += 1
        try:
            while not self.free(tenant):
                # Looked at now and then as well: time alone may have made one.
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._moved.wait()
            self.work(key)
        finally:
            self._waiting[tenant] -= 1

    def _forget(self) -> None:
        """Drop what nothing was heard of for long."""
        while self._working:
            key, noted = next(iter(self._working.items()))
            if self._now() - noted <= FORGET_SECONDS:
                return
            self.rest(key)
