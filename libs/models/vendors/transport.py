"""The wire to a vendor: what comes back is bounded in size, and must be of a kind that a model speaks.

Below the vendor's client, because a page of HTML that says 200 looks to it like a stream without events, and a body
without end would fill the memory before anyone looks at it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
from typing_extensions import override

from libs.models.vendors.errors import ModelBroke, ModelRefused

BYTES_MOST = 8 * 1024 * 1024
SPOKEN = ("text/event-stream", "application/json")
CONNECTIONS = httpx2.Limits(max_connections=256, max_keepalive_connections=32)


def client(*, connect_seconds: float) -> httpx2.AsyncClient:
    """Follows no redirect: a key goes where it was meant to go, and nowhere else. Later waits are bounded by `line`."""
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=connect_seconds, pool=connect_seconds),
        limits=CONNECTIONS,
        follow_redirects=False,
        event_hooks={"response": [checked]},
    )


async def checked(response: httpx2.Response) -> None:
    """Refuse what no model says before a byte of it is read, and bound the rest.

    Raises:
        ModelRefused: it sends us elsewhere.
        ModelBroke: it is neither JSON nor a stream.
    """
    host, status = response.request.url.host, response.status_code
    kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
    if 300 <= status < 400:
        raise ModelRefused(f"{host} redirects elsewhere: set the address itself")
    if status < 300 and kind not in SPOKEN:
        raise ModelBroke(f"{host} answered with {kind[:80] or 'something'}, which no model speaks")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Bounded(response.stream, BYTES_MOST)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, behind: httpx2.AsyncByteStream, most: int) -> None:
        self._behind, self._left = behind, most

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._behind:
            self._left -= len(chunk)
            if self._left < 0:
                raise ModelBroke("the model's answer is longer than any that we asked for")
            yield chunk

    @override
    async def aclose(self) -> None:
        await self._behind.aclose()
