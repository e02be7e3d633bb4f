"""A blob store behind a guarded call (`libs.resilience`): limited in time, and not called while its circuit is open.

A blob never changes, so reads may be repeated; a stream passed to `put` is consumed by the first attempt.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from functools import partial

from libs.objects.ports import Blob, Objects
from libs.resilience import GuardedCall

SECONDS, LONG_SECONDS = 30.0, 3600.0
"""Seconds for a query, and for a body of any size: the adapter limits each of its requests itself."""


class GuardedObjects:
    """`behind` is the store itself: readiness checks it even while the circuit is open."""

    def __init__(self, behind: Objects, guard: GuardedCall) -> None:
        self.behind, self._guard = behind, guard

    async def put(self, tenant: str, content: bytes | AsyncIterable[bytes]) -> Blob:
        if isinstance(content, bytes):
            return await self._guard.repeat(lambda: self.behind.put(tenant, content), seconds=LONG_SECONDS)
        return await self._guard.call(lambda: self.behind.put(tenant, content), seconds=LONG_SECONDS)

    async def get(self, tenant: str, sha256: str) -> bytes:
        return await self._guard.repeat(lambda: self.behind.get(tenant, sha256), seconds=LONG_SECONDS)

    async def open(self, tenant: str, sha256: str, *, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Guard only the first chunk, which shows whether the store answers; the caller may take its time over the
        rest.
        """
        chunks = self.behind.open(tenant, sha256, start=start, end=end)
        first = await self._guard.call(lambda: anext(chunks, b""), seconds=SECONDS)
        if first:
            yield first
            async for chunk in chunks:
                yield chunk

    async def exists(self, tenant: str, sha256: str) -> bool:
        return await self._guard.repeat(lambda: self.behind.exists(tenant, sha256), seconds=SECONDS)

    async def delete(self, tenant: str, sha256: str) -> None:
        await self._guard.repeat(lambda: self.behind.delete(tenant, sha256), seconds=SECONDS)

    async def clear(self, area: str) -> None:
        await self._guard.repeat(lambda: self.behind.clear(area), seconds=LONG_SECONDS)

    async def link(self, tenant: str, sha256: str, *, filename: str, media_type: str) -> str | None:
        asked = partial(self.behind.link, tenant, sha256, filename=filename, media_type=media_type)
        return await self._guard.repeat(asked, seconds=SECONDS)

    async def alive(self) -> None:
        await self.behind.alive()
