"""HTTP to an address that a user or the settings name: screened, without redirects, with bounded answers (S2-21).

A name is resolved once for each request, all its addresses are checked, and a checked one is dialled, so that a second
answer of the name server cannot lead elsewhere. A client is for one host: its connections are kept by address, and two
hosts may share one. Proxies of the environment are not used.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import httpx
from typing_extensions import override

from libs import __version__
from libs.guards.blocked import UrlRefused
from libs.guards.urls import check_addresses, gives_credentials


class TooLarge(httpx.StreamError):
    """The answer is larger than the limit."""

    def __init__(self) -> None:
        super().__init__("the answer is too large")


def outside(*, private: bool, seconds: float, most: int) -> httpx.AsyncClient:
    """Return a client for one host. `private`: it may be on this machine or network. An answer has at most `most`
    bytes; `seconds` bounds the connection, and each wait for the next bytes.
    """
    return httpx.AsyncClient(
        transport=_Screened(private, most),
        timeout=seconds,
        trust_env=False,
        follow_redirects=False,
        headers={"Accept-Encoding": "identity", "User-Agent": f"suma/{__version__}"},
    )


async def check_reachable(host: str, port: int, *, private: bool) -> str:
    """Return an address of the host. Raises UrlRefused if one of its addresses may not be reached, or it has none."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise UrlRefused("url.unresolved", f"{host} has no address.") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not private:
        return str(check_addresses(addresses)[0])
    if any(map(gives_credentials, addresses)):
        raise UrlRefused("url.address", f"{host} leads to a metadata service.")
    return addresses[0]


class _Screened(httpx.AsyncHTTPTransport):
    """Sends each request to a checked address of its host."""

    def __init__(self, private: bool, most: int) -> None:
        super().__init__()
        self._private, self._most = private, most

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            address = await check_reachable(url.host, port, private=self._private)
        except UrlRefused as refused:
            raise httpx.ConnectError(str(refused), request=request) from refused
        # The Host header and the certificate's name stay those of the URL.
        request.url = url.copy_with(host=address)
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        answer = await super().handle_async_request(request)
        request.url = url
        if answer.headers.get("content-encoding", "identity") != "identity":
            # A compressed answer could be small on the wire and huge in memory.
            await answer.aclose()
            raise httpx.ReadError("the answer is compressed, which was not asked for", request=request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        answer.stream = _Bounded(answer.stream, self._most)
        return answer


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, most: int) -> None:
        self._inner, self._left = inner, most

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._inner:
            self._left -= len(part)
            if self._left < 0:
                raise TooLarge
            yield part

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()
