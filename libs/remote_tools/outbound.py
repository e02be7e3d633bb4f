"""HTTP to a server that we do not trust: to checked addresses only, without redirects, with bounded answers (S2-21).

A name is resolved once for each request, all its addresses are checked, and a checked one is dialled, so that a
second answer of the name server cannot lead elsewhere. Proxies of the environment are not used.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from typing import Any, Protocol

import httpx2
from mcp.client import Client
from mcp.client._transport import Transport
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, Implementation, InputRequiredResult
from pydantic import TypeAdapter
from typing_extensions import override

from libs import __version__
from libs.clients.outside import check_reachable
from libs.guards.blocked import UrlRefused
from libs.remote_tools.settings import RemoteServer

RESPONSE_BYTES_MOST = 4 << 20
"""Maximum of one HTTP response; a stream of events counts as one."""
LIMITS = httpx2.Limits(max_connections=4, keepalive_expiry=5.0)
# Its error lines quote what servers said.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)

_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(CallToolResult | InputRequiredResult)


class TooLarge(httpx2.StreamError):
    """The server's answer is larger than 4 MiB."""

    def __init__(self) -> None:
        super().__init__("the answer is larger than 4 MiB")


FAULTS = (ExceptionGroup, MCPError, httpx2.HTTPError, httpx2.StreamError, ValueError, TimeoutError, OSError)
"""Errors of a connection and of the protocol; the SDK raises groups of them. A token file that is no text, and answers
that do not fit the protocol, are ValueErrors.
"""


class Wire(Protocol):
    """The way to a server of the protocol. `status` is an HTTP status, `source` the digest of a program's folder."""

    status: int | None
    source: str

    @property
    def words(self) -> str:
        """The last words of a program; empty over HTTP."""
        ...

    def connected(self) -> AbstractAsyncContextManager[Client]: ...


def client_of(transport: Transport) -> Client:
    """Return a client of the protocol that offers the server no capabilities."""
    return Client(transport, client_info=Implementation(name="suma", version=__version__), cache=None)


async def call_tool(client: Client, tool: str, args: dict[str, Any], *, meta: dict[str, Any]) -> CallToolResult | None:
    """Call a tool; None if the server asks for input instead.

    The SDK's own `call_tool` also checks the result by the server's schema, whose patterns could block this process.
    """
    request = CallToolRequest(
        params=CallToolRequestParams.model_validate({"name": tool, "arguments": args, "_meta": meta})
    )
    result = await client.session.send_request(request, _RESULT)
    return result if isinstance(result, CallToolResult) else None


@cache
def _tls() -> ssl.SSLContext:
    """Return the context with the system's authorities; reading them takes 20 ms."""
    return ssl.create_default_context()


class Outbound(httpx2.AsyncClient):
    """A client for one server. `status` is that of the last answer to a POST."""

    def __init__(self, server: RemoteServer) -> None:
        self.status: int | None = None
        self.source, self.words, self._server = "", "", server
        super().__init__(
            transport=_Screened(server.private, self._note),
            timeout=httpx2.Timeout(server.connect_seconds, read=server.call_seconds),
            trust_env=False,
            follow_redirects=False,
            headers={"Accept-Encoding": "identity", "User-Agent": f"suma/{__version__}"},
        )

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Client]:
        """Yield a client of the server. Raises OSError or ValueError if its token cannot be read."""
        async with self:
            self.headers.update(await asyncio.to_thread(self._server.secret_headers))
            transport = streamable_http_client(
                self._server.url, http_client=self, max_sse_event_size=RESPONSE_BYTES_MOST
            )
            async with client_of(transport) as client:
                yield client

    def _note(self, request: httpx2.Request, status: int) -> None:
        if request.method == "POST":
            self.status = status


class _Screened(httpx2.AsyncHTTPTransport):
    """Sends each request to a checked address of its host, and bounds the answer (`clients.outside`, for httpx2)."""

    def __init__(self, private: bool, note: Callable[[httpx2.Request, int], None]) -> None:
        super().__init__(verify=_tls(), trust_env=False, limits=LIMITS)
        self._private, self._note = private, note

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            address = await check_reachable(url.host, port, private=self._private)
        except UrlRefused as refused:
            raise httpx2.ConnectError(str(refused), request=request) from refused
        # The Host header and the certificate's name stay those of the URL.
        request.url = url.copy_with(host=address)
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        answer = await super().handle_async_request(request)
        request.url = url
        self._note(request, answer.status_code)
        if answer.headers.get("content-encoding", "identity") != "identity":
            # A compressed answer could be small on the wire and huge in memory.
            await answer.aclose()
            raise httpx2.ReadError("the answer is compressed, which was not asked for", request=request)
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        answer.stream = _Bounded(answer.stream)
        return answer


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = RESPONSE_BYTES_MOST
        async for part in self._inner:
            left -= len(part)
            if left < 0:
                raise TooLarge
            yield part

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()
