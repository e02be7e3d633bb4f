"""The HTTP transport to a vendor: limits the size of responses, and refuses content types that no model returns.

It works below the vendor's client. To that client an HTML page with status 200 looks like a stream without events, and
a body without end would fill the memory first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
from typing_extensions import override

from libs.models.vendors.errors import ModelBroke, ModelRefused, NotAModel

BYTES_MOST = 8 * 1024 * 1024
SPOKEN = ("text/event-stream", "application/json")
CONNECTIONS = httpx2.Limits(max_connections=256, max_keepalive_connections=32)


def client(url: str, *, connect_seconds: float) -> httpx2.AsyncClient:
    """Return a client for `url` that follows no redirects, so that a key goes only to the configured host.

    Later waits are limited by `model_call`.
    """
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=connect_seconds, pool=connect_seconds),
        limits=CONNECTIONS,
        follow_redirects=False,
        # Without https there is nothing to verify, and reading the certificates would take 30 ms.
        verify=url.startswith("https:"),
        event_hooks={"response": [checked]},
    )


async def checked(response: httpx2.Response) -> None:
    """Refuse unexpected responses before reading their body, and limit the size of the others.

    Raises:
        ModelRefused: the response is a redirect.
        NotAModel: the content is neither JSON nor an event stream.
    """
    host, status = response.request.url.host, response.status_code
    kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
    if 300 <= status < 400:
        raise ModelRefused(f"{host} redirects elsewhere: set the final address")
    # Some servers send no content type, above all for their list of models.
    if status < 300 and kind and kind not in SPOKEN:
        raise NotAModel(f"{host} returned an unexpected content type ({kind[:80]}, HTTP {status})")
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
                raise ModelBroke("the model's answer exceeds the size limit")
            yield chunk

    @override
    async def aclose(self) -> None:
        await self._behind.aclose()
