"""Admission: how many turns this process works on at once, in all and by tenant.

A turn that finds no slot waits as a row, before anything of it has begun: so ten thousand messages of one tenant cost a
short handling each, and neither fill the topics behind with work that cannot be done yet nor delay its own first
answers. A turn that waits for a person needs no slot.

This is a count in memory, of turns admitted here and of those that this process's commits have shown: it bounds work
and guards nothing. A turn may have continued in another process meanwhile, because partitions moved or this process was
stopped; so after a long wait the counted turns are looked up.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress

from libs.errors import Unavailable

LOOK_SECONDS = 2.0

Key = tuple[str, str]
"""Tenant and session: a session has one turn at a time."""

Lookup = Callable[[Sequence[Key]], Awaitable[Collection[Key]]]
"""Which of these have a turn at work, wherever that is; raises Unavailable."""


class Slots:
    def __init__(self, most: int, each: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._each, self._now = most, each, now
        self._working: dict[Key, float] = {}
        self._tenants: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._moved = asyncio.Event()
        self._looked = 0.0

    def free(self, tenant: str) -> bool:
        """Return whether one more turn of this tenant may begin. If all slots are taken, a tenant without any may still
        have one.
        """
        mine = self._tenants[tenant]
        return mine < self._each and (len(self._working) < self._most or not mine)

    def admit(self, key: Key) -> bool:
        """Take a slot for this session's turn, if there is one now; return whether there was.

        A slot that is never used is found by `look`.
        """
        free = key in self._working or self.free(key[0])
        if free:
            self.work(key)
        return free

    def awaited(self, tenant: str) -> bool:
        """Return whether turns of this tenant wait here already."""
        return self._waiting[tenant] > 0

    def work(self, key: Key) -> None:
        """Count this session's turn as working."""
        if key not in self._working:
            self._tenants[key[0]] += 1
        self._working[key] = self._now()

    def rest(self, key: Key) -> None:
        """Count this session as having no working turn."""
        if self._working.pop(key, None) is not None:
            self._tenants[key[0]] -= 1
            moved, self._moved = self._moved, asyncio.Event()
            moved.set()

    async def take(self, key: Key, lookup: Lookup) -> None:
        """Wait for a slot, and hold it."""
        tenant = key[0]
        self._waiting[tenant] += 1
        try:
            while not self.admit(key):
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._moved.wait()
                with suppress(Unavailable):
                    await self.look(lookup)
        finally:
            self._waiting[tenant] -= 1

    async def look(self, lookup: Lookup) -> None:
        """Free the slots of turns that were not heard of for a while and are not working any more. Raises Unavailable.

        However many callers wait, the database is asked once in `LOOK_SECONDS`.
        """
        now = self._now()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        old = {key: noted for key, noted in self._working.items() if now - noted >= LOOK_SECONDS}
        at_work = await lookup(list(old))
        for key, noted in old.items():
            # What was heard of meanwhile is newer than the answer.
            if key not in at_work and self._working.get(key) == noted:
                self.rest(key)
