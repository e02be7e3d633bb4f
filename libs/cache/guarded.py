"""The cache behind a guarded call (`libs.resilience`): nothing waits for it while it is away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from libs.cache.ports import Board, Cache, Delta, Deltas, Notice, Stream, StreamEntry
from libs.cache.windows import Limit, LimitState, Windows
from libs.resilience import GuardedCall

SECONDS = 2.0
"""Seconds beyond the adapter's own timeout."""


class GuardedDeltas:
    """`behind` is the port itself: readiness checks it even while the circuit is open."""

    def __init__(self, behind: Deltas, guard: GuardedCall) -> None:
        self.behind, self._guard = behind, guard

    async def append(self, stream: Stream, delta: Delta) -> None:
        await self._guard.call(lambda: self.behind.append(stream, delta), seconds=SECONDS)

    async def read(self, after: Mapping[Stream, str], *, block: float) -> Mapping[Stream, Sequence[StreamEntry]]:
        # A wait for news is no slowness of the server.
        return await self._guard.call(lambda: self.behind.read(after, block=block), seconds=SECONDS + block)


class GuardedBoard:
    def __init__(self, behind: Board, guard: GuardedCall) -> None:
        self.behind, self._guard = behind, guard

    async def put(self, notice: Notice) -> None:
        await self._guard.call(lambda: self.behind.put(notice), seconds=SECONDS)

    async def drop(self, id: str) -> None:
        await self._guard.call(lambda: self.behind.drop(id), seconds=SECONDS)


class GuardedCache:
    def __init__(self, behind: Cache, guard: GuardedCall) -> None:
        self.behind, self._guard = behind, guard

    async def get(self, tenant: str, name: str) -> str | None:
        return await self._guard.call(lambda: self.behind.get(tenant, name), seconds=SECONDS)

    async def put(self, tenant: str, name: str, value: str, *, seconds: int) -> None:
        await self._guard.call(lambda: self.behind.put(tenant, name, value, seconds=seconds), seconds=SECONDS)


class GuardedWindows:
    def __init__(self, behind: Windows, guard: GuardedCall) -> None:
        self.behind, self._guard = behind, guard

    async def admit(self, limits: Sequence[Limit]) -> Sequence[LimitState]:
        return await self._guard.call(lambda: self.behind.admit(limits), seconds=SECONDS)
